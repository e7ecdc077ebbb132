"""Unlabelled vectors on the command line, from two files of arrays to a score: no row has a counterpart."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.learn import auto
from muse.learn.initialise.clusters import ClustersConfig, clusters
from muse.space import load_space
from muse.vectors import Matrix, Vectors
from tests.support.asgi import Client
from tests.support.command import Command, Ended, inside, refused, refused_leaving, tree
from tests.support.toys import FEW, few_clusters, raw_mixture, write_vec

NEW = 300  # rows that both sides have, for evaluation
WIDTH = 32  # with fewer dimensions a wrong mapping agrees with itself nearly as well as the right one


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows of a and b, new rows that both have, and other files made of them."""
    folder = tmp_path_factory.mktemp("rows")
    a, b, turn = raw_mixture(dimension=WIDTH, seed=1)
    rng = np.random.default_rng(3)
    new = (a.matrix[:NEW] + rng.normal(0, 0.02, (NEW, WIDTH))).astype(np.float32)
    both = (new @ turn.T + rng.normal(0, 0.02, (NEW, WIDTH))).astype(np.float32)
    arrays = {"a": a.matrix, "b": b.matrix, "new-a": new, "new-b": both, "few": new}
    arrays["wide"] = raw_mixture(dimension=WIDTH, seed=1, turned=40)[1].matrix
    arrays["noise"] = rng.normal(size=(1_500, WIDTH)).astype(np.float32)
    for name, rows in arrays.items():
        np.save(folder / f"{name}.npy", rows)
    order = rng.permutation(NEW)
    ids = np.array([f"text {row}" for row in range(NEW)])
    np.savez(folder / "new-a.npz", vectors=new, ids=ids)
    np.savez(folder / "new-b.npz", vectors=both[order], ids=np.arange(NEW)[order])
    lines = [f"text {row}\t{row}" for row in range(NEW)]
    (folder / "ids.tsv").write_text("\n".join([*lines, "absent\t0"]) + "\n")
    known = np.vstack([b.matrix, a.matrix[:200] @ turn.T])
    np.save(folder / "known.npy", known)
    (folder / "known.tsv").write_text("".join(f"{row}\t{len(b) + row}\n" for row in range(200)))
    words = Vectors("b", [f"word{row}" for row in range(len(b))], b.matrix)
    write_vec(folder / "words.vec", words)
    return folder


def _arguments(made: Path, out: Path, source: str, target: str, *more: object) -> list[object]:
    files = ["--src-emb", made / source, "--tgt-emb", made / target]
    return ["align", "--src", "a", "--tgt", "b", *files, "--out", out, *more]


@pytest.fixture(scope="module")
def aligned(made: Path) -> Ended:
    """What `muse align` printed of the space `made / "space"`, with the settings that users have."""
    return inside(*_arguments(made, made / "space", "a.npy", "b.npy", "--json"))


