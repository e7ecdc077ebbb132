"""muse.align: what a caller gives it, what it returns, and how it chooses answers by all the evidence."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import muse
from muse.alignment import Alignment
from muse.api.answers import known_pairs
from muse.api.inputs import _are_the_same, read_dictionary
from muse.api.run import run
from muse.api.settings import check, settings_of
from muse.embedding.training import Embedded
from muse.errors import BadFile, BadSetting, Contradiction
from muse.learn import auto
from muse.learn.pair import LanguagePair
from muse.learn.settings import AlignConfig, AlignOptions
from muse.learn.supervise.cross_validation import HeldOutMaps
from muse.learn.supervise.training_pairs import Maps
from muse.options import options_of
from muse.progress import Progress
from muse.vectors import Matrix, Vectors
from tests.support.made_up_pair import Made, made_up
from tests.support.references import Rows, csls, csls_pairs, unit
from tests.support.toys import raw_pair, write_vec


@pytest.mark.slow
@pytest.mark.parametrize("kind", [str, Path])
def test_files_are_paths_or_strings(tmp_path: Path, kind: type) -> None:
    source, target, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    write_vec(tmp_path / "en.vec", target)
    sources, out = [kind(tmp_path / "fr.vec")], kind(tmp_path / "space")
    space = muse.align(["fr"], "en", src_emb=sources, tgt_emb=kind(tmp_path / "en.vec"), out=out)
    assert space.languages == ("fr", "en")
    assert space.manifest.verdict.label == "aligned"
    loaded = muse.load_space(out)
    assert loaded.manifest == space.manifest
    assert (space.folder, space.device) == (loaded.folder, loaded.device)
    for language in space.languages:
        one, other = space.side(language), loaded.side(language)
        assert list(one.vectors.words) == list(other.vectors.words)
        np.testing.assert_array_equal(one.vectors.matrix, other.vectors.matrix)
        np.testing.assert_array_equal(one.mapping, other.mapping)
        assert one.normalisation.steps == other.normalisation.steps
    space.by_csls().translate("fr7")
    kept = list(Path(out).glob("*/hubness.*.npy"))
    assert len(kept) == 2  # found once, in the folder
    assert loaded.hubness("en", "fr") is not None


def test_what_was_made_is_not_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target, _ = raw_pair()
    files: dict[str, Any] = {
        f"{name}_emb": write_vec(tmp_path / f"{side.language}.vec", side)
        for name, side in (("src", source), ("tgt", target))
    }
    monkeypatch.setattr("muse.api.run.load_space", None)
    monkeypatch.setattr("muse.files.space_folder.check_sum", None)
    space = muse.align("fr", "en", init="similarity", out=tmp_path / "space", **files)
    assert space.languages == ("fr", "en")


def test_a_target_or_a_space_to_add_to_is_needed() -> None:
    with pytest.raises(BadSetting, match="--tgt LANG or --into SPACE is needed, got neither"):
        check(AlignConfig(src=("fr",)))
    check(AlignConfig(src=("fr",), tgt="en"))
    check(AlignConfig(src=("fr",), into=Path("space")))


def test_values_become_those_of_the_fields() -> None:
    flat = settings_of(src="fr", tgt="en", src_emb="fr.vec", lower=True, max_vocab=np.int64(600),
                       dictionary="d.tsv", out=None, via="de", normalise="centre, unit")  # fmt: skip
    assert flat == AlignConfig(src=("fr",), tgt="en", src_emb=(Path("fr.vec"),), dictionary=Path("d.tsv"),
                               max_vocab=600, lower=True, via=("de",),
                               normalise=("centre", "unit"))  # fmt: skip
    pair = AlignConfig(src=("fr",), tgt="en")
    assert settings_of(src=["fr"], tgt="en") == pair
    unrefined = replace(pair, refine=False)
    assert settings_of(src="fr", tgt="en", refine=False) == unrefined
    assert settings_of(unrefined, refine=True) == pair == settings_of(unrefined, refine="full")


def test_a_recipe_gives_way_to_options_beside_it() -> None:
    recipe = settings_of(src="fr", tgt="en", recipe="muse")
    parts: dict[str, Any] = {"normalise": "none", "init": "adversarial-paper", "refine": "plain",
                             "reweight": False, "answers": "csls", "backend": "faiss"}  # fmt: skip
    assert replace(recipe, recipe=None) == settings_of(src="fr", tgt="en", **parts)
    other = settings_of(src="fr", tgt="en", recipe="muse", refine=False, normalise="unit")
    assert other == replace(recipe, refine=False, normalise=("unit",))
    assert settings_of(AlignConfig(init="gromov"), recipe="muse").init == recipe.init


class Played:
    """An initialisation that keeps what it was given and finds about the planted rotation."""

    def __init__(self, turn: Matrix) -> None:
        noise = np.random.default_rng(0).normal(0, 0.1, turn.shape)
        left, _, right = np.linalg.svd(turn + noise)
        self.found, self.given = np.asarray(left @ right, np.float32), list[Matrix]()

    def __call__(self, pair: LanguagePair, *_: Any) -> Iterator[Alignment]:
        self.given = [side.fitted() for side in pair.sides]
        yield Alignment(self.found, method="adversarial:paper")


def csls_cosine(x: Rows, y: Rows) -> float:
    """The mean cosine of each row to its best by CSLS."""
    return float((x * y[csls(x, y).argmax(axis=1)]).sum(axis=1).mean())


@pytest.mark.slow
def test_the_recipe_of_the_paper_from_files_to_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target, turn = raw_pair(noise=0.3)
    x, y = source.matrix.astype(float), target.matrix.astype(float)
    played = Played(turn)
    monkeypatch.setitem(auto.KNOWN, "adversarial-paper", played)
    files: dict[str, Any] = {
        f"{name}_emb": write_vec(tmp_path / f"{side.language}.vec", side)
        for name, side in (("src", source), ("tgt", target))
    }
    made = muse.align("fr", "en", recipe="muse", out=tmp_path / "space", **files)
    for given, raw in zip(played.given, (x, y), strict=True):
        np.testing.assert_allclose(given, raw, atol=1e-4)
    mapping = made.side("fr").mapping
    rounds = [played.found.astype(float)]
    for _ in range(5):
        left, right = csls_pairs(unit(x @ rounds[-1].T), unit(y))
        rounds.append(scipy.linalg.orthogonal_procrustes(x[left], y[right])[0].T)
    criteria = [csls_cosine(unit(x @ one.T), unit(y)) for one in rounds[1:]]
    np.testing.assert_allclose(mapping, rounds[1 + int(np.argmax(criteria))], atol=1e-3)
    space = muse.load_space(tmp_path / "space")
    np.testing.assert_array_equal(space.side("en").mapping, np.eye(len(turn)))
    for language, rows in (("fr", unit(x @ mapping.T)), ("en", unit(y))):
        np.testing.assert_allclose(space.vectors(language).matrix, rows, atol=1e-4)
        assert space.side(language).normalisation.steps == ()
    np.testing.assert_allclose(space.map_words("fr", source.matrix[:9]), unit(x[:9] @ mapping.T), atol=1e-4)
    record = space.manifest.languages["fr"]
    assert record.signature.startswith(
        "csls:10 | fr-en | none | adversarial:paper | seed:0 | vocab:600/600 |"
    )
    assert "| refine:plain | recipe:muse |" in record.signature
    assert space.answers("fr", "en") is None  # CSLS answers
    assert space.translate("fr7", top=1)[0][0] == f"en{csls(unit(x @ mapping.T), unit(y))[7].argmax()}"
    assert space.manifest.settings["recipe"] == "muse"
    assert space.manifest.verdict.label == "aligned"


def test_the_signature_has_every_option() -> None:
    parameters = inspect.signature(muse.align).parameters
    assert {*parameters} - {*options_of(AlignOptions)} == {"config", "progress"}
    assert {*options_of(AlignOptions)} - {*parameters} == {"as_json"}
    assert [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD] == [
        "src",
        "tgt",
    ]
    assert (parameters["max_vocab"].default, parameters["max_vocab"].annotation) == (None, int | None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sead": 1}, "sead .* seed"),
        ({"identical": False}, "identical .* no_identical"),
        ({"zzz": 1}, "zzz .* config"),
        ({"source": "de"}, "source"),
        ({"max_vocab": "500"}, "max_vocab .* 1, got '500'"),
        ({"max_vocab": 0}, "max_vocab .* 1, got 0"),
        ({"seed": True}, "seed .* 0, got True"),
        ({"seed": -1}, "seed .* 0, got -1"),
        ({"lower": "no"}, "lower .* 'no'"),
        ({"dictionary": 5}, "dictionary .* 5"),
        ({"config": {"seed": 1}}, "config .*seed"),
        ({"via": 3}, "via .* 3"),
        ({"init": "atuo"}, "init .*auto.* 'atuo'"),
        ({"init": "identical", "no_identical": True}, "no_identical .* identical"),
        ({"max_vocab": 499}, "max_vocab .* 500.* 499.* dictionary=FILE"),
        ({"reweight": True, "refine": False}, "reweight .* refine=False"),
        ({"reweight": True, "into": "space"}, "reweight"),
        ({"recipe": "mouse"}, "recipe .* muse.* 'mouse'"),
        ({"recipe": 5}, "recipe .* 5"),
        ({"refine": "plane"}, "refine .* full.* plain.* 'plane'"),
        ({"backend": "annoy"}, "backend .* faiss.* 'annoy'"),
        ({"normalise": "none", "into": "space"}, "into .* none"),
        ({"normalise": "none,unit"}, "normalise .* 'none,unit'"),
        ({"device": "tpu"}, "device .* cuda.* 'tpu'"),
        ({"evidence_format": "csv"}, "evidence_format .* evidence"),
        ({"encoder": "a", "evidence": "b"}, "encoder and evidence"),
        ({"src": 5}, "src .* 5"),
        ({"tgt": 5}, "tgt .* 5"),
    ],
)
def test_wrong_options_are_told_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        muse.align(**{"src": "fr", "tgt": "en", **options})


@pytest.mark.parametrize("init", ["adversarial", "gromov", "identical"])
def test_an_initialisation_that_would_not_be_used_is_refused(init: str) -> None:
    options: dict[str, Any] = {"init": init, "refine": False, "dictionary": "pairs.txt", "max_vocab": 400}
    with pytest.raises(Contradiction, match=f"which needs no initialisation, got --init {init}"):
        check(settings_of(src="fr", tgt="en", **options))
    for more in ({"init": "auto"}, {"init": "dictionary"}, {"refine": True}):
        check(settings_of(src="fr", tgt="en", **(options | more)))


def test_device_and_progress_reach_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def stop(config: AlignConfig, **options: Any) -> None:
        seen.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr("muse.api.run.run", stop)
    progress = Progress(quiet=True)
    with pytest.raises(KeyboardInterrupt):
        muse.align("fr", "en", device="cpu", progress=progress)
    assert (seen["device"], seen["progress"]) == ("cpu", progress)


@pytest.mark.slow
def test_the_vectors_of_a_pipeline(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")
    from tests.support.pipelines import of_words, packaged

    source, target, _ = raw_pair()
    made = of_words(here / "made", source.words, source.matrix)
    packaged(here / "site", made)
    write_vec(here / "en.vec", target)
    monkeypatch.syspath_prepend(here / "site")
    by_name, by_folder = (
        muse.align("fr", "en", src_emb=given, tgt_emb="en.vec", out=out)
        for given, out in (("xx_toy_md", "by-name"), (made, "by-folder"))
    )
    assert by_name.manifest.verdict.label == "aligned"
    assert list(by_name.vectors("fr").words) == list(source.words)
    files = [space.manifest.languages["fr"].files for space in (by_name, by_folder)]
    assert files[0][0].name == "xx_toy_md-1.0.0"
    assert files[0][0].sha256 == files[1][0].sha256


@pytest.mark.slow
def test_the_words_of_vectors_that_are_composed_of_ngrams(tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the vectors of pipelines need spaCy")
    from tests.support.pipelines import of_ngrams, random_rows

    _, target, _ = raw_pair()
    made = of_ngrams(tmp_path / "made", ["chat"], random_rows(5_000, target.dimension))
    listed = [f"mot{row}" for row in range(600)]
    (tmp_path / "words.txt").write_text("\n".join(listed) + "\n\n")
    write_vec(tmp_path / "en.vec", target)
    files: dict[str, Any] = {"src_emb": made, "tgt_emb": tmp_path / "en.vec", "out": tmp_path / "space"}
    space = muse.align("fr", "en", src_words=tmp_path / "words.txt", **files)
    assert list(space.vectors("fr").words) == listed
    assert [file.name for file in space.manifest.languages["fr"].files] == ["made", "words.txt"]
    with pytest.raises(BadSetting, match="a list of words is for vectors composed of n-grams"):
        muse.align("fr", "en", tgt_words=tmp_path / "words.txt", **files, force=True)
    with pytest.raises(BadSetting, match="src_words needs a single src, got 2"):
        muse.align(["fr", "de"], "en", src_words=tmp_path / "words.txt")
    with pytest.raises(BadSetting, match="omit tgt_words"):
        muse.align("de", into=tmp_path / "space", tgt_words=tmp_path / "words.txt")


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
    files: dict[str, Any] = {name: tmp_path / "none.vec" for name in ("src_emb", "tgt_emb")}
    caplog.set_level("INFO", "muse.api.inputs")
    with pytest.raises(BadFile, match=r"none\.vec"):  # it is told before anything else is read
        muse.align("fr", "en", dictionary=tmp_path / "pairs.txt", out=tmp_path / "space", **files)
    named = [message for message in caplog.messages if "third column" in message]
    assert named == ([] if told is None else [f"{tmp_path / 'pairs.txt'}: {told}"])


def test_it_is_as_talkative_as_the_command_unless_quiet(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {
        f"{side}_emb": files / f"{name}.vec" for side, name in (("src", "fr"), ("tgt", "en"))
    }
    given |= {"init": "similarity", "refine": False, "reweight": False, "answers": "csls"}
    space = muse.align("fr", "en", out=files / "space", threads=1, **given)
    shown = capsys.readouterr()
    assert shown.out == ""  # where results of programs go
    lines = shown.err.splitlines()
    assert f"space           {files / 'space'}" in lines
    assert "verdict         aligned (confidence 1.00)" in lines
    assert lines[-1].startswith("What next: space.dictionary(), muse.evaluate(")
    assert space.verdict == "aligned"
    muse.align("fr", "en", out=files / "space", quiet=True, **given)
    assert capsys.readouterr().err == ""


def test_a_failure_is_never_silent(files: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = np.random.default_rng(0).normal(size=(600, 20)).astype(np.float32)
    write_vec(files / "xx.vec", Vectors("xx", [f"xx{row}" for row in range(600)], rows))
    given: dict[str, Any] = {"src_emb": files / "xx.vec", "tgt_emb": files / "en.vec", "init": "similarity"}
    space = muse.align("xx", "en", out=files / "space", quiet=True, reweight=False, **given)
    assert space.verdict == "failed" and space.verdict.languages == {"xx": "failed"}
    assert "The alignment of xx is judged failed: do not use it." in caplog.messages[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quiet": "yes"}, "quiet must be True or False, got 'yes'"),
        ({"quite": True}, r"quite is no option of muse\.align; did you mean quiet\?"),
        ({"progress": True}, "progress must be a muse.progress.Progress, got True; or use quiet"),
        ({"threads": 0}, "threads .* 0"),
        ({"threads": 1.5}, "threads .* 1.5"),
        ({"src_text": 3}, "src_text must be a path or several, got 3"),
        ({"tgt_text": 3}, "tgt_text must be a path, got 3"),
        ({"src_text": "novels.txt", "src_emb": "fr.vec"}, "src_text replaces src_emb, got both"),
        ({"src_text": ["a.txt", "b.txt"]}, "src_text must be given once for each src, got 2 for 1"),
    ],
)
def test_options_of_the_command_that_are_no_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSetting, match=message):
        muse.align("fr", "en", **options)


def test_it_begins_with_text_as_the_command_does(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[tuple[list[Path], Path]] = []

    def embed(texts: list[Path], out: Path, **options: Any) -> Embedded:
        trained.append((texts, out))
        out.parent.mkdir(exist_ok=True)
        (files / out.name).rename(out)
        return Embedded(out, 600, 9_000, 1, 1, {}, ())

    monkeypatch.setattr("muse.embedding.training.embed", embed)
    monkeypatch.chdir(files)
    for name in ("fr", "en"):
        (files / f"{name}.txt").write_text(f"des mots {name}\n" * 9)
    texts: dict[str, Any] = {"src_text": "fr.txt", "tgt_text": files / "en.txt"}
    given: dict[str, Any] = {"init": "similarity", "refine": False, "reweight": False, "answers": "csls"}
    space = muse.align("fr", "en", quiet=True, **texts, **given)
    assert trained == [
        ([text], Path("embeddings", f"{text.stem}.vec")) for text in (Path("fr.txt"), files / "en.txt")
    ]
    assert len(space.vectors("fr")) == 600
    with pytest.raises(BadFile, match=r"fr\.vec is there already"):
        muse.align("fr", "en", src_text="fr.txt")


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ("a x\na y\na z\n", "all 3 pairs have the same source word, 'a'"),
        ("a x\nb x\n", "all 2 pairs have the same target word, 'x'"),
        ("a x\n", ""),
        ("a x\nb y\n", ""),
    ],
)
def test_pairs_of_a_single_word_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, pairs: str, said: str
) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(pairs)
    assert len(read_dictionary(path)) == pairs.count("\n")
    assert caplog.text == "" if not said else f"{path}: {said}" in caplog.text


@pytest.fixture(scope="module")
def made() -> Made:
    return made_up(700, noise=1.2)


@pytest.fixture
def options(made: Made, tmp_path: Path) -> dict[str, Any]:
    """The files of the pair, and half of its translations as a dictionary."""
    for language, words, rows in zip(("xx", "yy"), made.words, made.rows, strict=True):
        write_vec(tmp_path / f"{language}.vec", Vectors(language, words, rows))
    lines = [f"{made.words[0][i]} {made.words[1][made.gold[i]]}\n" for i in range(0, 700, 2)]
    (tmp_path / "pairs.txt").write_text("".join(lines), encoding="utf-8")
    files = {f"{side}_emb": tmp_path / f"{name}.vec" for side, name in (("src", "xx"), ("tgt", "yy"))}
    return {**files, "dictionary": tmp_path / "pairs.txt", "out": tmp_path / "space", "refine": False}


def right(space: muse.Space, made: Made) -> float:
    """The share of the words that are not in the dictionary whose first answer is right."""
    found = [space.translate(made.words[0][i], top=1)[0][0] for i in range(1, 700, 2)]
    gold = [made.words[1][made.gold[i]] for i in range(1, 700, 2)]
    return float(np.mean([one == other for one, other in zip(found, gold, strict=True)]))


@pytest.mark.slow
def test_answers_from_pairs(options: dict[str, Any], made: Made) -> None:
    report = run(settings_of(src="xx", tgt="yy", **options))
    fields = json.loads(json.dumps(report.as_json()))["answers"]
    assert fields["by"] == "all evidence"
    assert fields["trained_on"] > 300
    assert fields["held_out_p_at_1"] > fields["csls_p_at_1"]
    assert fields["evidence"]["spelling"] > 0
    space = muse.load_space(options["out"])
    assert right(space, made) > right(space.by_csls(), made) + 0.05
    table = space.answers("xx", "yy")
    assert table is not None and table.report["held_out_p_at_1"] == fields["held_out_p_at_1"]
    assert space.answers("yy", "xx") is not None


def test_csls_is_asked_for(options: dict[str, Any]) -> None:
    report = run(settings_of(src="xx", tgt="yy", **{**options, "answers": "csls"}))
    assert "answers" not in report.as_json()
    assert not list(Path(options["out"]).glob("*/answers.*"))
    derived = {
        f"{one}.{other}" for one in ("xx/hubness", "xx/calibration") for other in ("yy.npy", "yy.json")
    }
    assert len(derived & set(muse.load_space(options["out"]).manifest.checksums)) == 2
    with pytest.raises(muse.MuseError, match="--answers .*csls.* 'nn'"):
        settings_of(src="xx", tgt="yy", answers="nn")


def test_rows_by_maps_that_do_not_know_the_pairs() -> None:
    rng = np.random.default_rng(0)
    source, target = (
        Vectors(name, [f"{name}{i}" for i in range(30)], rng.standard_normal((30, 4)).astype(np.float32))
        for name in ("xx", "yy")
    )
    pairs = np.stack([np.arange(30), np.arange(30)], axis=1)
    import torch

    maps = tuple(Maps(torch.eye(4) * sign, torch.eye(4)) for sign in (1.0, -1.0))
    held_out = HeldOutMaps(pairs, np.ones(30), np.arange(30) % 2, maps)
    found = known_pairs(held_out, source, target)
    assert len(found.held_out) == 2
    unit = source.matrix / np.linalg.norm(source.matrix, axis=1, keepdims=True)
    for one, sign, fold in zip(found.held_out, (1, -1), (0, 1), strict=True):
        np.testing.assert_allclose(one.source, sign * unit, atol=1e-6)
        np.testing.assert_array_equal(one.without, np.arange(30) % 2 == fold)


@pytest.mark.parametrize(
    ("change", "same"), [(None, True), ("words", False), ("rows", False), ("fewer", False)]
)
def test_one_file_given_twice_is_told(change: str | None, same: bool) -> None:
    rows, words = (
        np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32),
        [f"w{i}" for i in range(20)],
    )
    other = rows + 1 if change == "rows" else rows
    renamed = [*words[:-1], "x"] if change == "words" else words
    kept = slice(None, 15 if change == "fewer" else None)
    two = Vectors("yy", renamed[kept], other[kept])
    assert _are_the_same(Vectors("xx", words, rows), two) != bool(change)
