"""Where vectors are looked for, in which order, and what is said when there are none."""

from pathlib import Path

import pytest

from muse.errors import BadFile
from muse.files.vectors import locate
from muse.files.vectors.locate import locate_vectors, search_path


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that are searched, in order, all of them empty."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    named = [tmp_path / "one", tmp_path / "two"]
    monkeypatch.setenv("MUSE_EMBEDDINGS", ":".join(map(str, named)))
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "sample")
    found = [Path("embeddings"), Path("embeddings/raw"), *named, tmp_path / "sample"]
    for folder in found:
        folder.mkdir()
    return found


def test_first_come_first_served(folders: list[Path]) -> None:
    for folder in reversed(folders):
        (folder / "fr.vec").touch()
        assert locate_vectors("fr") == folder / "fr.vec"


@pytest.mark.parametrize(
    "name", ["fr.vec", "fr.vec.gz", "fr.txt", "fr.bin", "fr.npz", "wiki.fr.vec", "cc.fr.300.vec.gz"]
)
def test_every_usual_name(folders: list[Path], name: str) -> None:
    (folders[0] / name).touch()
    assert locate_vectors("fr") == folders[0] / name


def test_a_folder_or_another_language_is_no_file(folders: list[Path]) -> None:
    (folders[0] / "fr.vec").mkdir()
    (folders[0] / "fra.vec").touch()
    with pytest.raises(BadFile, match=r"no vectors for 'fr': expected a file such as fr\.vec") as caught:
        locate_vectors("fr")
    for folder in folders:
        assert str(folder) in str(caught.value)
    assert "--src-emb" in str(caught.value)
    assert "MUSE_EMBEDDINGS" in str(caught.value)
    assert "download published vectors: muse fetch vectors fr" in str(caught.value)


def test_the_sample_of_the_checkout_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    assert locate_vectors("fr").name == "fr.vec.gz"


def test_without_a_checkout_nothing_is_said_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MUSE_EMBEDDINGS", raising=False)
    monkeypatch.setattr(locate, "SAMPLE", tmp_path / "site-packages" / "embeddings" / "sample")
    with pytest.raises(BadFile, match="no vectors for 'fr'") as caught:
        locate_vectors("fr")
    assert "site-packages" not in str(caught.value)
    assert search_path() == [Path("embeddings"), Path("embeddings/raw")]
