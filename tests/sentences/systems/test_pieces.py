"""Pieces and sampling: what is encoded comes back, ids are stable, small languages get their share."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
import torch

from muse.errors import BadSetting, MissingExtra
from muse.installation import install_extra
from muse.sentences.systems.pieces import EOS, MASK, SPECIALS, UNK, PieceReader, Pieces
from muse.sentences.training.pairs import balanced_text, draw_languages, language_shares

TEXTS = {
    "en": ["The cat's mat: (new)!", "A dog saw the cat, and the cat sat.", "Where is the mat?"] * 8,
    "ru": ["Кошка спит.", "Где кошка?"],
}


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces.learned(TEXTS, 150, generator())


def test_what_is_encoded_comes_back(pieces: Pieces) -> None:
    sentences = [sentence for text in TEXTS.values() for sentence in text]
    for sentence, ids in zip(sentences, pieces.encode(sentences), strict=True):
        assert pieces.decode(ids) == sentence
        assert UNK not in ids
    assert pieces.decode(pieces.encode(["  The \t cat\u00a0sat.\n"])[0]) == "The cat sat."


def test_punctuation_is_what_has_no_letter_digit_or_symbol() -> None:
    texts = {"en": ["the cat, 5 € ... (a mat)!"] * 8, "ru": ["«кошка» — 7 ?"] * 8, "hi": ["की।"] * 8}
    pieces = Pieces.learned(texts, 150, generator())
    marked = {token for token, mark in zip(pieces.tokens, pieces.punctuation, strict=True) if mark}
    assert marked >= {*",.()!«»—?।", "▁"}
    assert not any(character.isalnum() or character in "€ी" for character in "".join(marked))
    assert not pieces.punctuation[: len(SPECIALS)].any()


def test_empty_sentences_and_case(pieces: Pieces) -> None:
    assert pieces.encode(["The cat", ""])[1] == []
    assert pieces.encode(["The"]) != pieces.encode(["the"])


def test_special_tokens_in_a_text_are_text(pieces: Pieces) -> None:
    ids = pieces.encode(["the <mask> cat <eos>"])[0]
    assert not {MASK, EOS} & set(ids)
    assert UNK in ids  # "<" was in no sentence
    again = Pieces.from_json(pieces.to_json())
    assert again.encode(["the <mask> cat"]) == pieces.encode(["the <mask> cat"])


def test_as_a_reader_it_leaves_out_what_it_does_not_know(pieces: Pieces) -> None:
    sentences = ["the <cat", "", "a mat"]
    reading = pieces.read(sentences)
    mark = pieces.id_of("▁")
    known = [
        [piece for piece, after in zip(ids, [*ids[1:], None], strict=False)
         if piece != UNK and (piece, after) != (mark, UNK)]
        for ids in pieces.encode(sentences)
    ]  # fmt: skip
    assert reading.sentences.ids.tolist() == [piece for ids in known for piece in ids]
    assert reading.sentences.lengths.tolist() == [len(ids) for ids in known]
    assert reading.unknown == 1


def test_a_sentence_of_unknown_words_is_empty(pieces: Pieces) -> None:
    reading = pieces.read(["漢字 字", "漢字 cat"])
    assert reading.empty == 1
    assert int(reading.sentences.lengths[0]) == 0
    assert (reading.tokens - reading.unknown, reading.unknown) == (len(reading.sentences.ids), 3)
    assert pieces.decode(reading.sentences.ids.tolist()).split() == ["cat"]
    assert PieceReader(pieces, 9).read(["漢字 字"]).empty == 1


@pytest.mark.slow
def test_of_more_characters_than_there_is_room_for_the_same_are_pieces_in_every_process() -> None:
    code = (
        "import torch; from muse.sentences.systems.pieces import Pieces; "
        "text = {'ja': [chr(0x4E00 + n) * (1 + n % 2) for n in range(60)]}; "
        "print(*Pieces.learned(text, 30, torch.Generator().manual_seed(0)).tokens, sep='')"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True,
            text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1
    # The 24 characters besides the mark are the first of those that occur most.
    assert all(chr(0x4E00 + n) in next(iter(found)) for n in range(1, 48, 2))


def test_json_keeps_all_and_the_seed_decides(pieces: Pieces) -> None:
    assert pieces.tokens[:5] == SPECIALS
    assert len(pieces) == len(pieces.tokens) <= 150
    assert Pieces.from_json(pieces.to_json()).to_json() == pieces.to_json()
    assert Pieces.learned(TEXTS, 150, generator()).to_json() == pieces.to_json()


def with_other(pieces: Pieces, path: str, value: object) -> str:
    """The pieces as JSON, of which one part is another."""
    found = json.loads(pieces.to_json())
    *above, name = path.split(".")
    (found[above[0]] if above else found)[name] = value
    return json.dumps(found)


OTHER: dict[str, tuple[str, object]] = {
    "grows": ("normalizer", {"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"Regex": "[a-z]"}, "content": "ab"} for _ in range(60)
    ]}),
    "no normaliser": ("normalizer", None),
    "pads": ("padding", {"strategy": {"Fixed": 10**11}, "direction": "Right", "pad_id": 0, "pad_type_id": 0,
                         "pad_to_multiple_of": None, "pad_token": "<pad>"}),
    "cuts": ("truncation", {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}),
    "adds": ("post_processor", {"type": "TemplateProcessing", "pair": [], "special_tokens": {},
                                "single": [{"Sequence": {"id": "A", "type_id": 0}}]}),
    "splits": ("pre_tokenizer", {"type": "Whitespace"}),
    "draws": ("model.dropout", 0.5),
    "no special tokens": ("added_tokens", []),
}  # fmt: skip


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", "no JSON"])
def test_what_is_no_pieces(text: str) -> None:
    with pytest.raises(BadSetting, match="must be JSON written by tokenizers"):
        Pieces.from_json(text)


@pytest.mark.parametrize("case", OTHER)
def test_steps_of_others_are_refused(pieces: Pieces, case: str) -> None:
    with pytest.raises(BadSetting, match="other steps than those of muse"):
        Pieces.from_json(with_other(pieces, *OTHER[case]))


def test_pieces_of_another_kind(pieces: Pieces) -> None:
    rows = json.loads(pieces.to_json())["model"]["vocab"]
    found = {"<cls>" if name == "<bos>" else name: row for name, row in rows.items()}
    with pytest.raises(BadSetting, match="must begin with"):
        Pieces.from_json(with_other(pieces, "model.vocab", found))


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match="need tokenizers") as caught:
        Pieces.learned(TEXTS, 100, generator())
    assert install_extra("networks") in str(caught.value)


def test_bad_sizes_and_texts() -> None:
    with pytest.raises(BadSetting, match="none for ru"):
        Pieces.learned({"en": ["a"], "ru": []}, 20, generator())
    with pytest.raises(BadSetting, match="none for any"):
        language_shares({}, 0.5)


def test_shares_by_hand() -> None:
    sizes = {"en": 900, "ne": 100}
    assert language_shares(sizes, 1) == pytest.approx({"en": 0.9, "ne": 0.1})
    assert language_shares(sizes, 0) == pytest.approx({"en": 0.5, "ne": 0.5})
    a, b = 0.9**0.7, 0.1**0.7
    assert language_shares(sizes, 0.7) == pytest.approx({"en": a / (a + b), "ne": b / (a + b)})


def test_languages_are_drawn_by_their_shares() -> None:
    drawn = draw_languages({"en": 0.75, "ne": 0.25}, 20_000, generator())
    assert drawn.count("ne") == pytest.approx(5000, abs=4 * (20_000 * 0.75 * 0.25) ** 0.5)
    assert drawn == draw_languages({"en": 0.75, "ne": 0.25}, 20_000, generator())
    assert drawn != draw_languages({"en": 0.75, "ne": 0.25}, 20_000, generator(1))
    assert draw_languages({"en": 1.0}, 0, generator()) == []


def test_text_is_balanced_and_no_sentence_is_left_behind() -> None:
    texts = {"en": [f"en {i}" for i in range(900)], "ne": [f"ne {i}" for i in range(100)]}
    counts = Counter(balanced_text(texts, 0.5, generator()))
    assert sum(n for text, n in counts.items() if text.startswith("ne")) == 250
    assert {counts[text] for text in texts["ne"]} == {2, 3}
    assert sum(n for text, n in counts.items() if text.startswith("en")) == 750
    assert {counts[text] for text in texts["en"]} == {0, 1}


def test_pieces_whose_numbers_leave_gaps_are_refused(pieces: Pieces) -> None:
    found = json.loads(pieces.to_json())
    vocabulary = found["model"]["vocab"]
    vocabulary[next(name for name, number in vocabulary.items() if number == len(vocabulary) - 1)] = 255
    with pytest.raises(BadSetting, match="must be numbered from 0 to"):
        Pieces.from_json(json.dumps(found))
