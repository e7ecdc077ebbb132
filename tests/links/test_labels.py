"""Labels: carried over links, kept inside one another, and read and written in three forms."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from muse.links.labels import (
    FORMS,
    Span,
    carried,
    nested,
    read_columns,
    read_tags,
    without_overlaps,
    write_tags,
)
from muse.links.links import Links
from muse.links.sentence import places_of
from tests.links.test_links import save
from tests.support.command import Command


def test_a_counterpart_is_the_smallest_span_with_all_linked_words() -> None:
    rng = np.random.default_rng(0)
    places = [(2 * n, 2 * n + 1) for n in range(8)]
    for _ in range(50):
        links = Links.of(rng.random((8, 8)) < 0.15, rng.random((8, 8)))
        begin, end = sorted(rng.choice(9, 2, replace=False).tolist())
        (found,) = carried([(2 * begin, 2 * end - 1, "x")], (places, places), links, 0.4)
        linked = {j for i, j, p in links if begin <= i < end and p >= 0.4}
        fitting = [(a, b) for a, b in product(range(8), range(1, 9)) if linked and linked <= {*range(a, b)}]
        smallest = min(fitting, key=lambda span: span[1] - span[0], default=None)
        assert found == (None if smallest is None else (2 * smallest[0], 2 * smallest[1] - 1, "x"))


def test_tags_are_nested_and_none_is_lost() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        source = read_tags("<a>x <b>y</b> z</a> <c>x y</c><br/> <d>z <e>x <g>y</g></e></d>").spans
        target: list[Span | None] = []
        for b, e, tag in source:
            begin, end = sorted(rng.choice(12, 2, replace=False).tolist())
            target.append((begin, end if e > b else begin, tag) if rng.random() < 0.8 else None)
        text = "abcdefghijkl"
        again = read_tags(write_tags(text, [], source, target))  # a ValueError if they cross
        assert again.text == text and sum(tag == "<br/>" for *_, tag in again.spans) == 1
        assert {tag for *_, tag in again.spans} >= {span[2] for span in target if span}


def test_what_is_inside_stays_inside_and_what_crosses_is_cut() -> None:
    assert nested([(0, 9, "a"), (2, 4, "b")], [(0, 4, "a"), (6, 8, "b")]) == [(0, 8, "a"), (6, 8, "b")]
    assert nested([(0, 3, "a"), (4, 9, "b")], [(0, 5, "a"), (3, 8, "b")]) == [(0, 5, "a"), (3, 5, "b")]
    assert without_overlaps([(3, 8, "b"), None, (0, 5, "a")]) == [(0, 3, "a"), (3, 8, "b")]


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("tags", 'Le <b class="x">roi <i>mort</i></b> là<br/>.'),
        ("bio", "Ada\tB-PER\nLovelace\tI-PER\nParis\tB-LOC\nde\tO\nLyon\tB-LOC\n"),
        ("jsonl", '{"text": "Ada là", "labels": [[0, 3, "PER"]]}'),
    ],
)  # fmt: skip
def test_what_is_written_is_what_was_read(form: str, written: str) -> None:
    found = FORMS[form].read(written.rstrip("\n"))
    places = places_of(found.text.split(), found.text)
    assert FORMS[form].write(found.text, places, found.spans, found.spans) == written


def test_labels_of_other_schemes_are_read() -> None:
    assert read_columns("a S-X\nb B-Y\nc E-Y\nd I-Z\ne I-Z").spans == ((0, 1, "X"), (2, 5, "Y"), (6, 9, "Z"))


LABELLED = {
    "tags": (
        "<b>fr20</b> <i>fr21</i> , fr22\n\n<p/>fr30 <u>zz</u> fr31\n",
        "<b>en20</b> <i>en21</i> , en22\n\nen31 <p/>en30\n",
    ),
    "bio": (
        "-DOCSTART- O\n\nfr20 B-A\nfr21 I-A\n, O\nfr22 O\n\n\nfr30 B-B\nzz B-C\nfr31 O\n",
        "en20\tB-A\nen21\tI-A\n,\tO\nen22\tO\n\nen31\tO\nen30\tB-B\n\n",
    ),
    "jsonl": (
        '{"text": "fr20 fr21 , fr22", "labels": [[0, 9, "A"]]}\n{"text": "", "labels": []}\n'
        '{"text": "fr30 zz fr31", "label": [[0, 4, "B"], [5, 7, "C"]]}\n',
        '{"text": "en20 en21 , en22", "labels": [[0, 9, "A"]]}\n{"text": "", "labels": []}\n'
        '{"text": "en31 en30", "labels": [[5, 9, "B"]]}\n',
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    save(tmp_path / "space")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_the_command_carries_labels(muse: Command, folder: Path, form: str) -> None:
    source, wanted = LABELLED[form]
    (folder / "a.fr").write_text(source)
    (folder / "a.en").write_text("en20 en21 , en22\n" + "\n" * (form != "bio") + "en31 en30\n")
    words = ("carry-labels", "space", "--source", "a.fr", "--target", "a.en", "--format", form)
    done = muse(*words, "--out", "b.en", "--json")
    assert (folder / "b.en").read_text() == wanted
    labels = {"tags": 4, "bio": 3, "jsonl": 3}[form]
    assert (done.json["labels"], done.json["carried"], done.json["unlinked"]) == (labels, labels - 1, 1)
    assert muse(*words).out.rstrip() == wanted.rstrip()


@pytest.mark.parametrize(
    ("form", "text", "error"),
    [
        ("tags", "a <b>c\n", "a.fr:1: expected a tag that closes <b>, got none"),
        ("tags", "a\nc</b>\n", "a.fr:2: expected a tag such as <b> before </b>"),
        ("bio", "a X\n", "a.fr:1: expected a word and a label such as B-PER"),
        ("jsonl", "{\n", "a.fr:1: "),
        ("jsonl", '{"text": "a", "labels": [[0, 2, "X"]]}\n', "expected an object such as"),
    ],
)
def test_damaged_labels_are_one_error(muse: Command, folder: Path, form: str, text: str, error: str) -> None:
    (folder / "a.fr").write_text(text)
    (folder / "a.en").write_text("en1\n" * text.count("\n"))
    words = ("carry-labels", "space", "--source", "a.fr", "--target", "a.en", "--format", form, "--out", "b")
    done = muse(*words)
    assert done.code == 1 and error in done.err and not (folder / "b").exists()


def test_a_linked_pair_carries_spans(folder: Path) -> None:
    from muse import load_space

    pair = load_space(folder / "space").link("fr20 fr21 fr22", "en22 en20 en21")
    assert pair.carry([(0, 9, "X"), (10, 14, "Y")]) == [(5, 14, "X"), (0, 4, "Y")]
    assert json.loads(FORMS["jsonl"].write(pair.texts[1], pair.places[1], [], pair.carry([(0, 4, "X")])))
