"""`muse align` with an encoder, its vectors, or pairs of a program: help that may be wrong."""

import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muse
from muse import align
from muse.api.inputs import RunInputs, outside_scores, pseudo_dictionary, read_evidence, with_helper
from muse.api.run import run
from muse.api.settings import settings_of
from muse.errors import BadFile, BadSetting, Contradiction, Mismatch
from muse.files.space_manifest import read_manifest
from muse.lexicon import Lexicon
from muse.normalise import Normalisation
from muse.progress import Progress
from muse.ranking.external_scores import ExternalScores
from muse.space import SideToSave, Space, save_space
from muse.vectors import Vectors
from tests.support.command import Command
from tests.support.made_up_pair import Made, made_up, unit
from tests.support.spaces import PROVENANCE, best
from tests.support.toys import write_vec

COUNT = 700


@pytest.fixture(scope="module")
def made() -> Made:
    return made_up(COUNT, noise=1.2)


@pytest.fixture
def options(made: Made, tmp_path: Path) -> dict[str, Any]:
    for language, words, rows in zip(("xx", "yy"), made.words, made.rows, strict=True):
        turned = rows @ rotation(len(language)) if language == "xx" else rows
        write_vec(tmp_path / f"{language}.vec", Vectors(language, words, turned))
    files = {f"{side}_emb": tmp_path / f"{name}.vec" for side, name in (("src", "xx"), ("tgt", "yy"))}
    return {**files, "out": tmp_path / "space", "init": "gromov"}


