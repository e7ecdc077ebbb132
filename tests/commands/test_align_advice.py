"""The last lines of muse align: commands that run, and remedies that fit the run."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muse.commands import align_advice
from muse.learn import auto, bilingual, multilingual
from muse.learn.verdict import Verdict
from muse.normalise import Normalisation
from muse.space import SideToSave, save_space
from muse.vectors import Vectors
from tests.support.command import Command, Ended, align_arguments
from tests.support.spaces import PROVENANCE
from tests.support.toys import write_vec

FAILS = ["--init", "similarity"]


@pytest.fixture
def unlike(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with vectors of fr and en that are unlike; every tenth word is spelt alike.

    Of what auto tries it tries the quickest alone: all would fail here.
    """
    monkeypatch.setattr(auto, "AUTO", ("similarity",))
    monkeypatch.setattr(align_advice, "SAMPLE", here / "sample")
    rng = np.random.default_rng(0)
    for language in ("fr", "en"):
        words = [f"same{row}" if row % 10 == 0 else f"{language}{row}" for row in range(600)]
        rows = rng.normal(size=(600, 50)).astype(np.float32)
        write_vec(here / f"{language}.vec", Vectors(language, words, rows))
    return here


def failed(muse: Command, *more: object) -> list[str]:
    """The remedies of a run that must fail, each with its commands."""
    ended = muse(*align_arguments(Path("fr.vec"), Path("en.vec"), Path("out"), *more))
    assert ended.code == 3, ended.err
    assert "try" not in ended.out  # results alone
    _, _, advice = ended.err.partition("What to try first:\n")
    return re.split(r"^\d\. ", advice, flags=re.MULTILINE)[1:]


def commands_in(ended: Ended) -> list[str]:
    return [line.strip() for line in ended.err.splitlines() if line.startswith("  muse ")]


def test_after_success_the_commands_run(muse: Command, files: Path) -> None:
    out = files / "a space"
    ended = muse(*align_arguments(files / "fr.vec", files / "en.vec", out, *FAILS))
    assert ended.code == 0
    assert "What next" not in ended.out
    found = commands_in(ended)
    assert [shlex.split(command)[:3] for command in found] == [
        ["muse", "report", str(out)],
        ["muse", "serve", str(out)],
    ]  # fmt: skip - the words of the toy space are no words to look up


