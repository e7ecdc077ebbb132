"""Lookup tables as torch loads them, and the embeddings of a model that come of them."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from muse.errors import BadFile, BadSetting
from muse.export.torch_file import TableConfig, Tables, export_torch
from muse.export.vocabulary import read_vocabulary
from muse.space import Space
from tests.evaluation.test_words import noisy_space
from tests.support.command import tree
from tests.support.spaces import plain_space, raw_rows, saved

SPACE = noisy_space(0)


def export(out: Path, space: Space = SPACE, **options: Any) -> Tables:
    languages = options.pop("languages", ("fr", "en"))
    rng = np.random.default_rng(options.pop("seed", 0))
    return export_torch(space, out, languages=languages, config=TableConfig(**options), rng=rng)


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = torch.load(path, weights_only=True)
    return found


def listed(path: Path, *units: str) -> Path:
    path.write_text("\n".join(units), encoding="utf-8")
    return path


def test_separate_tables_hold_each_language_behind_the_specials(tmp_path: Path) -> None:
    export(tmp_path / "t.pt")
    found = loaded(tmp_path / "t.pt")
    assert found["shared"] is False
    assert found["specials"] == ["<pad>", "<unk>", "<s>", "</s>"]
    for side, language in (("encoder", "fr"), ("decoder", "en")):
        vectors = SPACE.vectors(language)
        assert found[side]["languages"] == [language]
        assert found[side]["names"] == [*found["specials"], *vectors.words]
        np.testing.assert_array_equal(found[side]["weight"][4:].numpy(), vectors.matrix)
        assert found[side]["weight"].dtype == torch.float32


def test_an_embedding_gives_back_the_rows_of_the_space(tmp_path: Path) -> None:
    export(tmp_path / "t.pt")
    side = loaded(tmp_path / "t.pt")["encoder"]
    embedding = nn.Embedding.from_pretrained(  # type: ignore[no-untyped-call]
        side["weight"], freeze=False, padding_idx=side["padding_idx"]
    )
    place = side["names"].index("s7")
    shown = embedding(torch.tensor([place, side["padding_idx"]]))
    np.testing.assert_array_equal(shown[0].detach().numpy(), SPACE.vectors("fr").matrix[7])
    shown.sum().backward()
    assert embedding.weight.grad[place].any()
    assert not shown[1].any()  # padding says nothing,
    assert not embedding.weight.grad[side["padding_idx"]].any()  # and learns nothing


def test_a_shared_table_is_one_tensor_and_in_the_file_once(tmp_path: Path) -> None:
    tables = export(tmp_path / "shared.pt", shared=True)
    export(tmp_path / "separate.pt")
    found = loaded(tmp_path / "shared.pt")
    assert tables.shared
    assert found["encoder"]["weight"].data_ptr() == found["decoder"]["weight"].data_ptr()
    assert found["encoder"]["languages"] == ["fr", "en"]
    assert len(found["encoder"]["names"]) == 4 + 50 + 60
    sizes = [(tmp_path / f"{name}.pt").stat().st_size for name in ("shared", "separate")]
    assert abs(sizes[0] - sizes[1]) < 4_000


def test_any_number_of_languages_share_a_table(tmp_path: Path) -> None:
    space = saved(tmp_path / "s", "fr", "de")
    tables = export(tmp_path / "t.pt", space, shared=True, languages=space.languages)
    words = {word for language in space.languages for word in space.vectors(language).words}
    assert set(tables.encoder.names) == words | set(loaded(tmp_path / "t.pt")["specials"])
    with pytest.raises(BadSetting, match="separate tables need two languages, got en, fr, de"):
        export(tmp_path / "t.pt", space, languages=space.languages)


def test_rows_in_the_order_of_a_vocabulary_of_pieces(tmp_path: Path) -> None:
    vocabulary = listed(tmp_path / "v", "t3 9", "s1 8", "t1@@ 7", "zz@@ 6")
    tables = export(tmp_path / "t.pt", shared=True, vocabularies=(vocabulary,), specials=("</s>",))
    side = loaded(tmp_path / "t.pt")["encoder"]
    assert side["names"] == ["</s>", "t3", "s1", "t1@@", "zz@@"]
    np.testing.assert_array_equal(side["weight"][1].numpy(), SPACE.vectors("en").matrix[3])
    np.testing.assert_array_equal(side["weight"][2].numpy(), SPACE.vectors("fr").matrix[1])
    mean = SPACE.vectors("en").matrix[10:20].astype(np.float64).sum(axis=0)  # t10 to t19 go on after t1
    np.testing.assert_allclose(side["weight"][3].numpy(), mean / np.linalg.norm(mean), atol=1e-6)
    counts = {"special": 1, "word": 2, "lower": 0, "mean": 1, "normal": 1}
    assert tables.as_json()["tables"]["encoder"]["rows"] == counts
    names = loaded(tmp_path / "t.pt")["origins"]
    assert [names[origin] for origin in side["origin"].tolist()] == [
        "special", "word", "word", "mean", "normal",
    ]  # fmt: skip


def test_one_vocabulary_for_both_sides_or_one_for_each(tmp_path: Path) -> None:
    both, own = listed(tmp_path / "both", "s1", "t1"), listed(tmp_path / "own", "t2")
    export(tmp_path / "one.pt", vocabularies=(both,), specials=())
    export(tmp_path / "two.pt", vocabularies=(both, own), specials=())
    one, two = loaded(tmp_path / "one.pt"), loaded(tmp_path / "two.pt")
    assert one["encoder"]["names"] == one["decoder"]["names"] == two["encoder"]["names"] == ["s1", "t1"]
    assert two["decoder"]["names"] == ["t2"]
    assert one["encoder"]["origin"].tolist() == [1, 4]  # t1 is no French word
    assert one["decoder"]["origin"].tolist() == [4, 1]


def test_the_most_frequent_words_alone(tmp_path: Path) -> None:
    export(tmp_path / "t.pt", max_vocab=5, specials=())
    assert loaded(tmp_path / "t.pt")["encoder"]["names"] == [f"s{i}" for i in range(5)]


def test_specials_are_first_also_where_the_space_has_them_as_words(tmp_path: Path) -> None:
    space = plain_space(raw_rows(0, 3), raw_rows(1, 2), ["le", "</s>", "chat"], ["</s>", "cat"])
    for shared in (False, True):
        export(tmp_path / "t.pt", space, shared=shared)
        names = loaded(tmp_path / "t.pt")["encoder"]["names"]
        assert names == ["<pad>", "<unk>", "<s>", "</s>", "le", *(["cat"] if shared else []), "chat"]


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        export(tmp_path / f"{name}.pt", seed=seed)
    contents = [(tmp_path / f"{name}.pt").read_bytes() for name in "abc"]
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocabularies": ("a", "b", "c")}, "got it 3 times for two tables"),
        ({"shared": True, "vocabularies": ("a", "b")}, "got it 2 times for one shared table"),
        ({"vocabularies": ("a",), "max_vocab": 5}, "--vocab and --max-vocab exclude each other, got both"),
    ],
)
def test_settings_that_cannot_work(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        export(tmp_path / "t.pt", **options)


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    twice = listed(tmp_path / "v", "s1", "s1")
    (tmp_path / "t.pt").write_bytes(b"before")
    before = tree(tmp_path)
    with pytest.raises(BadFile, match=r"v:2: .*got 's1' again, as on line 1"):
        export(tmp_path / "t.pt", vocabularies=(twice,))
    with pytest.raises(BadSetting, match="torch does not read compressed files"):
        export(tmp_path / "t.pt.gz")
    with pytest.raises(BadFile, match="got a folder"):
        export(tmp_path)
    with pytest.raises(BadFile, match="expected a folder to write in, got the file"):
        export(tmp_path / "t.pt" / "t.pt")
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("content", "units"),
    [
        ("le\nchat\n", ["le", "chat"]),
        ("le\nchat", ["le", "chat"]),
        ("le\r\nchat\r\n", ["le", "chat"]),
        ("\ufeffle\nchat\n\n\n", ["le", "chat"]),
        ("le 1061396\nch@@ 7\n", ["le", "ch@@"]),  # fastBPE, subword-nmt, fairseq
        ("<unk>\t0\n\u2581le\t-2.5\n", ["<unk>", "\u2581le"]),  # sentencepiece
        ("new york\t12\nle\t3\n", ["new york", "le"]),
        ("new york\nle 3\n", ["new york", "le 3"]),  # not every line has a count, so none has
        ("7\n8\n", ["7", "8"]),  # a number alone is a unit
        ("7 8\n8 7\n", ["7", "8"]),
        ("0\t<s>\n1\tnew york\n", ["<s>", "new york"]),  # behind the numbers of the lines
        ("a\u2028b\nx\u0085y\n", ["a\u2028b", "x\u0085y"]),
        ("</s>: 0\n\"\\\"\": 2\n'l''': 1\nch\u00e9: 3\n", ["</s>", "l'", '"', "ch\u00e9"]),  # Marian
        ('---\n"\\xE9t\\u00e9": 0\n":": 1\n?: 2\n', ["\u00e9t\u00e9", ":", "?"]),
        ("le: 7\nla: 3\n", ["le:", "la:"]),  # counts
        ('vocab:\n- le\n- "\\xE9t"\n', ["le", "\u00e9t"]),  # a list below a key
        ('{"le": 1, "<s>": 0}', ["<s>", "le"]),  # vocab.json
        (
            '{"model": {"type": "BPE", "vocab": {"le": 0, "la": 1}}, "added_tokens": '
            '[{"id": 2, "content": "<pad>"}, {"id": 0, "content": "le"}]}',
            ["le", "la", "<pad>"],
        ),
        ('{"model": {"vocab": [["<unk>", 0.0], ["le", -2.5]]}}', ["<unk>", "le"]),  # Unigram
        ('["<s>",\n"le"]', ["<s>", "le"]),
        ("[PAD]\n[UNK]\nle\n", ["[PAD]", "[UNK]", "le"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_units_in_order_without_counts(tmp_path: Path, content: str, units: list[str], packed: bool) -> None:
    path = tmp_path / "vocabulary"
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert read_vocabulary(path) == units


def test_units_that_have_numbers_are_in_rows_of_these_numbers(tmp_path: Path) -> None:
    vocabulary = listed(tmp_path / "vocab.yml", '"</s>": 0', '"<unk>": 1', '"s1": 2', '"t2": 3')
    export(tmp_path / "t.pt", shared=True, vocabularies=(vocabulary,))
    assert loaded(tmp_path / "t.pt")["encoder"]["names"] == ["</s>", "<unk>", "s1", "t2"]
    export(tmp_path / "t.pt", shared=True, vocabularies=(vocabulary,), specials=("<s>",))
    assert loaded(tmp_path / "t.pt")["encoder"]["names"][0] == "<s>"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"le\nchat\nle\n", r":3: expected each unit once, got 'le' again, as on line 1"),
        (b"le 5\nchat 4\nle 3\n", r":3: expected each unit once, got 'le' again, as on line 1"),
        (b"le\n\nchat\n", r":2: expected a unit, got a blank line"),
        (b"le\n \t\nchat\n", r":2: expected a unit, got a blank line"),
        (b"le\nch\xffat\n", r":2: expected UTF-8, got the byte 0xff"),
        (b"", "expected"),
        (b"\n\n", "expected a unit a line, got an empty file"),
        (b'{"le": 0, "la": 2}', "numbers from 0 to 1, each once, got none with 1; give the whole"),
        (b"#version: 0.2\nt h\nth e\n", "got merges of byte pairs; give the vocabulary beside them"),
        (b'{"words": ["le"]}', "numbers from 0 to 0, each once"),
        (b'[{"id": 0}]', "got other JSON; give a vocab.json"),
        (b"\n\x0e\n\x05<unk>\x15\0\0\0\0", "if it is a model of sentencepiece: spm_export_vocab"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "vocabulary"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=message) as error:
        read_vocabulary(path)
    assert str(path) in str(error.value)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="it does not exist"):
        read_vocabulary(tmp_path / "nosuch")
