"""`muse align` with several languages and `--into`, and what the other commands do with such a space."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.api import run as api
from muse.files.space_folder import write_array
from muse.files.space_manifest import read_manifest
from muse.learn.settings import AlignConfig
from muse.normalise import normalise
from muse.space import load_space
from muse.vectors import Vectors
from tests.support.command import Command, Ended, refused, tree
from tests.support.pages import run
from tests.support.spaces import rotation
from tests.support.toys import DIMENSION, cloud, write_vec

COUNT = 600
LANGUAGES = ("en", "fr", "de", "es")
LONE = {"space", "init", "criterion", "verdict", "confidence", "agreement", "mutual", "unsupervised",
        "expected_p_at_1", "expected_ci95", "seconds", "candidates", "words", "peak_memory_mb", "signature",
        "via", "answers"}  # fmt: skip


SEVERAL = "muse align --init similarity --threads 1 --src fr --src de --tgt en --out several --quiet"
LONELY = "muse align --init similarity --threads 1 --src fr --tgt en --no-reweight --out pair --quiet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of LANG.vec in which word i of each language translates word i of the others, and two spaces.

    `several` is of fr, de and en, `pair` of fr and en.
    """
    folder = tmp_path_factory.mktemp("made")
    rows = cloud(0, COUNT)
    for seed, language in enumerate(LANGUAGES):
        noise = np.random.default_rng(seed).normal(0, 0.05, rows.shape)
        turned = (rows @ rotation(seed, DIMENSION).T + noise).astype(np.float32)
        write_vec(
            folder / f"{language}.vec", Vectors(language, [f"{language}{i}" for i in range(COUNT)], turned)
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUSE_EMBEDDINGS", str(folder))
        patch.chdir(folder)
        for command in (SEVERAL, LONELY):
            printed, failed = run(command, patch)
            assert printed
            assert not failed
    return folder


@pytest.fixture
def files(made: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the same LANG.vec, in which we are."""
    for path in made.glob("*.vec"):
        (here / path.name).symlink_to(path)
    monkeypatch.setenv("MUSE_EMBEDDINGS", str(here))
    return here


@pytest.fixture
def space(made: Path, files: Path) -> Path:
    """The folder `space` beside them: fr, de and en."""
    shutil.copytree(made / "several", files / "space")
    return files / "space"


def align(muse: Command, *arguments: object, init: str = "similarity") -> Ended:
    return muse("align", "--init", init, "--threads", 1, *arguments)


def several(muse: Command, *more: object) -> Ended:
    return align(muse, "--src", "fr", "--src", "de", "--tgt", "en", "--out", "space", *more)


@pytest.mark.slow
def test_the_fields(muse: Command, files: Path) -> None:
    fields = several(muse, "--json").json
    assert fields.keys() == LONE | {"joint", "languages"}
    assert fields["verdict"] == "aligned"
    assert fields["words"] == {"fr": COUNT, "de": COUNT, "en": COUNT}
    assert list(fields["languages"]) == ["fr", "de"]
    for language, own in fields["languages"].items():
        assert own.keys() == LONE
        assert own["signature"].split(" | ")[1] == f"{language}-en"
        assert own["words"] == {language: COUNT, "en": COUNT}
    assert fields["confidence"] == min(own["confidence"] for own in fields["languages"].values())
    assert fields["joint"] is None
    assert align(muse, "--src", "fr", "--tgt", "en", "--json").json.keys() == LONE
    assert (files / "embeddings" / "aligned" / "fr-en" / "manifest.json").exists()


def test_the_space(space: Path) -> None:
    loaded = load_space(space)
    assert loaded.languages == ("fr", "de", "en")
    entries = loaded.manifest.languages
    for language in ("fr", "de"):
        assert entries[language].method == "similarity"
        assert entries[language].verdict.label == "aligned"
        assert 0.5 < (entries[language].criterion or 0) <= 1
    assert loaded.manifest.mapping == "orthogonal"
    assert loaded.manifest.settings["reweight"] is False
    np.testing.assert_array_equal(loaded.side("en").mapping, np.eye(DIMENSION, dtype=np.float32))


@pytest.mark.slow
def test_every_language_as_if_it_had_been_the_only_one(muse: Command, files: Path, space: Path) -> None:
    align(muse, "--src", "de", "--tgt", "en", "--no-reweight", "--out", "lone")
    lone, both = tree(files / "lone" / "de"), tree(space / "de")
    assert lone == both


@pytest.mark.slow
def test_shown_without_json(muse: Command, files: Path) -> None:
    out = several(muse, "-q").out.splitlines()
    assert out[0] == "space           space"
    languages = [line.split()[1] for line in out if line.startswith("language ")]
    assert languages == ["fr", "de"]
    assert sum(line.startswith("verdict         aligned") for line in out) == 2
    assert out[-1].startswith("time")


@pytest.mark.parametrize(("source", "target"), [("fr", "de"), ("de", "fr"), ("en", "de"), ("de", "en")])
def test_any_two_languages_are_used(muse: Command, space: Path, source: str, target: str) -> None:
    gold = space.parent / "gold.txt"
    gold.write_text("".join(f"{source}{i} {target}{i}\n" for i in range(0, COUNT, 9)))
    direction = ("--src", source, "--tgt", target, "--json")
    score = muse("evaluate", "space", "--dictionary", gold, *direction).json
    assert score["p_at_1"] > 90
    assert f" | {source}-{target} | " in score["signature"]
    found = muse("translate", "space", f"{source}7", *direction).json["translations"]
    assert found[f"{source}7"][0][0] == f"{target}7"
    assert muse("induce", "space", "--out", "pairs.txt", "--mutual", *direction).json["pairs"] > 0.9 * COUNT


@pytest.mark.usefixtures("space")
def test_no_direction_to_guess_or_a_language_that_is_not_there(muse: Command) -> None:
    refused(
        muse("translate", "space", "fr7"), "this space has fr, de besides en; choose one with --src or --tgt"
    )
    refused(muse("translate", "space", "x", "--src", "it", "--tgt", "en"), "are fr, de, en; got 'it'")


@pytest.mark.slow
def test_joint(muse: Command, files: Path) -> None:
    fields = several(muse, "--joint", "--json").json
    assert fields["joint"]["pairs"].keys() == {"fr-de", "fr-en", "de-en"}
    assert fields["seconds"]["joint"] > 0
    manifest = load_space("space").manifest
    assert manifest.joint == fields["joint"]
    assert manifest.settings["joint"] is True
    np.testing.assert_array_equal(load_space("space").side("en").mapping, np.eye(DIMENSION, dtype=np.float32))
    assert "joint           " in several(muse, "--joint", "-q").out


@pytest.mark.slow
@pytest.mark.parametrize("out", [["--out", "more"], []])
def test_a_language_added_later(muse: Command, files: Path, space: Path, out: list[str]) -> None:
    before = tree(space)
    fields = align(muse, "--src", "es", "--into", "space", "--json", *out).json
    assert fields.keys() == LONE
    assert fields["space"] == (out[-1] if out else "space")
    assert fields["words"] == {"es": COUNT, "en": COUNT}
    after = tree(files / fields["space"])
    assert all(after[name] == data for name, data in before.items() if name != "manifest.json")
    assert load_space(fields["space"]).languages == ("fr", "de", "en", "es")
    direction = ("--src", "es", "--tgt", "fr", "--json")
    found = muse("translate", fields["space"], "es7", *direction).json["translations"]["es7"]
    assert found[0][0] == "fr7"
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_two_added_at_once(muse: Command, made: Path, files: Path) -> None:
    shutil.copytree(made / "pair", files / "space")
    fields = align(muse, "--src", "es", "--src", "de", "--into", "space", "--tgt", "en", "--json").json
    assert list(fields["languages"]) == ["es", "de"]
    assert load_space("space").languages == ("fr", "en", "es", "de")


@pytest.mark.slow
def test_a_language_added_meets_the_pivot_where_the_space_has_moved_it(muse: Command, space: Path) -> None:
    # The pivot's rows as re-weighting would leave them: stressed, then of unit length.
    stress = np.diag(np.linspace(1, 0.6, DIMENSION)).astype(np.float32)
    stress = (rotation(3, DIMENSION) @ stress @ rotation(3, DIMENSION).T).astype(np.float32)
    moved = normalise(load_space(space).vectors("en").matrix @ stress.T, ["unit"])[0]
    write_array(space / "en" / "vectors.npy", moved.shape, [moved])
    write_array(space / "en" / "mapping.npy", stress.shape, [stress])
    manifest = read_manifest(space)
    replace(manifest, mapping="linear").write(space)
    assert align(muse, "--src", "es", "--into", "space").code == 0
    grown = load_space(space)
    np.testing.assert_array_equal(grown.vectors("en").matrix, moved)
    own = grown.side("es").mapping.astype(float)
    np.testing.assert_allclose(own @ own.T, np.eye(DIMENSION), atol=1e-5)
    found = muse("translate", "space", "es7", "es70", "--src", "es", "--json").json["translations"]
    assert [found[word][0][0] for word in ("es7", "es70")] == ["en7", "en70"]
    assert grown.manifest.mapping == "linear"


BAD: dict[str, tuple[list[object], list[str]]] = {
    "twice": (["--src", "fr", "--src", "fr", "--tgt", "en"], ["different language, got 'fr' twice"]),
    "itself": (["--src", "fr", "--src", "en", "--tgt", "en"], ["'en' twice; change one"]),
    "files": (["--src", "fr", "--src", "de", "--tgt", "en", "--src-emb", "fr.vec"], ["2 languages", "got 1"]),
    "reweight": (
        ["--src", "fr", "--src", "de", "--tgt", "en", "--reweight"],
        ["--reweight moves the target"],
    ),
    "reweight into": (["--src", "es", "--into", "space", "--reweight"], ["--reweight moves the target"]),
    "joint alone": (["--src", "fr", "--tgt", "en", "--joint"], ["--joint needs at least two --src"]),
    "joint into": (["--src", "es", "--src", "de", "--into", "space", "--joint"], ["no --into"]),
    "there already": (["--src", "fr", "--into", "space"], ["has fr, en", "got 'fr'"]),
    "other pivot": (["--src", "es", "--into", "space", "--tgt", "fr"], ["pivot en, got --tgt fr"]),
    "target file": (["--src", "es", "--into", "space", "--tgt-emb", "en.vec"], ["omit --tgt-emb"]),
    "no space": (["--src", "es", "--into", "nowhere"], ["nowhere: expected an aligned space"]),
    "no vectors": (["--src", "fr", "--src", "xx", "--tgt", "en"], ["no vectors for 'xx'"]),
    "small": (["--src", "fr", "--src", "few", "--tgt", "en"], ["few: at least 500 words", "got 499"]),
    "max-vocab": (
        ["--src", "es", "--into", "space", "--max-vocab", 99],
        ["--max-vocab must be at least 500", "got 99; raise it"],
    ),
    "resume": (["--src", "es", "--into", "space", "--resume"], ["--resume needs the checkpoints"]),
    "dictionary": (
        ["--src", "fr", "--src", "de", "--tgt", "en", "--dictionary", "gold.txt"],
        ["needs a single --src, got 2"],
    ),
}
WRONG_USAGE = (
    "twice", "itself", "files", "reweight", "reweight into", "joint alone", "joint into", "target file",
    "dictionary",
)  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(muse: Command, made: Path, files: Path, name: str) -> None:
    arguments, parts = BAD[name]
    shutil.copytree(made / "pair", files / "space")
    rows = cloud(0, 499)
    write_vec(files / "few.vec", Vectors("few", [f"x{i}" for i in range(499)], rows))
    before = tree(files)
    refused(align(muse, *arguments), *parts, code=2 if name in WRONG_USAGE else 1)
    assert tree(files) == before


@pytest.mark.slow
def test_one_that_failed_is_the_verdict_on_all(muse: Command, files: Path) -> None:
    rows = np.random.default_rng(5).normal(size=(COUNT, DIMENSION)).astype(np.float32)
    write_vec(files / "noise.vec", Vectors("noise", [f"x{i}" for i in range(COUNT)], rows))
    ended = align(muse, "--src", "fr", "--src", "noise", "--tgt", "en", "--out", "space", "--json")
    assert ended.code == 3
    fields = json.loads(ended.out)
    assert fields["verdict"] == fields["languages"]["noise"]["verdict"] == "failed"
    assert fields["languages"]["fr"]["verdict"] == "aligned"
    assert load_space("space").manifest.verdict.label == "failed"


@pytest.mark.slow
def test_resumed_per_language(
    muse: Command, files: Path, space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tree(space)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(api, "save_space", killed)
        assert align(muse, "--src", "fr", "--src", "de", "--tgt", "en", "--out", "again").code == 130
    kept = {path.parent.name for path in (files / ".again.checkpoint").rglob("*.npz")}
    assert kept == {"fr", "de"}
    arguments = ["--src", "fr", "--src", "de", "--tgt", "en", "--out", "again", "--resume"]
    refused(align(muse, *arguments, "--no-refine"), "settings of the killed run")
    assert align(muse, *arguments).code == 0
    again = tree(files / "again")
    assert {name: data for name, data in again.items() if name != "manifest.json"} == {
        name: data for name, data in whole.items() if name != "manifest.json"
    }
    assert not (files / ".again.checkpoint").exists()


@pytest.mark.slow
def test_from_python(files: Path) -> None:
    config = AlignConfig(init="similarity", rounds=())
    space = api.align(["fr", "de"], "en", config=config)
    assert space.languages == ("fr", "de", "en")
    assert (files / "embeddings" / "aligned" / "fr-de-en").is_dir()
    grown = api.align(
        "es", into=files / "embeddings" / "aligned" / "fr-de-en", config=replace(config, seed=1)
    )
    assert grown.languages == ("fr", "de", "en", "es")


def test_a_language_that_fails_is_reported_and_the_others_are_saved(muse: Command, files: Path) -> None:
    lines = (files / "de.vec").read_text(encoding="utf-8").splitlines()
    spelt_alike = [line.replace("de", "en", 1) for line in lines]
    (files / "es.vec").unlink()
    (files / "es.vec").write_text("\n".join(spelt_alike) + "\n", encoding="utf-8")
    both = ["--src", "fr", "--src", "es", "--tgt", "en", "--out", "space", "--json"]
    ended = align(muse, *both, init="identical")
    assert ended.code == 1
    for part in ("fr into en", "got 0", "es saved in space without fr", "--into space"):
        assert part in ended.err
    assert (ended.json["verdict"], ended.json["words"]) == ("aligned", {"es": COUNT, "en": COUNT})
    assert load_space("space").languages == ("es", "en")
    assert not (files / ".space.checkpoint").exists()