@pytest.mark.slow
def test_words_to_look_up_are_common_ones_of_the_space(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fr", "en"):
        path = files / f"{name}.vec"
        lines = path.read_text(encoding="utf-8").splitlines()
        letters = str.maketrans("0123456789", "abcdefghij")
        renamed = [lines[0]]
        for line in lines[1:]:
            word, _, numbers = line.partition(" ")
            renamed.append(f"{word.translate(letters)} {numbers}")
        path.write_text("\n".join(renamed) + "\n", encoding="utf-8")
    ended = muse(*align_arguments(files / "fr.vec", files / "en.vec", files / "out", *FAILS))
    assert ended.code == 0
    first = shlex.split(commands_in(ended)[0])
    assert first[:3] == ["muse", "translate", str(files / "out")]
    assert len(first) == 6
    assert muse(*first[1:]).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--json", "--quiet"])
def test_programs_get_no_advice(muse: Command, files: Path, option: str) -> None:
    ended = muse(*align_arguments(files / "fr.vec", files / "en.vec", files / "out", *FAILS, option))
    assert ended.code == 0
    assert "muse report" not in ended.err + ended.out


def test_the_first_two_remedies_are_those_of_this_run(muse: Command, unlike: Path) -> None:
    first, second = failed(muse, *FAILS, "--no-refine", "--max-vocab", 550)
    command = "muse align --src fr --tgt en --src-emb fr.vec --tgt-emb en.vec"
    assert first == (
        "Refine the mapping: leave out --no-refine.\n"
        f"     {command} --max-vocab 550 --init similarity --out out\n"
    )
    assert second == (
        f"Let muse try more than --init similarity.\n     {command} --max-vocab 550 --out out --no-refine\n"
    )


def test_a_cut_vocabulary_and_spellings_that_were_not_used(muse: Command, unlike: Path) -> None:
    first, second = failed(muse, "--no-identical", "--max-vocab", 550)
    assert first.startswith("Use more words than --max-vocab 550.\n")
    assert "--max-vocab 20000" in first
    assert second.startswith("10 % of the words are spelt alike: leave out --no-identical.\n")
    assert "--no-identical" not in second.splitlines()[1]


@pytest.mark.slow
def test_translations_that_are_published_that_lie_there_and_that_one_must_write(
    muse: Command, unlike: Path
) -> None:
    first, second = failed(muse)
    assert "muse fetch dictionary fr-en --part train --accept-non-commercial" in first
    assert "--dictionary dictionaries/gold/fr-en.0-5000.txt" in first
    assert second == ("Use vectors of more words: 600 are few (fr).\n     muse fetch vectors fr\n")
    (unlike / "dictionaries" / "gold").mkdir(parents=True)
    for name in ("fr-en.0-5000.txt", "fr-en.5000-6500.txt", "fr-en.sample.txt", "fr-enx.txt"):
        (unlike / "dictionaries" / "gold" / name).touch()
    first, _ = failed(muse)
    assert first.startswith("Give translations.\n")
    assert "--dictionary dictionaries/gold/fr-en.0-5000.txt" in first
    given = ["--src", "elvish", "--tgt", "en", "--src-emb", "fr.vec", "--tgt-emb", "en.vec", "--out", "o"]
    ended = muse("align", *given)
    assert ended.code == 3
    assert "50 lines of a word, a tab and its translation, in pairs.txt" in ended.err
    assert "--dictionary pairs.txt" in ended.err
    assert "muse fetch vectors elvish" not in ended.err


@pytest.mark.slow
def test_a_space_of_other_text_helps(muse: Command, unlike: Path) -> None:
    (unlike / "sample").mkdir()
    for language in ("fr", "en"):
        (unlike / "sample" / f"{language}.vec.gz").touch()
    _, align, again = failed(muse)[0].splitlines()
    assert shlex.split(align)[-2:] == ["--out", "embeddings/demo"] and "sample/en.vec.gz" in align
    assert "--help-from embeddings/demo" in again
    rows = np.eye(3, dtype=np.float32)
    unit = Normalisation(("unit",), ())
    for label in ("failed", "aligned"):
        sides = {one: SideToSave(Vectors(one, ["a", "b", "c"], rows), unit, None) for one in ("en", "fr")}
        judged = replace(PROVENANCE, verdict={"label": label, "confidence": 0.5})
        sides["fr"] = replace(sides["fr"], more={"verdict": judged.verdict})
        folder = unlike / "embeddings" / "aligned" / label
        save_space(folder, sides, pivot="en", provenance=judged)
    first, second = failed(muse, "--max-vocab", 20_000)
    assert first.startswith(
        "Let a space of other text help: embeddings/aligned/aligned knows both languages.\n"
    )
    command = shlex.split(first.splitlines()[1])
    assert command[command.index("--help-from") + 1] == "embeddings/aligned/aligned"
    assert second.startswith("Give translations")
    ended = muse(*command[1:])  # the space that failed is replaced
    assert ended.code == 3 and "knows 0 sure translations" in ended.err


@pytest.mark.slow
def test_few_pairs_of_a_dictionary(muse: Command, unlike: Path) -> None:
    (unlike / "d.txt").write_text("".join(f"fr{row} en{row}\n" for row in range(1, 10)))
    first, *_ = failed(muse, "--dictionary", "d.txt", "--init", "dictionary")
    assert first.startswith("Give more translations: of d.txt, 9 could be used; 50 or more would be good.")


@pytest.mark.slow
def test_several_languages_and_what_is_doubtful(
    muse: Command, unlike: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (auto, bilingual, multilingual):
        monkeypatch.setattr(module, "judge", lambda *_: Verdict("doubtful", 0.5, 0.3, 0.3, 0.2))
    given = ["--src", "fr", "--src", "de", "--tgt", "en", "--tgt-emb", "en.vec", "--out", "o"]
    ended = muse("align", *given, "--src-emb", "fr.vec", "--src-emb", "en.vec", "--init", "identical")
    assert "verdict         doubtful" in ended.out
    assert "What to try first (fr):" in ended.err
    assert "1. Let muse try more than --init identical.\n" in ended.err
    assert "--src fr --src de --tgt en --src-emb fr.vec --src-emb en.vec" in ended.err
    assert ended.err.endswith("measure it:\n     muse evaluate o --src fr --dictionary pairs.txt\n")
