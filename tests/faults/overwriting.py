"""Overwriting: the files of a space change under a running explorer; every answer is of one whole space."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from muse.files.space_folder import MANIFEST
from muse.files.space_manifest import FILES
from muse.ranking.ranker import translate_words
from muse.space import load_space, save_space
from tests.faults.kills import Report
from tests.faults.serving import running
from tests.support.spaces import PROVENANCE, raw_rows, side_to_save

VERSIONS, WORDS, ASKED = 4, 60, ("fr3", "fr17", "fr41")
PATIENCE = 60  # seconds until a whole copy must be answered from
CHANGED = 409
Found = tuple[str, ...]


def write(folder: Path, version: int) -> None:
    """A space with the words and file sizes of all versions, and vectors of its own."""
    sides = {
        name: side_to_save(name, raw_rows(2 * version + place, WORDS), plain=True)
        for place, name in enumerate(("en", "fr"))
    }
    save_space(folder, sides, pivot="en", provenance=PROVENANCE)


def overwrite_live(rounds: int, folder: Path, drawn: random.Random) -> Report:
    """So many changes of the files under one server, each of another kind, with questions all the while."""
    report, live = Report(), folder / "overwritten" / "space"
    spaces = [folder / "versions" / str(version) for version in range(VERSIONS)]
    for version, path in enumerate(spaces):
        write(path, version)
    right = [
        {word: _words(translate_words(load_space(path), [word], top=5)[0]) for word in ASKED}
        for path in spaces
    ]
    shutil.copytree(spaces[0], live)
    with running(live.parent) as process:
        assert process.stdout is not None
        home = json.loads(process.stdout.readline())["url"]
        for _ in range(rounds):
            version, change = drawn.randrange(VERSIONS), drawn.choice(CHANGES)
            for _ in change(spaces[version], live, drawn):
                _ask(home, right, drawn, report)
            report.counts[change.__name__.strip("_").replace("_", " ")] += 1
            if problem := _settled(home, right[version], process):
                report.wrong.append(f"{change.__name__} with version {version}: {problem}")
            if process.poll() is not None or len(report.wrong) > 20:
                break
    return report


def _copied(space: Path, live: Path, drawn: random.Random) -> Iterator[None]:
    """Each file in turn, as cp -r has it: emptied, then written."""
    for path in _files(space, drawn):
        shutil.copyfile(path, live / path.relative_to(space))
        yield


def _copied_slowly(space: Path, live: Path, drawn: random.Random) -> Iterator[None]:
    """The same, a block at a time, with questions in between."""
    for path in _files(space, drawn):
        content = path.read_bytes()
        with (live / path.relative_to(space)).open("wb", buffering=0) as file:
            for begin in range(0, len(content), max(1, len(content) // 3)):
                file.write(content[begin : begin + max(1, len(content) // 3)])
                yield


def _in_place(space: Path, live: Path, drawn: random.Random) -> Iterator[None]:
    """As rsync --inplace: over what is there."""
    for path in _files(space, drawn):
        with (live / path.relative_to(space)).open("r+b", buffering=0) as file:
            file.write(path.read_bytes())
            file.truncate()
        yield


def _cut_short(space: Path, live: Path, drawn: random.Random) -> Iterator[None]:
    """Files cut short, then copied again."""
    for path in _files(space, drawn):
        os.truncate(live / path.relative_to(space), drawn.randrange(100))
        yield
    yield from _in_place(space, live, drawn)


def _replaced(space: Path, live: Path, drawn: random.Random) -> Iterator[None]:
    """As muse align replaces it."""
    write(live, int(space.name))
    yield


CHANGES: tuple[Callable[[Path, Path, random.Random], Iterator[None]], ...] = (
    _copied, _copied_slowly, _in_place, _cut_short, _replaced,
)  # fmt: skip


def _files(space: Path, drawn: random.Random) -> list[Path]:
    found = sorted(path for path in space.rglob("*") if path.name in (MANIFEST, *FILES))
    return drawn.sample(found, len(found))


def _ask(home: str, right: list[dict[str, Found]], drawn: random.Random, report: Report) -> None:
    """Ask one question; what is answered must be the answer of one version, or a refusal."""
    word = drawn.choice(ASKED)
    status, found = _get(home, word)
    report.counts[f"status {status}"] += 1
    if status == 200 and found not in [one[word] for one in right]:
        report.wrong.append(f"{word}: {found} is of no version")
    elif status not in (200, CHANGED):
        report.wrong.append(f"{word}: status {status}")


def _settled(home: str, right: dict[str, Found], process: subprocess.Popen[str]) -> str:
    """What is wrong with the answers once the files are whole again; empty if nothing is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if all(_get(home, word) == (200, found) for word, found in right.items()):
            return ""
        time.sleep(0.01)
    return "the server ended" if process.poll() is not None else "its answers do not come"


def _get(home: str, word: str) -> tuple[int, Found]:
    """The status, 0 without an answer, and the words of the answer."""
    try:
        with urllib.request.urlopen(f"{home}api/translate?word={word}&top=5", timeout=60) as answer:
            found = json.loads(answer.read())["translations"]
            return answer.status, tuple(one["word"] for one in found)
    except urllib.error.HTTPError as error:
        return error.code, ()
    except OSError:
        return 0, ()


def _words(found: Sequence[tuple[str, float]]) -> Found:
    return tuple(word for word, _ in found)
