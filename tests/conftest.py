"""Fixtures of several test files, how processes share the tests, and what may be left out where."""

import gc
import os
import re
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# One thread, here and in the processes that tests start: where other work keeps the cores busy, threads
# that wait for each other make small matrices fifty times as slow. Set before torch and faiss are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Ray's workers give way to everything else: beside the other tests they would hardly run.
os.environ.setdefault("RAY_worker_niceness", "0")

from tests.support.browser import browser, home, visit  # noqa: E402, F401 - fixtures
from tests.support.command import Command  # noqa: E402
from tests.support.pages import Reader  # noqa: E402
from tests.support.toys import raw_pair, write_vec  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]


# Files of tests that go to one process, by what they share: the aligned sample takes long to make, a server
# of forks imports torch once, and a library takes six seconds to import.
TOGETHER = {
    "sample": "checkout: Path",
    "forks": "run_together(",
    "encoders": 'importorskip("sentence_transformers"',
}
_TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in Path(__file__).parent.rglob("test_*.py")
}
GROUPS = {name: group for name, text in _TEXTS.items() for group, sign in TOGETHER.items() if sign in text}
# Files whose tests are all slow: each process would import what they need, Ray say, to leave them out.
_ALL_SLOW = re.compile(r"^pytestmark = .*(?:mark\.slow|MARKS)", re.MULTILINE)
SLOW = {name for name, text in _TEXTS.items() if _ALL_SLOW.search(text)}

# What a run where CI is "true" may lack; anything else it installs, or fails.
MAY_LACK = ("needs ../shared", "GPU")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Does not import files of slow tests alone where the usual tests run, unless files are named."""
    everything = config.args == config.getini("testpaths")
    if everything and "not slow" in config.option.markexpr and collection_path.is_relative_to(ROOT):
        return collection_path.relative_to(ROOT).as_posix() in SLOW or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped has failed where CI is "true"."""
    report = yield
    _refuse_skips(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same of a whole file of tests."""
    report = yield
    _refuse_skips(report)
    return report


def _refuse_skips(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("CI") == "true" and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if not any(part in reason for part in MAY_LACK):
            report.outcome = "failed"
            report.longrepr = f'{reason}\nWhere CI is "true" nothing may be skipped: install what is missing.'


def pytest_collection_finish() -> None:
    """The collector of garbage leaves out what is there by now: libraries, and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before slow ones are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what follows the tutorial as slow, and puts first what takes long: it must not come last."""
    for item in items:
        if "checkout" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    slow = {_file(item.nodeid) for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: _place(_file(item.nodeid), slow))


def _place(file: str, slow: set[str]) -> tuple[bool, ...]:
    # A cluster is waited for: other tests must be left to run meanwhile.
    return (
        GROUPS.get(file) != "sample",
        not file.startswith("tests/cluster"),
        file not in GROUPS,
        file not in slow,
    )


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process has all tests of a group; of the others each file goes to a process as a whole."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return GROUPS.get(file, file)

    return ByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which we are."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def muse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The `muse` command, run in this process."""
    return Command(monkeypatch, capsys)


@pytest.fixture
def shared() -> Path:
    """The maintainers' evaluation data; a user's clone has none."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("needs ../shared, the maintainers' evaluation data")
    return folder


@pytest.fixture(scope="session")
def without_slow(request: pytest.FixtureRequest) -> bool:
    """Whether the slow tests are left out, and what is made for the others may be smaller."""
    return "not slow" in request.config.option.markexpr


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Somebody who has followed the tutorial, in a folder with the samples of a checkout.

    That takes half a minute: whatever uses it is slow.
    """
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "embeddings").mkdir()
    (folder / "embeddings" / "sample").symlink_to(ROOT / "embeddings" / "sample")
    (folder / "dictionaries").mkdir()
    shutil.copy(ROOT / "dictionaries" / "fr-en.sample.txt", folder / "dictionaries")
    found = Reader(folder)
    found.follow(ROOT / "docs" / "pages" / "tutorial.md")
    return found


@pytest.fixture(scope="session")
def checkout(reader: Reader) -> Path:
    """The folder in which the tutorial was followed."""
    return reader.folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with fr.vec and en.vec, good ones of 600 words."""
    source, target, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    write_vec(tmp_path / "en.vec", target)
    return tmp_path