@pytest.fixture(scope="module", params=["from pairs", pytest.param("from nothing", marks=pytest.mark.slow)])
def space(made: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a space in which the new rows find one another; learning from pairs is quick."""
    if request.param == "from nothing":
        ended: Ended = request.getfixturevalue("aligned")
        assert ended.code == 0, ended.err
        return made / "space"
    pairs = ["--dictionary", made / "known.tsv", "--init", "dictionary", "--no-refine"]
    ended = inside(*_arguments(made, made / "from-pairs", "a.npy", "known.npy", *pairs))
    assert ended.code == 0, ended.err
    return made / "from-pairs"


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch, muse: Command) -> Command:
    """The command line, on which the initialisation takes fewer runs."""
    monkeypatch.setitem(auto.KNOWN_OF_ROWS, "clusters", few_clusters)
    return muse


@pytest.mark.slow
def test_disjoint_rows_are_aligned(made: Path, aligned: Ended) -> None:
    fields = aligned.json
    assert (fields["verdict"], fields["init"], fields["unsupervised"]) == ("aligned", "clusters", True)
    assert fields["words"] == {"a": 1_500, "b": 1_500}
    assert "| clusters |" in fields["signature"]
    assert fields["signature"].startswith("transport:0.03")
    assert aligned.errors == []
    loaded = load_space(made / "space")
    for language in ("a", "b"):
        side = loaded.vectors(language)
        assert (side.frequency_ordered, side.noun, list(side.words[:3])) == (False, "rows", ["0", "1", "2"])
    settings = loaded.manifest.settings
    assert "epsilon" in settings["rounds"][0]  # the settings of rows, not of words
    assert settings["reweight"] is False


def test_new_rows_are_found_by_their_place(made: Path, space: Path, muse: Command) -> None:
    files = ["--source", made / "new-a.npy", "--target", made / "new-b.npy"]
    ended = muse("evaluate", space, "--task", "rows", *files, "--json")
    assert ended.code == 0, ended.err
    found, loaded = ended.json, load_space(space)
    x, y = (loaded.map_words(name, np.load(made / f"new-{name}.npy")) for name in ("a", "b"))
    cosines = x @ y.T
    scores = cosines - np.sort(cosines, axis=0)[-10:].mean(axis=0) / 2  # CSLS
    ranks = (scores >= np.diag(scores)[:, None]).sum(axis=1)
    assert found["p_at_1"] == pytest.approx(100 * float((ranks == 1).mean()), abs=0.01)
    assert found["mean_rank"] == pytest.approx(float(ranks.mean()), abs=0.01)
    assert found["mean_cosine"] == pytest.approx(float(np.diag(cosines).mean()), abs=1e-4)
    assert found["p_at_1"] > 95
    assert (found["queries"], found["targets"], found["missing"]) == (NEW, NEW, 0)
    assert set(found) == {
        "p_at_1", "p_at_5", "p_at_10", "ci95", "mean_rank", "mean_rank_ci95", "mean_cosine",
        "mean_cosine_ci95", "queries", "targets", "missing", "signature",
    }  # fmt: skip
    shown = muse("evaluate", space, "--task", "rows", *files)
    assert shown.out.startswith(f"P@1 = {found['p_at_1']:.1f} [")
    assert found["signature"] in shown.out


def test_new_rows_are_found_by_their_ids(made: Path, space: Path, muse: Command) -> None:
    by_place, by_id = (
        muse("evaluate", space, "--task", "rows", "--json", "--retrieval", "nn", *files)
        for files in (
            ("--source", made / "new-a.npy", "--target", made / "new-b.npy"),
            ("--source", made / "new-a.npz", "--target", made / "new-b.npz", "--pairs", made / "ids.tsv"),
        )
    )
    assert by_id.code == 0, by_id.err
    for name in ("p_at_1", "mean_rank", "mean_cosine"):
        assert by_id.json[name] == pytest.approx(by_place.json[name])
    assert by_id.json["missing"] == 1
    assert "gold:ids.tsv@" in by_id.json["signature"]


def test_several_retrievals_are_scored_each(made: Path, space: Path, muse: Command) -> None:
    files = ["--source", made / "new-a.npy", "--target", made / "new-b.npy"]
    ended = muse(
        "evaluate", space, "--task", "rows", *files, "--retrieval", "nn", "--retrieval", "csls", "--json"
    )
    assert list(ended.json) == ["nn", "csls"]


def test_what_evaluation_needs_is_said(made: Path, space: Path, muse: Command) -> None:
    evaluate = ["evaluate", space, "--task", "rows"]
    new = made / "new-a.npy"
    for more, part in (
        ([], "--task rows needs --pairs FILE, or --source FILE and --target FILE."),
        (["--source", new], "--source and --target go together"),
        (
            ["--pairs", made / "ids.tsv", "--retrieval", "margin"],
            "--retrieval margin is for --task sentences",
        ),
    ):
        refused(muse(*evaluate, *more), part, code=2)
    files = ["--source", new, "--target", made / "a.npy"]
    refused(muse(*evaluate, *files), "row i of a must belong to row i of b, got 300 and 1500 rows")
    refused(muse(*evaluate, "--pairs", made / "ids.tsv"), "at least one pair must name a row of both sides")
    files = ["--source", new, "--target", made / "wide.npy"]
    refused(muse(*evaluate, *files), str(WIDTH), "40")


def test_words_are_asked_for_by_ids(made: Path, space: Path, muse: Command, tmp_path: Path) -> None:
    answers = muse("translate", space, "3", "--json")
    assert answers.code == 0, answers.err
    refused(muse("translate", space, "nope"), "'nope' is not among the 1500 rows of a; check its id")
    assert muse("induce", space, "--mutual", "--out", tmp_path / "pairs.txt").code == 0
    scored = muse("evaluate", space, "--dictionary", tmp_path / "pairs.txt")
    assert scored.code == 0, scored.err
    assert scored.out.startswith("P@1 = 100.0 ")
    assert "frequency" not in scored.out  # rows have none


def test_a_report_and_the_explorer_of_rows(space: Path, muse: Command, tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from muse.web.app import create_app
    from muse.web.explorer import Explorer

    muse("induce", space, "--mutual", "--out", tmp_path / "pairs.txt")
    for more in ([], ["--dictionary", tmp_path / "pairs.txt"]):
        ended = muse("report", space, *more, "--out", tmp_path / "report.html")
        assert ended.code == 0, ended.err
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "By frequency rank" not in page
    client = Client(create_app(Explorer(load_space(space), "a-b"), hosts=("127.0.0.1",)))
    for path, parameters in (
        ("/api/words", {"word": "3", "source": "a", "target": "b"}),
        ("/api/suggest", {"prefix": "12", "language": "a"}),
        ("/api/map", {}),
        ("/", {}),
    ):
        assert client.get(path, params=parameters).status_code < 500, path


@pytest.mark.parametrize(
    ("more", "part"),
    [
        (["--init", "identical"], "--init identical needs words, most frequent first, got unlabelled"),
        (["--init", "gromov", "--lower"], "--lower is for words, got items"),
        (["--max-vocab", "400"], "--max-vocab must be at least 500, with fewer words nothing is aligned"),
        (["--src-words", "ids.tsv"], "leave the list out"),
    ],
)  # fmt: skip
def test_what_is_for_words_is_refused(
    made: Path, muse: Command, tmp_path: Path, more: list[object], part: str
) -> None:
    more = [made / one if one == "ids.tsv" else one for one in more]
    refused_leaving(tmp_path, muse, _arguments(made, tmp_path / "x", "a.npy", "b.npy", *more), part)


def test_too_few_rows_are_refused(made: Path, muse: Command, tmp_path: Path) -> None:
    arguments = _arguments(made, tmp_path / "x", "few.npy", "b.npy")
    refused_leaving(tmp_path, muse, arguments, "at least 500 rows are needed to align, got 300; give a file")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(
    made: Path, muse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    least = ClustersConfig(runs=2, tries=4, rounds=FEW.rounds[:1])  # right or not
    monkeypatch.setitem(auto.KNOWN_OF_ROWS, "clusters", partial(clusters, config=least))
    made_twice = []
    for name in ("one", "two"):
        arguments = _arguments(made, tmp_path / name, "a.npy", "b.npy", "--init", "clusters", "--no-refine")
        assert muse(*arguments).code in (0, 3)
        made_twice.append(tree(tmp_path / name))
        del made_twice[-1]["manifest.json"]  # it has the seconds that each took
    assert made_twice[0] == made_twice[1]
    assert len(made_twice[0]) == 14  # two folders of six files: hubness and calibration are derived


@pytest.mark.slow
def test_ids_that_belong_together_are_learned_from(made: Path, fast: Command, tmp_path: Path) -> None:
    pairs = ["--dictionary", made / "known.tsv", "--init", "dictionary", "--no-refine"]
    ended = fast(*_arguments(made, tmp_path / "x", "a.npy", "known.npy", *pairs, "--json"))
    assert ended.code == 0, ended.err
    assert (ended.json["verdict"], ended.json["unsupervised"]) == ("aligned", False)
    assert ended.json["supervision"]["pairs"] == 200


@pytest.mark.slow
def test_dimensions_that_differ(made: Path, fast: Command, tmp_path: Path) -> None:
    ended = fast(*_arguments(made, tmp_path / "x", "a.npy", "wide.npy", "--init", "clusters", "--json"))
    assert ended.code == 0, ended.err
    assert ended.json["verdict"] == "aligned"
    assert load_space(tmp_path / "x").manifest.dimension == WIDTH


@pytest.mark.slow
def test_words_on_one_side_and_rows_on_the_other(made: Path, fast: Command, tmp_path: Path) -> None:
    ended = fast(*_arguments(made, tmp_path / "x", "a.npy", "words.vec", "--init", "clusters"))
    assert ended.code == 0, ended.err
    assert "aligned (confidence" in ended.out
    assert "map more rows" in ended.err
    sides = [load_space(tmp_path / "x").vectors(name) for name in ("a", "b")]
    assert [side.frequency_ordered for side in sides] == [False, True]


@pytest.mark.slow
def test_unrelated_rows_are_not_called_aligned(made: Path, fast: Command, tmp_path: Path) -> None:
    ended = fast(*_arguments(made, tmp_path / "x", "a.npy", "noise.npy", "--init", "clusters"))
    verdict: Any = load_space(tmp_path / "x").manifest.verdict.label
    assert ended.code == (3 if verdict == "failed" else 0)
    assert verdict in ("failed", "doubtful")
    assert "Say which rows belong together: 50 lines of an id (a), a tab and an id (b)" in ended.err
    assert "may succeed with another --seed" in ended.err
    assert "--seed 1" in ended.err
    assert "try more than --init" not in ended.err


def _chunks(rows: Matrix, names: Sequence[str]) -> bytes:
    lines = zip(names, rows.tolist(), strict=True)
    return b"".join(json.dumps({"id": name, "vector": row}).encode() + b"\n" for name, row in lines)


@pytest.mark.slow
def test_the_chunks_of_documents_are_learned_from_and_paired_in_their_order(
    muse: Command, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(240, 8)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0].astype(np.float32)
    names = [f"doc {row % 60}" for row in range(240)]  # four chunks each, the first ones first
    (tmp_path / "a.jsonl").write_bytes(_chunks(rows, names))
    order = rng.permutation(60)  # of documents
    kept = (np.arange(240).reshape(4, 60)[:, order]).ravel()[:-1]  # the last document lacks its last chunk
    (tmp_path / "b.jsonl").write_bytes(_chunks(rows[kept] @ turn, [names[row] for row in kept]))
    (tmp_path / "ids.tsv").write_text("".join(f"doc {doc}\tdoc {doc}\n" for doc in range(60)))
    pairs = "--dictionary", tmp_path / "ids.tsv", "--init", "dictionary"
    ended = muse(*_arguments(tmp_path, tmp_path / "space", "a.jsonl", "b.jsonl", *pairs))
    assert ended.code == 0
    assert "ids repeat (60 of them, such as" in ended.err
    assert "59 pairs with ids of several rows, as many on both sides" in ended.err
    assert "left out 1 of 60 pairs, whose ids have several rows" in ended.err
    space = load_space(tmp_path / "space")
    assert (len(space.vectors("a")), len(space.vectors("b"))) == (240, 239)
    mapped = space.map_words("a", rows[kept])
    cosines = (mapped * space.map_words("b", rows[kept] @ turn)).sum(axis=1)
    assert cosines.min() > 0.97  # of the true pairs: the first chunk with the first
