"""`muse.align` chooses answers by all the evidence, from pairs where there are some, and keeps them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse.api.answers import known_pairs
from muse.api.run import run
from muse.api.settings import settings_of
from muse.learn.supervise.cross_validation import HeldOutMaps
from muse.learn.supervise.training_pairs import Maps
from muse.vectors import Vectors
from tests.support.made_up_pair import Made, made_up
from tests.support.toys import write_vec


@pytest.fixture(scope="module")
def made() -> Made:
    return made_up(700, noise=1.2)


@pytest.fixture
def options(made: Made, tmp_path: Path) -> dict[str, Any]:
    """The files of the pair, and half of its translations as a dictionary."""
    for language, words, rows in zip(("xx", "yy"), made.words, made.rows, strict=True):
        write_vec(tmp_path / f"{language}.vec", Vectors(language, words, rows))
    lines = [f"{made.words[0][i]} {made.words[1][made.gold[i]]}\n" for i in range(0, 700, 2)]
    (tmp_path / "pairs.txt").write_text("".join(lines), encoding="utf-8")
    files = {f"{side}_emb": tmp_path / f"{name}.vec" for side, name in (("src", "xx"), ("tgt", "yy"))}
    return {**files, "dictionary": tmp_path / "pairs.txt", "out": tmp_path / "space", "refine": False}


def right(space: muse.Space, made: Made) -> float:
    """The share of the words that are not in the dictionary whose first answer is right."""
    found = [space.translate(made.words[0][i], top=1)[0][0] for i in range(1, 700, 2)]
    gold = [made.words[1][made.gold[i]] for i in range(1, 700, 2)]
    return float(np.mean([one == other for one, other in zip(found, gold, strict=True)]))


@pytest.mark.slow
def test_answers_from_pairs(options: dict[str, Any], made: Made) -> None:
    report = run(settings_of(src="xx", tgt="yy", **options))
    fields = json.loads(json.dumps(report.as_json()))["answers"]
    assert fields["by"] == "all evidence"
    assert fields["trained_on"] > 300
    assert fields["held_out_p_at_1"] > fields["csls_p_at_1"]
    assert fields["evidence"]["spelling"] > 0
    space = muse.load_space(options["out"])
    assert right(space, made) > right(space.by_csls(), made) + 0.05
    table = space.answers("xx", "yy")
    assert table is not None and table.report["held_out_p_at_1"] == fields["held_out_p_at_1"]
    assert space.answers("yy", "xx") is not None


def test_csls_is_asked_for(options: dict[str, Any]) -> None:
    report = run(settings_of(src="xx", tgt="yy", **{**options, "answers": "csls"}))
    assert "answers" not in report.as_json()
    assert not list(Path(options["out"]).glob("*/answers.*"))
    derived = {
        f"{one}.{other}" for one in ("xx/hubness", "xx/calibration") for other in ("yy.npy", "yy.json")
    }
    assert len(derived & set(muse.load_space(options["out"]).manifest.checksums)) == 2
    with pytest.raises(muse.MuseError, match="--answers .*csls.* 'nn'"):
        settings_of(src="xx", tgt="yy", answers="nn")


def test_rows_by_maps_that_do_not_know_the_pairs() -> None:
    rng = np.random.default_rng(0)
    source, target = (
        Vectors(name, [f"{name}{i}" for i in range(30)], rng.standard_normal((30, 4)).astype(np.float32))
        for name in ("xx", "yy")
    )
    pairs = np.stack([np.arange(30), np.arange(30)], axis=1)
    import torch

    maps = tuple(Maps(torch.eye(4) * sign, torch.eye(4)) for sign in (1.0, -1.0))
    held_out = HeldOutMaps(pairs, np.ones(30), np.arange(30) % 2, maps)
    found = known_pairs(held_out, source, target)
    assert len(found.held_out) == 2
    unit = source.matrix / np.linalg.norm(source.matrix, axis=1, keepdims=True)
    for one, sign, fold in zip(found.held_out, (1, -1), (0, 1), strict=True):
        np.testing.assert_allclose(one.source, sign * unit, atol=1e-6)
        np.testing.assert_array_equal(one.without, np.arange(30) % 2 == fold)
