"""What a space was made of: one that was made otherwise is replaced only if that is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

import muse as package
from muse.errors import BadSetting
from tests.support.command import Command, align_arguments, refused, refused_leaving


def quick(files: Path, *more: object, source: str = "fr.vec") -> list[object]:
    """An alignment of a second."""
    plain = ["--init", "similarity", "--no-refine", "--answers", "csls", "-q"]
    return align_arguments(files / source, files / "en.vec", files / "out", *plain, *more)


@pytest.mark.slow
def test_a_space_made_otherwise_is_replaced_only_if_asked(muse: Command, files: Path) -> None:
    assert muse(*quick(files)).code in (0, 3)
    made = (files / "out" / "manifest.json").stat().st_mtime_ns
    assert muse(*quick(files)).code in (0, 3)  # the same again
    again = (files / "out" / "manifest.json").stat().st_mtime_ns
    assert again != made  # it was replaced
    (files / "other.vec").write_text((files / "fr.vec").read_text().replace("fr1 ", "fr01 ", 1))
    refined = [one for one in quick(files) if one != "--no-refine"]
    otherwise = "out has a space that was made otherwise: "
    for arguments, differ in (
        (quick(files, "--seed", 2), "--seed 0 (now 2); give --force to replace it, or another --out"),
        (quick(files, "--init", "identical"), "--init similarity (now identical)"),
        (refined, "--refine no (now full)"),
        (quick(files, "--max-vocab", 550, "--lower"), "--max-vocab none (now 550); --lower no (now yes);"),
        (quick(files, source="other.vec"), "other vectors of fr; give --force"),
        (
            ["align", "--src", "fr", "--tgt", "de", "--src-emb", files / "fr.vec", "--tgt-emb",
             files / "en.vec", "--out", files / "out", *quick(files)[-6:]],
            "its languages fr, en with the pivot en;",
        ),
    ):  # fmt: skip
        refused_leaving(files, muse, arguments, otherwise, differ)
    assert muse(*quick(files, "--seed", 2, "--force")).code in (0, 3)
    assert json.loads((files / "out" / "manifest.json").read_bytes())["seed"] == 2
    refused(muse(*quick(files)), "--seed 2 (now 0)")


@pytest.mark.slow
def test_pairs_to_learn_from_are_an_input(muse: Command, files: Path) -> None:
    for name, count in (("a.txt", 60), ("b.txt", 61)):
        (files / name).write_text("".join(f"fr{row} en{row}\n" for row in range(count)))
    learn = align_arguments(files / "fr.vec", files / "en.vec", files / "out", "--init", "dictionary", "-q")
    learn += ["--no-refine", "--answers", "csls", "--dictionary"]
    for name in ("a.txt", "a.txt"):
        assert muse(*learn, files / name).code == 0
    differ = "another --dictionary, --via, --text-pairs, or source of help (--encoder, --help-from ...); give"
    refused(muse(*learn, files / "b.txt"), f"made otherwise: {differ}")


@pytest.mark.slow
def test_a_space_that_grows_is_replaced(muse: Command, files: Path) -> None:
    assert muse(*quick(files)).code in (0, 3)
    grow = [
        "align",
        "--src",
        "de",
        "--src-emb",
        files / "fr.vec",
        "--into",
        files / "out",
        *quick(files)[-6:],
    ]
    assert muse(*grow).code in (0, 3)
    assert set(json.loads((files / "out" / "manifest.json").read_bytes())["languages"]) == {"fr", "en", "de"}
    refused(muse(*quick(files)), "its languages fr, en, de with the pivot en")
    grow[1:3] = ["--src", "it"]
    other = [*grow, "--out", files / "other"]
    assert [muse(*other).code in (0, 3) for _ in range(2)] == [True, True]
    other[4] = files / "en.vec"
    refused(muse(*other), "made otherwise: other vectors of it")


@pytest.mark.slow
def test_python_asks_too(files: Path) -> None:
    settings: dict[str, Any] = {"init": "similarity", "refine": False, "answers": "csls", "quiet": True}
    settings |= {"out": files / "out", "src_emb": files / "fr.vec", "tgt_emb": files / "en.vec"}
    package.align("fr", "en", **settings)
    with pytest.raises(BadSetting, match="made otherwise: seed 0 .now 5.; give force"):
        package.align("fr", "en", **settings, seed=5)
    assert package.align("fr", "en", **settings, seed=5, force=True).manifest.seed == 5