def rotation(seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((20, 20))
    return np.asarray(np.linalg.qr(rows)[0], np.float32)


def encoder_rows(made: Made, noise: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    meaning = rng.standard_normal((COUNT, 16))
    source = unit(meaning + noise * rng.standard_normal(meaning.shape))
    target = np.empty_like(source)
    target[made.gold] = unit(meaning + noise * rng.standard_normal(meaning.shape))
    return source, target


def right(space: Space, made: Made) -> float:
    words, gold = made.words[0], made.gold
    return float(np.mean([best(space, words[i], top=1)[0][0] == made.words[1][gold[i]]
                          for i in range(COUNT)]))  # fmt: skip


@pytest.mark.slow
def test_vectors_of_an_encoder(options: dict[str, Any], made: Made, tmp_path: Path) -> None:
    files = [tmp_path / "e.xx.vec", tmp_path / "e.yy.vec"]
    for path, words, rows in zip(files, made.words, encoder_rows(made, 0.4), strict=True):
        write_vec(path, Vectors(path.suffix, words, np.asarray(rows, np.float32)))
    report = run(settings_of(src="xx", tgt="yy", **{**options, "encoder_emb": files}))
    found = report.as_json()
    assert found["verdict"] == "aligned"
    assert found["answers"]["evidence"]["other sources"] > 0
    assert found["answers"]["trained_on"] == 0  # pairs of an encoder are no known translations
    assert report.learned["xx"].supervision is not None
    assert right(report.aligned, made) > 0.8
    manifest = muse.load_space(options["out"]).manifest
    assert manifest.settings["encoder_emb"] == [*map(str, files)]
    assert [one.path for one in manifest.inputs] == [*map(str, files)]


@pytest.mark.slow
def test_vectors_that_know_nothing(options: dict[str, Any], made: Made, tmp_path: Path) -> None:
    plain = run(settings_of(src="xx", tgt="yy", **options))
    rng, files = np.random.default_rng(3), [tmp_path / "n.xx.vec", tmp_path / "n.yy.vec"]
    for path, words in zip(files, made.words, strict=True):
        write_vec(path, Vectors(path.suffix, words, unit(rng.standard_normal((COUNT, 16)))))
    helped = run(settings_of(src="xx", tgt="yy", **{**options, "out": tmp_path / "other"}, encoder_emb=files))
    assert helped.learned["xx"].supervision is None
    assert helped.as_json()["verdict"] == plain.as_json()["verdict"]
    assert right(helped.aligned, made) > right(plain.aligned, made) - 0.05


@pytest.mark.slow
def test_pairs_of_a_program(options: dict[str, Any], made: Made, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lines = []
    for i in range(0, COUNT, 2):  # a third of them wrong
        gold = int(made.gold[i]) if rng.random() > 1 / 3 else int(rng.integers(COUNT))
        lines.append(f"{made.words[0][i]}\t{made.words[1][gold]}\t{rng.random():.3f}\n")
    (tmp_path / "program.tsv").write_text("".join(lines), encoding="utf-8")
    report = run(settings_of(src="xx", tgt="yy", **{**options, "evidence": tmp_path / "program.tsv"}))
    assert report.as_json()["answers"]["evidence"]["other sources"] > 0
    assert report.as_json()["verdict"] == "aligned"


@pytest.fixture(scope="module")
def helper(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space of the 600 first words of xx, with their translations, and of words that the vectors lack."""
    count, rows = 600, unit(np.random.default_rng(1).standard_normal((620, 24)))
    more = [f"more{place}" for place in range(20)]
    words = {"xx": [*made.words[0][:count], *more]}
    words["yy"] = [*(made.words[1][place] for place in made.gold[:count]), *more]
    unit_rows = Normalisation(("unit",), ())
    sides = {one: SideToSave(Vectors(one, some, rows), unit_rows, None) for one, some in words.items()}
    folder = tmp_path_factory.mktemp("helper") / "space"
    save_space(folder, sides, pivot="yy", provenance=PROVENANCE)
    return folder


def inputs_of(made: Made) -> RunInputs:
    sides = [Vectors(name, words, rows) for name, words, rows in zip(("xx", "yy"), *made[:2], strict=True)]
    own, other = (SideToSave(one, Normalisation(("unit",), ()), None) for one in sides)
    return RunInputs({"xx": own}, other, {})


def test_the_sure_translations_of_a_space_are_pairs(made: Made, helper: Path) -> None:
    config, inputs = settings_of(src="xx", tgt="yy", help_from=helper), inputs_of(made)
    found = with_helper(config, inputs).lexicon
    assert found is not None and len(found) > 500
    gold = {(made.words[0][i], made.words[1][made.gold[i]]) for i in range(600)}
    assert set(found.pairs) <= gold  # and of no word that the vectors lack
    assert all(share >= 0.5 for share in found.weights or ())
    taught = Lexicon(((made.words[0][0], "taught"), ("own", "word")))
    both = with_helper(replace(config, lexicon=taught), inputs).lexicon
    assert both is not None and both.pairs[:2] == taught.pairs and (both.weights or ())[:2] == (1, 1)
    assert both.translations()[made.words[0][0]] == {"taught"}
    assert set(both.pairs[2:]) == set(found.pairs) - {pair for pair in gold if pair[0] == made.words[0][0]}


def test_a_space_that_knows_none_of_the_words_is_no_help(
    made: Made, helper: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = settings_of(src="xx", tgt="yy", help_from=helper)
    others = made._replace(words=([f"0{one}" for one in made.words[0]], [f"1{one}" for one in made.words[1]]))
    assert with_helper(config, inputs_of(others)) is config
    assert "knows 0 sure translations" in caplog.text


def test_help_that_cannot_be_is_refused(
    options: dict[str, Any], made: Made, helper: Path, tmp_path: Path
) -> None:
    with pytest.raises(BadFile, match=r"none: expected .*, found no"):
        run(settings_of(src="xx", tgt="yy", **options, help_from=tmp_path / "none"))
    files = {"tgt_emb": options["tgt_emb"], "out": options["out"], "help_from": helper}
    with pytest.raises(BadSetting, match="must be a space of words of zz and yy, got .* of xx, yy; give"):
        run(settings_of(src="zz", src_emb=options["src_emb"], tgt="yy", **files))
    manifest = read_manifest(helper)
    failed = tmp_path / "failed"
    shutil.copytree(helper, failed)
    manifest.judged({"xx": {"label": "failed", "confidence": 0.1}}).write(failed)
    with pytest.raises(BadSetting, match="must be an aligned space, got .*failed, judged failed"):
        run(settings_of(src="xx", tgt="yy", **options, help_from=failed))
    with pytest.raises(BadSetting, match="help_from needs words"):
        rows = np.random.default_rng(0).standard_normal((600, 8)).astype(np.float32)
        align("xx", "yy", src_emb=rows, tgt_emb=rows[::-1], out=tmp_path / "rows", help_from=helper)


@pytest.mark.slow
def test_a_space_that_helps(options: dict[str, Any], made: Made, helper: Path, tmp_path: Path) -> None:
    report = run(settings_of(src="xx", tgt="yy", **{**options, "init": "auto"}, help_from=helper))
    found = report.as_json()
    assert (found["verdict"], found["supervision"]["pairs_of"]) == ("aligned", "space")
    assert right(report.aligned, made) > 0.8
    assert any("the pairs of a general space" in line for line in report.lines())
    manifest = muse.load_space(options["out"]).manifest
    assert [one.path for one in manifest.inputs] == [str(helper / "manifest.json")]
    assert manifest.settings["help_from"] == str(helper)
    assert manifest.supervision is not None and manifest.supervision.giver == "a general space"
    assert not any("more" in word for _, word in muse.load_space(options["out"]))
    with pytest.raises(BadSetting, match=r"made otherwise: another .*source of help"):
        run(settings_of(src="xx", tgt="yy", **{**options, "init": "auto"}))


def test_hints_are_spelled_otherwise() -> None:
    words = [f"{letter}{other}{letter}" for letter in "abcdefghij" for other in "klmnopqrst"]
    cipher = str.maketrans("abcdefghijklmnopqrst", "uvwxyzабвгдежзийклмн")
    targets = [word if i % 2 else word.translate(cipher) for i, word in enumerate(words)]
    rows = np.eye(100, dtype=np.float32)
    source, target = Vectors("xx", words, rows), Vectors("yy", targets, rows)
    pairs = np.stack([np.arange(100)] * 2, axis=1)
    found = pseudo_dictionary(ExternalScores.of_pairs(pairs, np.ones(100), (100, 100)), source, target)
    assert found is not None
    assert found.pairs == tuple((words[i], targets[i]) for i in range(0, 100, 2))
    few = pseudo_dictionary(ExternalScores.of_pairs(pairs[:40], np.ones(40), (100, 100)), source, target)
    assert few is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"encoder_emb": ["one.vec"]}, Contradiction, "twice"),
        ({"encoder_emb": ["a", "b"], "evidence": "pairs.txt"}, Contradiction, "leave out all but one"),
        ({"encoder_emb": ["a.vec", "b.vec"]}, BadFile, "a.vec"),
        ({"evidence": "pairs.txt"}, BadFile, "pairs.txt: expected a file"),
        ({"evidence_format": "csv"}, Contradiction, "--evidence FILE"),
        ({"evidence": "pairs.txt", "evidence_format": "moses"}, BadSetting, "--evidence-format must be one"),
        ({"encoder": "nowhere"}, BadFile, "nowhere: expected the folder of a model"),
        ({"encoder": ".", "encoder_template": "word"}, BadSetting, "must contain {word}"),
        ({"encoder_template": "the {word}"}, Contradiction, "--encoder FOLDER"),
        ({"encoder_template": 3}, BadSetting, "--encoder-template .* 3"),
        ({"encoder_emb": [3]}, BadSetting, "--encoder-emb .*3"),
    ],
)
def test_refused(
    options: dict[str, Any], given: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run(settings_of(src="xx", tgt="yy", **{**options, **given}))
    assert not options["out"].exists()


def test_pairs_are_read_before_long_work(here: Path) -> None:
    (here / "text").write_text("a few words\n" * 9)
    (here / "pairs.txt").write_text("a b c d\n")
    with pytest.raises(BadFile, match="pairs.txt:1: expected two words"):
        align("xx", "yy", src_text="text", tgt_text="text", evidence="pairs.txt", quiet=True)
    assert sorted(path.name for path in here.iterdir() if path.suffix) == ["pairs.txt"]


@pytest.mark.parametrize(("swapped", "told"), [(True, "columns swapped"), (False, "pairs of words")])
def test_how_many_pairs_are_known_is_said(
    made: Made, caplog: pytest.LogCaptureFixture, swapped: bool, told: str
) -> None:
    sides = [Vectors(name, words, rows) for name, words, rows in zip(("xx", "yy"), *made[:2], strict=True)]
    words = [side.words for side in sides][:: -1 if swapped else 1]
    pairs = Lexicon((*zip(words[0][:60], words[1][:60], strict=True), (made.words[0][0], made.words[1][1])))
    config = replace(settings_of(src="xx", tgt="yy", evidence="pairs.txt"), scored=pairs)
    with caplog.at_level(logging.INFO):
        outside_scores(config, *sides, device="cpu", progress=Progress(quiet=True))
    assert told in caplog.text


@pytest.mark.parametrize(
    ("value", "message"), [(0.0, "got none for any of its 700 words"), (1.0, "got the same vector for all")]
)
def test_vectors_of_an_encoder_that_say_nothing_are_refused(
    options: dict[str, Any], made: Made, tmp_path: Path, value: float, message: str
) -> None:
    sides = [Vectors(name, words, rows) for name, words, rows in zip(("xx", "yy"), *made[:2], strict=True)]
    known = dict.fromkeys((*made.words[0], *made.words[1]))
    words = [*known] if value else [f"unknown{place}" for place in range(9)]
    write_vec(tmp_path / "e.vec", Vectors("yy", words, np.ones((len(words), 4), np.float32)))
    config = settings_of(src="xx", tgt="yy", **{**options, "encoder_emb": [tmp_path / "e.vec"] * 2})
    with pytest.raises(Mismatch, match=message):
        outside_scores(config, *sides, device="cpu", progress=Progress(quiet=True))


def test_pairs_of_other_languages_are_refused(options: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("one two\n")
    with pytest.raises(Mismatch, match="got 0 of 1"):
        run(settings_of(src="xx", tgt="yy", **{**options, "evidence": tmp_path / "pairs.txt"}))


def test_the_format_of_pairs(options: dict[str, Any], made: Made, tmp_path: Path) -> None:
    given = {**options, "evidence": tmp_path / "pairs.txt"}
    given["evidence"].write_text("a,b,c,d\ne f g\n")
    with pytest.raises(BadFile, match="or name the format of the file with --evidence-format$"):
        run(settings_of(src="xx", tgt="yy", **given))
    # The second word comes first: otherwise no pair would be known.
    given["evidence"].write_text(f"{made.words[1][0]} {made.words[0][0]} 0.5\n")
    sides = [Vectors(name, words, rows) for name, words, rows in zip(("xx", "yy"), *made[:2], strict=True)]
    config = settings_of(src="xx", tgt="yy", **{**given, "evidence_format": "lex.f2e"})
    config = replace(config, scored=read_evidence(given["evidence"], form="lex.f2e"))
    scores = outside_scores(config, *sides, device="cpu", progress=Progress(quiet=True))
    assert scores.surest().tolist() == [[0, 0]]


@pytest.mark.slow
def test_an_encoder_in_a_folder(options: dict[str, Any], made: Made, tmp_path: Path, muse: Command) -> None:
    pytest.importorskip("sentence_transformers")
    files = [tmp_path / "e.xx.vec", tmp_path / "e.yy.vec"]
    for path, words, rows in zip(files, made.words, encoder_rows(made, 0.3), strict=True):
        write_vec(path, Vectors(path.suffix[1:], words, np.asarray(rows, np.float32)))
    # A static encoder that knows the words of both languages, as muse exports one.
    known = tmp_path / "known"
    made_pairs = "".join(f"{made.words[0][i]} {made.words[1][made.gold[i]]}\n" for i in range(COUNT))
    (tmp_path / "gold.txt").write_text(made_pairs, encoding="utf-8")
    ways = "--src", "xx", "--tgt", "yy", "--init", "dictionary", "--dictionary", tmp_path / "gold.txt"
    muse("align", *ways, "--src-emb", files[0], "--tgt-emb", files[1], "--answers", "csls", "--out", known)
    muse("export", known, "--format", "sentence-transformers", "--out", tmp_path / "model")
    embeddings = "--src-emb", options["src_emb"], "--tgt-emb", options["tgt_emb"], "--init", "gromov"
    command = "align", "--src", "xx", "--tgt", "yy", *embeddings, "--encoder", tmp_path / "model"
    found = muse(*command, "--out", options["out"], "--json").json
    assert found["answers"]["evidence"]["other sources"] > 0
    kept = sorted((tmp_path / ".space.encoded").iterdir())
    assert len(kept) == 2
    times = [path.stat().st_mtime_ns for path in kept]
    again = muse(*command, "--out", options["out"], "--json").json
    assert [path.stat().st_mtime_ns for path in kept] == times  # read, not encoded again
    assert again["answers"] == found["answers"]


def test_unlabelled_vectors_have_no_words_to_encode(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
    (tmp_path / "pairs.txt").write_text("1 2\n")
    with pytest.raises(BadSetting, match="need words, got unlabelled vectors"):
        align(
            "a", "b", src_emb=rows, tgt_emb=rows, dictionary=tmp_path / "pairs.txt",
            evidence=tmp_path / "pairs.txt", out=tmp_path / "space",
        )  # fmt: skip


@pytest.mark.slow
def test_a_space_is_not_replaced_where_other_pairs_help(
    options: dict[str, Any], made: Made, tmp_path: Path
) -> None:
    lines = [f"{made.words[0][i]}\t{made.words[1][made.gold[i]]}\t0.9\n" for i in range(200)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    options |= {"answers": "csls", "refine": False}
    run(settings_of(src="xx", tgt="yy", **{**options, "evidence": tmp_path / "a.tsv"}))
    supervision = muse.load_space(options["out"]).manifest.supervision
    assert supervision is not None and supervision.giver == "a program"
    (tmp_path / "copy.tsv").write_text("".join(lines))
    run(settings_of(src="xx", tgt="yy", **{**options, "evidence": tmp_path / "copy.tsv"}))
    (tmp_path / "a.tsv").write_text("".join(lines[1:]))
    with pytest.raises(BadSetting, match="made otherwise: another --dictionary"):
        run(settings_of(src="xx", tgt="yy", **{**options, "evidence": tmp_path / "a.tsv"}))


@pytest.mark.slow  # for the library, which takes seconds to import
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("modules.json", '[{"type": "own_code.Module"}]', "got 'own_code.Module'; muse runs no code"),
        ("modules.json", "[", "expected JSON"),
        ("pytorch_model.bin", "", "no modules.json and config.json"),
    ],
)
def test_no_code_of_a_folder_is_run(
    options: dict[str, Any], tmp_path: Path, name: str, content: str, message: str
) -> None:
    pytest.importorskip("sentence_transformers")
    path = tmp_path / "model" / name
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(BadFile, match=message):
        run(settings_of(src="xx", tgt="yy", **{**options, "encoder": tmp_path / "model"}))


@pytest.mark.slow
def test_a_folder_without_a_model(options: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    (tmp_path / "model").mkdir()
    with pytest.raises(BadFile, match="expected a model of sentence-transformers"):
        run(settings_of(src="xx", tgt="yy", **{**options, "encoder": tmp_path / "model"}))
