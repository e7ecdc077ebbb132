"""Pipelines by name, folder, wheel and sdist: the same vectors; what is none of them is refused."""

import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.errors import BadFile
from muse.files import read_vectors
from muse.files.source import FREE
from muse.files.vectors.spacy import find_vectors
from tests.support.pipelines import of_words, packaged, random_rows, sdist, wheel

WORDS = ["le", "la", "été", "chat"]
ROWS = random_rows(4)


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    return of_words(tmp_path / "made", WORDS, ROWS)


def check(path: Path | str) -> None:
    read = read_vectors(path, language="fr")
    assert list(read.words) == WORDS
    np.testing.assert_array_equal(read.matrix, ROWS)


def test_a_folder_a_package_and_their_archives_are_the_same(tmp_path: Path, pipeline: Path) -> None:
    package = packaged(tmp_path / "site", pipeline)
    check(pipeline)
    check(package)
    check(wheel(tmp_path / "toy.whl", package))
    check(sdist(tmp_path / "toy.tar.gz", package))
    with zipfile.ZipFile(tmp_path / "bare.zip", "w") as archive:
        for file in pipeline.rglob("*"):
            archive.write(file, file.relative_to(pipeline))
    check(tmp_path / "bare.zip")


@pytest.mark.parametrize("form", [wheel, sdist])
def test_an_archive_made_to_fill_the_disk_is_refused(tmp_path: Path, pipeline: Path, form: Any) -> None:
    (pipeline / "vocab" / "vectors").write_bytes(bytes(FREE + 1))
    archive = form(tmp_path / "toy", packaged(tmp_path / "site", pipeline))
    with pytest.raises(BadFile, match="grows at most 100 times"):
        read_vectors(archive, language="fr")


def test_the_name_of_an_installed_pipeline(
    tmp_path: Path, pipeline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged(tmp_path / "site", pipeline)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "site")
    check("xx_toy_md")
    assert "xx_toy_md" not in sys.modules
    assert find_vectors(Path("xx_toy_md")).name == "xx_toy_md-1.0.0"


def test_a_path_comes_before_a_name(tmp_path: Path, pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged(tmp_path / "site", pipeline)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "site")
    of_words(tmp_path / "xx_toy_md", ["other"], random_rows(1))
    assert read_vectors("xx_toy_md", language="fr").words == ("other",)


@pytest.mark.parametrize("name", ["xx_none_md", "json", "numpy", "__main__"])
def test_a_name_that_is_no_pipeline(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadFile, match=f"^{name}: expected a file, a folder or the name of an"):
        read_vectors(name, language="fr")


def test_other_names_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadFile, match="no.vec: expected a file, but it does not exist"):
        read_vectors("no.vec", language="fr")


def test_several_pipelines_in_a_folder(tmp_path: Path) -> None:
    for name in ("en", "fr"):
        of_words(tmp_path / "both" / name, WORDS, ROWS)
    with pytest.raises(BadFile, match=r"expected one spaCy pipeline, .* got 2 \(en, fr\)"):
        read_vectors(tmp_path / "both", language="fr")
    wheel(tmp_path / "both.whl", tmp_path / "both")
    with pytest.raises(BadFile, match=r"got 2 \(en, fr\)"):
        read_vectors(tmp_path / "both.whl", language="fr")


def test_archives_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("chat 1 2\n")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.txt", "a.txt")
    assert read_vectors(tmp_path / "a.tar.gz", language="fr").words == ("chat",)


def test_members_that_lead_elsewhere_are_not_written_there(tmp_path: Path, pipeline: Path) -> None:
    with tarfile.open(tmp_path / "toy.tar", "w") as archive:
        for file in sorted((pipeline / "vocab").iterdir()):
            archive.add(file, f"../../outside/vocab/{file.name}")
        link = tarfile.TarInfo("vocab/vectors")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    check(tmp_path / "toy.tar")
    assert not (tmp_path.parent / "outside").exists()


@pytest.mark.parametrize("part", [0.3, 0.7, 0.99])
@pytest.mark.parametrize("make", [wheel, sdist])
def test_an_archive_that_is_cut_off(tmp_path: Path, pipeline: Path, make: object, part: float) -> None:
    path = {wheel: tmp_path / "toy.whl", sdist: tmp_path / "toy.tar.gz"}[make]  # type: ignore[index]
    content = make(path, packaged(tmp_path / "site", pipeline)).read_bytes()  # type: ignore[operator]
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(BadFile) as caught:
        read_vectors(path, language="fr")
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: expected ")


def test_nothing_is_left_behind(tmp_path: Path, pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = wheel(tmp_path / "toy.whl", packaged(tmp_path / "site", pipeline))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    check(path)
    assert not list((tmp_path / "temporary").iterdir())
