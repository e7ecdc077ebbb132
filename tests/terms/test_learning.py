"""muse terms learns vectors of two texts: with a space, without one, and from what was decided.

Both texts are the same, in another order and by a cipher, so that it is known what is right.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.files import write_vectors_text
from muse.normalise import Normalisation
from muse.space import SideToSave, load_space, save_space
from muse.terms.decisions import Decisions, write_decisions
from muse.vectors import Vectors
from tests.support.command import Command
from tests.support.made_up_pair import CIPHER, random_words
from tests.support.spaces import PROVENANCE

pytestmark = pytest.mark.slow  # fastText learns
WORDS, KNOWN, DIMENSION, LINES = 900, 850, 12, 8_000
UNITS = 12  # each of two words that are rarer than the KNOWN


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the texts aa and bb, and a space of the KNOWN words."""
    made, rng = tmp_path_factory.mktemp("texts"), np.random.default_rng(0)
    words, rows = random_words(WORDS, rng), rng.standard_normal((WORDS, DIMENSION))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    topics, lines = rng.standard_normal((LINES, DIMENSION)), list[str]()
    for place in range(LINES):
        unit = place % 100
        about = topics[unit if unit < UNITS else place]
        share = np.exp(4 * rows @ about / np.linalg.norm(about)) / (np.arange(WORDS) + 20)
        line = rng.choice(words, 10, p=share / share.sum()).tolist()
        if unit < UNITS:
            line[5:5] = words[KNOWN + 2 * unit :][:2]
        lines.append(" ".join(line))
    (made / "aa").write_text("\n".join(lines))
    (made / "bb").write_text("\n".join(line.translate(CIPHER) for line in rng.permutation(lines).tolist()))
    (made / "units").write_text("\n".join(" ".join(words[KNOWN + 2 * one :][:2]) for one in range(UNITS)))
    order, vectors = rng.permutation(KNOWN), rng.standard_normal((KNOWN, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    named = {"aa": [words[one] for one in order], "bb": [words[one].translate(CIPHER) for one in order]}
    unit_rows = Normalisation(("unit",), ())
    sides = {one: SideToSave(Vectors(one, some, vectors), unit_rows, None) for one, some in named.items()}
    save_space(made / "space", sides, pivot="bb", provenance=PROVENANCE)
    return made


def learned(muse: Command, folder: Path, out: Path, *more: object) -> tuple[Any, dict[str, dict[str, Any]]]:
    """What the command printed, and the first row of each term."""
    texts = "--src", "aa", "--src-text", folder / "aa", "--tgt", "bb", "--tgt-text", folder / "bb"
    ended = muse("terms", *more, *texts, "--out", out, "--examples", "1", "--threads", "1", "--json")
    assert (ended.code, ended.json["verdict"]) == (0, "aligned")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return ended.json, {row["term"]: row for row in rows if row["rank"] == 1}


def test_a_space_tells_which_words_of_the_texts_are_known(
    muse: Command, folder: Path, tmp_path: Path
) -> None:
    _, found = learned(muse, folder, tmp_path / "a.jsonl", folder / "space")
    units = [found.get(unit) for unit in (folder / "units").read_text().split("\n")]
    right = [row is not None and row["translation"] == row["term"].translate(CIPHER) for row in units]
    assert sum(right) >= UNITS - 2
    assert all(row["probability"] > 0.5 and row["examples"] for row in units if row is not None)
    words = [row for row in found.values() if " " not in row["term"]]
    assert words and all(row["translation"] == row["term"].translate(CIPHER) for row in words)


def test_vectors_that_are_found_help_as_a_space_does(muse: Command, folder: Path, here: Path) -> None:
    (here / "embeddings").mkdir()
    for one in ("aa", "bb"):
        vectors = load_space(folder / "space").vectors(one)
        write_vectors_text(here / "embeddings" / f"{one}.vec", vectors.words, vectors.matrix)
    _, found = learned(muse, folder, here / "a.jsonl")
    assert any(" " not in term for term in found)  # single words are terms beside general ones alone
    assert {one.name for one in here.iterdir()} == {"embeddings", "a.jsonl"}


def test_texts_alone_are_aligned_and_decisions_are_learned_from(
    muse: Command, folder: Path, tmp_path: Path
) -> None:
    _, found = learned(muse, folder, tmp_path / "a.jsonl")
    units = (folder / "units").read_text().split("\n")
    assert (
        sum(found[one]["translation"] == one.translate(CIPHER) for one in units if one in found) >= UNITS - 2
    )
    known = load_space(folder / "space").vectors("aa").words[:40]
    rejected = [(row["term"], row["translation"]) for row in found.values()][:2]
    write_decisions(tmp_path / "d.tsv", Decisions([(one, one.translate(CIPHER)) for one in known], rejected))
    told, again = learned(
        muse, folder, tmp_path / "b.jsonl", "--decisions", tmp_path / "d.tsv", "--save-space", tmp_path / "s"
    )
    assert (told["accepted"], told["rejected"]) == (40, 2)
    supervision = load_space(tmp_path / "s").manifest.language("aa").supervision
    assert supervision is not None and supervision.fields["pairs"] == 40
    assert all(again[one]["probability"] == 1 for one in known)
    assert not {(row["term"], row["translation"]) for row in again.values()} & {*rejected}
