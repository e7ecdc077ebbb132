"""muse.align: what a caller gives it, and what it returns."""

from __future__ import annotations

from pathlib import Path

import pytest

import muse
from muse.api.request import Request
from muse.errors import BadFile, BadSetting
from tests.toys import raw_pair, write_vec


@pytest.mark.parametrize("kind", [str, Path])
def test_files_are_paths_or_strings(tmp_path: Path, kind: type) -> None:
    source, target, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    write_vec(tmp_path / "en.vec", target)
    sources, out = [kind(tmp_path / "fr.vec")], kind(tmp_path / "space")
    space = muse.align(["fr"], "en", source_file=sources, target_file=kind(tmp_path / "en.vec"), out=out)
    assert space.languages == ("fr", "en")
    assert space.manifest["verdict"]["label"] == "aligned"
    assert muse.load_space(out).manifest == space.manifest


def test_a_target_or_a_space_to_add_to_is_needed() -> None:
    with pytest.raises(BadSetting, match="--tgt LANG or --into SPACE is needed, got neither"):
        Request("fr").check()
    Request("fr", "en").check()
    Request("fr", into=Path("space")).check()


def test_one_language_for_detours_may_be_a_string(tmp_path: Path) -> None:
    source, target, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    write_vec(tmp_path / "en.vec", target)
    with pytest.raises(BadFile, match=r"de\.vec: expected a file"):
        muse.align("fr", "en", via="de", via_file=[tmp_path / "de.vec"], source_file=tmp_path / "fr.vec",
                   target_file=tmp_path / "en.vec", out=tmp_path / "space")  # fmt: skip


def test_the_vectors_of_a_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")
    from tests.pipelines import of_words, packaged

    source, target, _ = raw_pair()
    made = of_words(tmp_path / "made", source.words, source.matrix)
    packaged(tmp_path / "site", made)
    write_vec(tmp_path / "en.vec", target)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tmp_path)
    by_name, by_folder = (
        muse.align("fr", "en", source_file=given, target_file="en.vec", out=out)
        for given, out in (("xx_toy_md", "by-name"), (made, "by-folder"))
    )
    assert by_name.manifest["verdict"]["label"] == "aligned"
    assert list(by_name.vectors("fr").words) == list(source.words)
    files = [space.manifest["languages"]["fr"]["files"] for space in (by_name, by_folder)]
    assert Path(files[0][0]["path"]).name == "xx_toy_md-1.0.0"
    assert files[0][0]["sha256"] == files[1][0]["sha256"]


def test_the_words_of_vectors_that_are_composed_of_ngrams(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")
    from tests.pipelines import of_ngrams, random_rows

    _, target, _ = raw_pair()
    made = of_ngrams(tmp_path / "made", ["chat"], random_rows(5_000, target.dimension))
    listed = [f"mot{row}" for row in range(600)]
    (tmp_path / "words.txt").write_text("\n".join(listed) + "\n\n")
    write_vec(tmp_path / "en.vec", target)
    files = {"source_file": made, "target_file": tmp_path / "en.vec", "out": tmp_path / "space"}
    space = muse.align("fr", "en", source_words=tmp_path / "words.txt", **files)
    assert list(space.vectors("fr").words) == listed
    assert [Path(file["path"]).name for file in space.manifest["languages"]["fr"]["files"]] == [
        "made",
        "words.txt",
    ]
    with pytest.raises(BadSetting, match="a list of words is for vectors composed of n-grams"):
        muse.align("fr", "en", target_words=tmp_path / "words.txt", **files)
    with pytest.raises(BadSetting, match="--src-words needs a single --src, got 2"):
        muse.align(["fr", "de"], "en", source_words=tmp_path / "words.txt")
    with pytest.raises(BadSetting, match="omit --tgt-words"):
        muse.align("de", into=tmp_path / "space", target_words=tmp_path / "words.txt")


WEIGHTS = "the third column, from 0 to 1, is read as the weights of the pairs"
IGNORED = "the third column is no weight, since it is not from 0 to 1: all pairs count alike"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("fr1\ten1\t0\nfr2\ten2\t1\n", WEIGHTS),
        ("fr1\ten1\t0.5\nfr2\ten2\t1.01\n", IGNORED),
        ("fr1\ten1\t-0.1\n", IGNORED),
        ("fr1 en1\n", None),
        ("source\ttarget\tscore\tprobability\nfr1\ten1\t0.5\t0.9\n", None),  # named, as what it is
    ],
)
def test_what_a_third_column_is_read_as(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, lines: str, told: str | None
) -> None:
    (tmp_path / "pairs.txt").write_text(lines)
    files = {name: tmp_path / "none.vec" for name in ("source_file", "target_file")}
    caplog.set_level("INFO", "muse.api.run")
    with pytest.raises(BadFile, match=r"none\.vec"):  # it is told before anything else is read
        muse.align("fr", "en", dictionary=tmp_path / "pairs.txt", out=tmp_path / "space", **files)
    named = [message for message in caplog.messages if "third column" in message]
    assert named == ([] if told is None else [f"{tmp_path / 'pairs.txt'}: {told}"])
