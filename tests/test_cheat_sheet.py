"""The cheat sheet: forty-seven wishes, each with one line, and every line does what it says."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.pages import run
from tests.support.server import serving
from tests.test_docs import do_not_wait, published, toy_languages

PAGE = ROOT / "docs" / "pages" / "cheat-sheet.md"
PAIRS = "".join(f"sw{row}\ten{row}\n" for row in range(60))
SENTENCES = {
    "text.fr": "Le roi est dans sa maison.\nLa nuit est noire.\nLa mer est froide.\n",
    "text.en": "The sea is cold.\nThe king is in his house.\nThe night is black.\n",
}
# What is on stdout or in the file that is written; what needs nothing but to end well is not here.
SHOWS = {
    "muse doctor": "threads",
    "muse translate roi": "roi\tking ",
    "muse translate --top 1 roi cheval nuit": "cheval\thorse 0.",
    "muse translate --src en --tgt fr queen": "queen\treine ",
    "muse neighbours roi": "prince",
    'muse translate "Le roi est dans sa maison."': "The king is in his house.",
    "muse translate --answers csls roi": "roi\tking ",
    "muse evaluate --dictionary dictionaries/fr-en.sample.txt": "P@1 = ",
    'space.verdict == "aligned"': "True",
    'space.translate("roi", top=3)': "king",
    'space.neighbours("roi")': "prince",
}


def wishes() -> Iterator[tuple[str, str]]:
    yield from re.findall(r"^\| ([a-z][^|]+) \| `(.+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_forty_seven_each_with_a_line_of_its_own() -> None:
    found = list(wishes())
    assert len(found) == len({line for _, line in found}) == 47
    assert SHOWS.keys() <= {line for _, line in found}


@pytest.fixture
def folder(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder of the tutorial with its space, in which the files that lines name are there."""
    found = tmp_path / "checkout"
    shutil.copytree(checkout, found, symlinks=True)
    toy_languages(found / "embeddings" / "raw")
    for language in ("sw", "en"):
        shutil.copy(found / "embeddings" / "raw" / f"{language}.vec", found / f"my.{language}.vec")
    novel = "".join(f"le roi de la maison {number % 7} est dans la nuit\n" for number in range(3_000))
    other = "".join(f"the king of the house {number % 7} is in the night\n" for number in range(3_000))
    files = {
        **SENTENCES, "pairs.txt": PAIRS, "words.txt": "roi\nnuit\n", "rare.txt": "maisonnette\n",
        "pairs.fr-en.txt": "roi king\nnuit night\nmer sea\n", "novels.fr.txt": novel, "novels.en.txt": other,
    }  # fmt: skip
    for name, text in files.items():
        (found / name).write_text(text, encoding="utf-8")
    shutil.copytree(found / "embeddings" / "aligned" / "fr-en", found / "other")
    monkeypatch.chdir(found)
    return found


@pytest.mark.slow
def test_every_line_does_what_it_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("fastapi", "jinja2", "openpyxl", "pandas", "requests"):
        pytest.importorskip(package)
    do_not_wait(monkeypatch)
    variables: dict[str, Any] = {}
    exec("import muse; space = muse.load('embeddings/aligned/fr-en')", variables)  # noqa: S102 - our own
    with serving(published) as server:
        monkeypatch.setattr("muse.fetch.published.HOME", server.url)
        for _, line in wishes():
            before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
            if line.startswith("muse "):
                printed, told = run(line, monkeypatch)
                assert not told, line
            else:
                printed = str(eval(line, variables))  # noqa: S307 - our own
            assert SHOWS.get(line, "") in printed, line
            changed = {path for path in folder.rglob("*") if before.get(path) != path.stat().st_mtime_ns}
            named = re.search(r"(?:--out |> )(\S+)", line)
            assert named is None or folder / named[1] in changed, line
