"""Targets that `muse align` wrote: the state of an interrupted run, and the record that a report shows."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.align import degenerate
from muse.alignment import Alignment
from muse.api.run import run
from muse.files import read_vectors, write_npz
from muse.files.space_folder import MANIFEST
from muse.learn.auto import KNOWN
from muse.learn.bilingual import check_pair, normalise_in_place
from muse.learn.initialise.adversarial import AdversarialConfig, adversarial
from muse.learn.pair import LanguagePair
from muse.learn.refine import RefineConfig, refine
from muse.learn.settings import AlignConfig
from muse.learn.verdict import judge
from muse.procrustes import procrustes
from muse.report import facts, page
from muse.report.facts import Facts, ReportConfig, gather_facts, least_certain_direction, supervision_json
from muse.report.page import write_report
from muse.run.checkpoint import Checkpoint
from muse.space import Space, load_space
from muse.web.routes import space_answer
from tests.fuzz.target import Target
from tests.support.spaces import STEPS
from tests.support.toys import raw_pair, write_vec

COUNT, DIMENSION, PAIRS = 500, 5, 30  # words, and pairs of a dictionary
ROUND = RefineConfig(cutoffs=(COUNT,), max_rounds=2)
TINY = AdversarialConfig(restarts=3, survivors=2, epochs=2, steps=2, batch=4, hidden=4, discriminator_steps=1)


@cache
def _inputs() -> Path:
    """A folder with vectors of two languages and a dictionary, for as long as the process lasts."""
    folder, words = Path(tempfile.mkdtemp(prefix="muse-fuzz-align-")), [f"w{i}" for i in range(COUNT)]
    for vectors in raw_pair(COUNT, DIMENSION)[:2]:
        write_vec(folder / f"{vectors.language}.vec", replace(vectors, words=words))
    (folder / "pairs").write_text("".join(f"{word}\t{word}\n" for word in words[:PAIRS]))
    return folder


def _align(out: Path, init: str, **options: Any) -> None:
    folder = _inputs()
    # A language is added to a space whose files give its target.
    target = (None, None) if "into" in options else ("en", folder / "en.vec")
    config = AlignConfig(
        src=(options.pop("language", "fr"),), tgt=target[0], src_emb=(folder / "fr.vec",), tgt_emb=target[1],
        init=init, rounds=(ROUND,), out=out, **{"refine": False, **options},
    )  # fmt: skip
    with mock.patch.dict(KNOWN, adversarial=_tiny):
        run(config)


def _tiny(*given: Any) -> Iterator[Any]:
    return adversarial(*given, config=TINY)


def _interrupted(init: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        # The last step of a run is to clear its checkpoint: one that does not is as if killed before.
        (folder / "saving").mkdir()
        with mock.patch.object(Checkpoint, "clear"):
            _align(folder / "saving" / "x", init)
        shutil.rmtree(folder / "saving" / "x")
        if init == "adversarial":  # which keeps the state of each epoch too
            shutil.copytree(folder / "saving", folder / "training")
            (folder / "training" / ".x.checkpoint" / f"start-{init}.npz").unlink()

    return write


def _resumed(init: str) -> Callable[[Path], Iterable[Any]]:
    def read(folder: Path) -> Iterator[Any]:
        _align(folder / "x", init, resume=True)
        space = load_space(folder / "x")
        for language in space.languages:
            yield from (space.vectors(language).matrix, space.side(language).mapping)

    return read


def _recorded(folder: Path) -> None:
    spaces = _spaces()
    for name in spaces:
        (folder / name).mkdir()
        shutil.copy(spaces[name] / MANIFEST, folder / name)
    _searched()


@cache
def _spaces() -> Mapping[str, Path]:
    """Spaces whose manifests have all that a report shows, for as long as the process lasts."""
    folder = Path(tempfile.mkdtemp(prefix="muse-fuzz-spaces-"))
    _align(
        folder / "pairs", "dictionary", dictionary=_inputs() / "pairs", refine=ROUND,
        command=("muse", "align"),
    )  # fmt: skip
    _align(folder / "none", "adversarial", refine=ROUND)
    return {name: folder / name for name in ("none", "pairs")}


@cache
def _searched() -> Facts:
    """The facts of a space, the searches for which its manifest does not change."""
    space = load_space(_spaces()["none"])
    found = gather_facts(space, ReportConfig("fr", "en", Path(), max_vocab=20), space.progress)
    with tempfile.TemporaryDirectory() as folder:  # what is loaded for the first page is not of an input
        write_report(found, Path(folder) / "x.html")
    return found


@contextmanager
def _known() -> Iterator[None]:
    """A block in which a report is not searched for again, and its templates are not compiled again."""
    known = _searched()
    with ExitStack() as stack:
        for name, found in {"survey": known.survey, "draw_picture": known.picture}.items():
            stack.enter_context(mock.patch.object(facts, name, return_value=found))
        stack.enter_context(mock.patch.object(facts, "grouped_pairs"))
        stack.enter_context(mock.patch.object(facts, "hubness", return_value=known.hubness))
        stack.enter_context(mock.patch.object(page, "_environment", _environment))
        yield


_environment = cache(page._environment)


def _recorded_by(folder: Path) -> Space:
    """The space with this manifest, whose other files are good ones."""
    for language in ("en", "fr"):
        (folder / language).symlink_to(_spaces()["none"] / language)
    return load_space(folder, check=False)


def _served(folder: Path) -> Iterable[Any]:
    space = _recorded_by(folder)
    answer = space_answer(space, "x", dict.fromkeys(space.languages, ["a"]))
    json.loads(answer.model_dump_json())
    return ()


def _grown(folder: Path) -> Iterable[Any]:
    _recorded_by(folder)
    with mock.patch("muse.files.space_folder.check_sum"):
        _align(folder / "grown", "identical", language="de", into=folder)
    yield load_space(folder / "grown").vectors("de").matrix


def _report(folder: Path) -> Iterable[Any]:
    loaded = _recorded_by(folder)
    with _known():
        source, target = least_certain_direction(loaded, None, None)
        found = gather_facts(loaded, ReportConfig(source, target, folder, max_vocab=20), loaded.progress)
        write_report(found, folder / "x.html")
    json.dumps({"signature": str(found.signature), **supervision_json(found.records)})
    return ()


def _degenerate(folder: Path) -> None:
    """Two sides without a correspondence, of each kind of the benchmark."""
    for kind in degenerate.KINDS:
        (folder / kind).mkdir()
        for name, rows in zip(
            ("a", "b"), degenerate.vectors(kind, "unrelated", COUNT, 0, 2 * DIMENSION), strict=True
        ):
            words = [f"{name}{row}" for row in range(COUNT)]
            write_npz(folder / kind / f"{name}.npz", words, rows.astype(np.float32))


def _verdict(folder: Path) -> Iterator[Any]:
    """The verdict on the words of one row that are matched as they come, and refined."""
    source, target = (read_vectors(folder / f"{name}.npz", language=name) for name in ("a", "b"))
    check_pair(source, target)
    same = {row.tobytes() for row in source.matrix} & {row.tobytes() for row in target.matrix}
    sides = [normalise_in_place(one, STEPS)[0] for one in (source, target)]
    if sides[0].dimension != sides[1].dimension:
        return
    pair, count = LanguagePair(sides[0], sides[1]), min(map(len, sides))
    first = procrustes(*(one.tensor()[:count] for one in sides)).numpy()
    *_, found = refine(pair, Alignment(first), ROUND, np.random.default_rng(0))
    verdict = judge(pair, found, np.random.default_rng(0))
    assert 0 <= verdict.confidence <= 1
    assert same or verdict.label != "aligned", verdict
    yield verdict.confidence


TARGETS = (
    Target("verdict", _degenerate, _verdict),
    *(Target(f"align.{init}", _interrupted(init), _resumed(init)) for init in ("identical", "adversarial")),
    Target("report", _recorded, _report),
    Target("served", _recorded, _served),
    Target("into", _recorded, _grown),
)
