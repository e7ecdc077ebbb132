"""muse translate on text, muse train-lm and muse map through the command line, and what they refuse."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from muse.files import read_vectors, write_vectors_text
from muse.normalise import normalise
from muse.ranking.probability import Calibration, write_calibration
from muse.space import Provenance, SideToSave, save_space
from muse.text.arpa import read_arpa
from muse.vectors import Vectors
from tests.support.command import Command, Ended, refused, tree
from tests.support.spaces import derived
from tests.translate.test_text import PAIRS, toy

ENGLISH = "the cat eats .\nhe is a man .\nThe man is the cat.\n" * 3


@pytest.fixture
def space(tmp_path: Path) -> Path:
    """The toy space on disk, its French rows as they were in a file beside it."""
    made = toy()
    sides = {}
    for language in made.languages:
        vectors = made.vectors(language)
        rows, fitted = normalise(vectors.matrix, ["unit"])
        sides[language] = SideToSave(Vectors(language, vectors.words, rows), fitted)
    save_space(tmp_path / "space", sides, pivot="en", provenance=Provenance("gromov"))
    french = made.vectors("fr").matrix
    write_vectors_text(tmp_path / "fr.vec", [*PAIRS, "minou"], np.vstack([french, 3 * french[2:3]]))
    (tmp_path / "en.txt").write_text(ENGLISH, encoding="utf-8")
    return tmp_path / "space"


def translate(muse: Command, space: Path, *options: object, stdin: str | bytes) -> Ended:
    return muse("translate", space, "--retrieval", "nn", "--threads", 1, *options, stdin=stdin)


def test_text_with_everything(muse: Command, space: Path) -> None:
    here = space.parent
    trained = muse(
        "train-lm", here / "en.txt", "--lang", "en", "--out", here / "en.arpa", "--order", 2, "--json"
    )
    assert (trained.json["lines"], trained.json["empty"]) == (9, 0)
    assert len(trained.json["ngrams"]) == 2
    assert "cat" in read_arpa(here / "en.arpa").index
    (here / "gold.txt").write_text("The cat is a man.\n\nThe cat eats.\n", encoding="utf-8")
    options = ["--lm", here / "en.arpa", "--vectors", here / "fr.vec", "--top", 2]
    options += ["--reference", here / "gold.txt"]
    ended = translate(muse, space, *options, stdin="Le chat est un homme.\r\n\nLe minou mange.")
    assert ended.out == "The cat is a man.\r\n\nThe cat eats.", ended.err  # as the lines end
    assert len(ended.err.splitlines()) == 2, ended.err
    bleu, chrf = ended.err.splitlines()
    assert bleu.startswith("BLEU = 100.00 [")
    assert chrf.startswith("chrF = 100.00 [")
    assert bleu.endswith("| nn | fr-en | lm:en.arpa | weight:0.06 | top:2 | beam:10 | muse 0.1.0")
    found = translate(muse, space, *options, "--json", stdin="Le chat est un homme.\n\nLe minou zzz.\n").json
    assert found["lines"][2] == "The cat zzz."
    assert (found["words"], found["copied"]) == (8, 1)
    assert {"value", "ci95", "signature"} <= set(found["bleu"])


def test_a_glossary_wins_in_text_and_for_words(muse: Command, space: Path) -> None:
    (space.parent / "own.csv").write_text("fr,en\nle chat,the beast\nzzz,sleep\n", encoding="utf-8")
    own = ["--glossary", space.parent / "own.csv"]
    found = translate(muse, space, *own, "--json", stdin="Le chat mange, zzz.\n").json
    assert found == {"lines": ["The beast eats, sleep."], "words": 3, "copied": 0, "terms": 2}
    found = muse("translate", space, *own, "--top", 1, "--json", "mange", "zzz", "le chat").json
    assert {word: [one["target"] for one in every] for word, every in found["answers"].items()} == {
        "mange": ["eats"], "zzz": ["sleep"], "le chat": ["the beast"],
    }  # fmt: skip
    ended = translate(muse, space, "--min-probability", 0.5, stdin="le chat\n")
    refused(ended, "--min-probability needs probabilities, got none")
    refused(translate(muse, space, "--glossary", space.parent / "none", stdin="le\n"), "none")


def test_the_source_language_may_be_called_lang_as_in_python(muse: Command, space: Path) -> None:
    ended = muse("translate", space, "--lang", "en", "cat")
    assert (ended.code, ended.out) == (0, muse("translate", space, "--src", "en", "cat").out)


@pytest.mark.slow
def test_a_line_comes_out_before_the_next_goes_in(space: Path) -> None:
    command = [sys.executable, "-m", "muse", "translate", str(space), "--retrieval", "nn"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin
        assert running.stdout
        for line, expected in ((b"le chat\n", b"the cat\n"), (b"il mange\n", b"he eats\n")):
            running.stdin.write(line)
            running.stdin.flush()
            assert running.stdout.readline() == expected
        running.stdin.close()
        assert running.wait(60) == 0


@pytest.mark.slow
def test_a_reader_that_goes(space: Path) -> None:
    muse = f"{sys.executable} -m muse translate {space}"
    command = f"yes 'le chat' | head -n 200000 | {muse} | head -n 1; exit ${{PIPESTATUS[2]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "the cat\n", "")


def test_what_is_refused_on_stdin(muse: Command, space: Path) -> None:
    refused(translate(muse, space, stdin=""), "standard input: expected text to translate, got nothing")
    refused(
        translate(muse, space, stdin="Привет, мир. Как дела?\n" * 2), "Latin script, got text in Cyrillic"
    )
    little = translate(muse, space, stdin="Привет 15\n")
    assert (little.code, little.out) == (0, "Привет 15\n") and "got text in Cyrillic" in little.err
    ended = translate(muse, space, stdin=b"le\nch\xe2t\n")
    assert ended.code == 1
    assert "error: standard input:2: expected UTF-8, got the byte 0xe2" in ended.err


@pytest.mark.slow
def test_a_closed_stdin_is_told(space: Path) -> None:
    command = f"{sys.executable} -m muse translate {space} <&-"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "error: standard input: expected text, but it is closed; send text\n"


def test_a_broken_model_is_refused_before_anything_is_read(muse: Command, space: Path) -> None:
    here = space.parent
    for name, text in (("prose.arpa", ENGLISH), ("empty.arpa", ""), ("cut.arpa", "\\data\\\nngram 1=9\n")):
        (here / name).write_text(text, encoding="utf-8")
        refused(muse("translate", here / "nosuch", "--lm", here / name, stdin="le\n"), name)
    refused(muse("translate", here / "nosuch", "--lm", here / "no.arpa", stdin="le\n"), "no.arpa")


def test_what_is_refused(muse: Command, space: Path) -> None:
    here = space.parent
    refused(muse("translate", space, "le", "--vectors", here / "no.vec"), "no.vec")
    refused(muse("translate", space, "minous", "--vectors", here / "fr.vec"), "'minous' is not among")
    refused(muse("translate", space, here / "fr.vec"), "fr.vec: expected a word, got a file", "on stdin: <")
    refused(muse("translate", space, "x" * 5_000), "is not among")
    refused(translate(muse, space, "--reference", here / "no.txt", stdin="le\n"), "no.txt")
    refused_late = translate(muse, space, "--reference", here / "en.txt", stdin="le\n")
    assert refused_late.code == 1
    assert "got 9 for 1" in refused_late.errors[0]
    assert not refused_late.out  # before any line was translated


def test_words_with_their_worth(muse: Command, space: Path) -> None:
    words = ["Chat", "l'homme", "the", "chta"]
    ended = muse("translate", space, *words, "--top", 2)
    assert ended.code == 0
    first, second = ended.out.splitlines()
    assert re.fullmatch(r"Chat\tcat \d\.\d{3} \(\d+ %\)  \w+ -?\d\.\d{3} \(\d+ %\)", first)
    assert second.startswith("l'homme\tman ")
    assert ended.err.splitlines() == [
        f"'the' is not among the {len(PAIRS)} words of fr; it is a word of en; check --src and --tgt",
        f"'chta' is not among the {len(PAIRS)} words of fr; did you mean chat?",
    ]
    found = muse("translate", space, *words, "--top", 2, "--json").json
    assert found["forms"] == {"Chat": "chat", "l'homme": "homme"}
    assert found["unknown"]["the"] == {"suggestions": [], "languages": ["en"]}
    assert found["unknown"]["chta"] == {"suggestions": ["chat"], "languages": []}
    best = found["answers"]["Chat"][0]
    assert (best["target"], best["mutual"], best["grade"]) == ("cat", True, "trusted")
    assert [[one["target"], one["score"]] for one in found["answers"]["Chat"]] == found["translations"][
        "Chat"
    ]


def test_weak_answers_are_named(muse: Command, space: Path) -> None:
    derived(space, lambda folder: write_calibration(folder, "fr", "en", Calibration(10, 10, 3)))
    ended = muse("translate", space, "chat", "--top", 1)
    assert ended.err == "chat: no translation to trust, the best has 11 %\n"
    assert ended.out.startswith("chat\tcat")
    assert muse("translate", space, "chat", "--json").json["languages"] == {}
    assert "probability" not in muse("translate", space, "chat", "--retrieval", "nn").err


def test_words_that_are_new(muse: Command, space: Path) -> None:
    found = muse("translate", space, "minou", "le", "--vectors", space.parent / "fr.vec", "--json").json
    assert found["translations"]["minou"][0][0] == "cat"
    assert found["translations"]["le"][0][0] == "the"


def test_n_grams_of_a_space_that_has_none(muse: Command, space: Path) -> None:
    refused(muse("translate", space, "zzz", "--ngrams"), "n-grams need words that share some n-gram")


def test_map(muse: Command, space: Path) -> None:
    here = space.parent
    map_ = ["map", space, "--lang", "fr", "--vectors", here / "fr.vec"]
    assert muse(*map_, "--out", here / "new.vec").out == f"1 word in {here / 'new.vec'}\n"
    mapped = read_vectors(here / "new.vec", language="fr")
    assert mapped.words == ("minou",)
    expected = toy().vectors("fr")
    assert np.allclose(mapped.matrix[0], expected.matrix[expected.index["chat"]])
    assert muse(*map_).out == (here / "new.vec").read_text(encoding="utf-8")
    (here / "words.txt").write_text("chat\nminou\n\n", encoding="utf-8")
    out = here / "two.npz"
    assert muse(*map_, "--words", here / "words.txt", "--out", out, "--json").json == {
        "words": 2,
        "out": str(out),
    }
    assert read_vectors(out, language="fr").words == ("chat", "minou")


def test_map_refuses(muse: Command, space: Path) -> None:
    here = space.parent
    write_vectors_text(here / "narrow.vec", ["x"], np.ones((1, 3), np.float32))
    (here / "words.txt").write_text("zzz\n", encoding="utf-8")
    before = tree(here)
    map_ = ["map", space, "--lang", "fr", "--vectors"]
    refused(
        muse(*map_, here / "narrow.vec", "--out", here / "o.vec"), "narrow.vec: new words of fr need", "got 3"
    )
    refused(muse(*map_, here / "fr.vec", "--words", here / "words.txt"), "no vector for 1 of 1 words (zzz)")
    refused(
        muse(*map_, here / "fr.vec", "--out", here / "words.txt" / "o.vec"), "expected a folder to write in"
    )
    refused(muse(*map_, here / "fr.vec", "--out", space), "--out would replace SPACE, which is read")
    refused(muse(*map_, here / "fr.vec", "--out", here), "got a folder")
    refused(muse(*map_, here / "fr.vec", "--json"), "--json needs --out", code=2)
    rows = [here / "fr.vec", "--out", here / "x.npy", "--fit"]
    refused(muse(*map_, *rows), "--fit is for new words", code=2)
    refused(muse("map", space, "--lang", "xx", "--vectors", here / "fr.vec"), "are fr, en; got 'xx'")
    assert tree(here) == before


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["chat", "--reference", "gold.txt"], "--reference needs text on stdin, got words"),
        (["chat", "--beam", 5], "--beam needs text on stdin, got words"),
        (["chat", "--lm", "en.arpa"], "--lm needs text on stdin, got words"),
        (["chat", "--fit"], "--fit needs --vectors FILE, got none"),
        (["chat", "--ngrams", "--vectors", "fr.vec"], "--ngrams and --vectors exclude each other"),
        (["--beam", 5], "--beam needs --lm to translate text, got none"),
        (["--lm-weight", 0.5], "--lm-weight needs --lm to translate text, got none"),
        (["--top", 3], "--top needs --lm to translate text, got none"),
    ],
    ids=str,
)
def test_options_that_exclude_one_another_or_change_nothing_are_refused(
    muse: Command, space: Path, arguments: list[object], part: str
) -> None:
    ended = muse("translate", space, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert part in ended.err


def test_a_language_model_counts_the_lines_it_learns_from(muse: Command, space: Path) -> None:
    text = space.parent / "text.txt"
    text.write_text("the cat\n\n \nthe man\n", encoding="utf-8")
    train = ["train-lm", text, "--lang", "en", "--out", space.parent / "en.arpa"]
    fields = muse(*train, "--json").json
    assert (fields["lines"], fields["empty"]) == (2, 2)
    assert " n-grams of 2 lines in " in muse(*train).out
    text.write_text("Der Hund sah den Hund.\nDen Hund sah der Hund.\n", encoding="utf-8")
    for language, words in (("de", {"der", "Hund", "sah", "den"}), ("en", {"der", "hund", "sah", "den"})):
        muse("train-lm", text, "--lang", language, "--out", space.parent / "x.arpa")
        found = {word for word in read_arpa(space.parent / "x.arpa").words if word.isalpha()}
        assert found == words


def test_train_lm_refuses(muse: Command, space: Path) -> None:
    here = space.parent
    (here / "blank.txt").write_text("\n \n", encoding="utf-8")
    (here / "latin.txt").write_bytes("le\nchât\n".encode("latin-1"))
    before = tree(here)
    train = ["train-lm", "--lang", "fr", "--out", here / "fr.arpa"]
    refused(muse(*train, here / "blank.txt"), "at least one word of text")
    refused(muse(*train, here / "latin.txt"), "latin.txt:2: expected UTF-8")
    refused(muse(*train, here / "no.txt"), "no.txt")
    inside = here / "latin.txt" / "x"
    refused(muse("train-lm", "--lang", "fr", "--out", inside, here / "en.txt"), "a folder to write in")
    assert muse(*train, here / "en.txt", "--order", 9).code == 2
    assert tree(here) == before


def test_a_term_of_several_words_in_a_list(muse: Command, space: Path) -> None:
    ended = translate(muse, space, "--words", "-", "--top", 1, stdin="le chat\nzz zzz\nchat\n")
    term, unknown, word = csv.DictReader(ended.out.splitlines(), delimiter="\t")
    assert (term["target"], term["grade"], term["probability"]) == ("the cat", "weak", "")
    assert (term["reason"], term["form"]) == ("translated word by word", "le chat")
    assert (unknown["target"], unknown["form"]) == ("", "")
    assert (word["target"], word["frequency_rank"]) == ("cat", "3")
    assert ended.err == "1 of 3 words unknown: the column reason says why\n"
    probable = translate(muse, space, "--words", "-", "--min-probability", 0.5, stdin="le chat\n")
    refused(probable, "--min-probability needs probabilities")
    table, out = space.parent / "table", space.parent / "w.tsv"
    table.write_text("chat ||| tomcat ||| .9 .9 .9 .9\n", encoding="utf-8")
    translate(muse, space, "le chat", "--phrases", table, "--out", out, stdin="")
    assert out.read_text(encoding="utf-8").splitlines()[1].startswith("le chat\tthe tomcat\t")
    out = space.parent / "d.jsonl"
    for more, terms in (((), ["the cat"]), (("--group", "lemma"), ["the cat"]), (("--mutual",), [])):
        muse("induce", space, "--words", "-", "--out", out, *more, stdin="le chat\nzz zzz\nchat\n")
        found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert [one["target"] for one in found] == ["cat", *terms]


def test_json_is_one_object(muse: Command, space: Path) -> None:
    ended = translate(muse, space, "--json", stdin="le chat\n\n")
    assert json.loads(ended.out) == {"lines": ["the cat", ""], "words": 2, "copied": 0}


def test_a_sentence_as_an_argument_is_text(muse: Command, space: Path) -> None:
    asked = ["translate", space, "Le chat mange.", "chat", "--retrieval", "nn", "--top", 1]
    first, second = muse(*asked).out.splitlines()
    assert first == "The cat eats." and second.startswith("chat\tcat ")
    found = muse(*asked, "--json").json
    assert found["sentences"] == {"Le chat mange.": "The cat eats."}
    assert list(found["answers"]) == ["chat"]
    assert "without a vector: is the text in fr?" in muse("translate", space, "what is this").err
    refused(muse("translate", space, "le chat", "--beam", 3), "--beam needs --lm, got none", code=2)
