"""Numbers on the command line: a range, and no nan or infinity."""

import re
import shutil
from pathlib import Path

import click
import numpy as np
import pytest

from muse.text.arpa import write_arpa
from muse.text.language_model import learn_language_model
from tests.support.command import Command, every_command, process
from tests.support.parallel import toy_space, toy_text, write_text
from tests.support.toys import raw_pair, write_vec


def read(option: click.Parameter, text: str) -> object:
    """What an option makes of a text, given once."""
    return option.process_value(click.Context(click.Command("one")), (text,) if option.multiple else text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "1e31", "NaN", "x", "", "-1"])
def test_what_is_no_finite_number_in_range(text: str) -> None:
    (weight,) = (one for one in every_command()["translate"].params if one.name == "lm_weight")
    assert [read(weight, number) for number in ("0", "1e-3", "5")] == [0, 1e-3, 5]
    with pytest.raises(click.BadParameter):
        read(weight, text)


def test_no_option_takes_nan_or_any_number_of_threads() -> None:
    found = [one for command in every_command().values() for one in command.params]
    numbers = [one for one in found if isinstance(one.type, click.types.FloatParamType)]
    assert numbers
    for option in numbers:
        with pytest.raises(click.BadParameter):
            read(option, "nan")
    for option in found:
        if option.name == "threads":
            with pytest.raises(click.BadParameter):
                read(option, "100000")


def test_help_shows_no_range_without_ends() -> None:
    for name, command in every_command().items():
        shown = command.get_help(click.Context(command, info_name=name))
        assert "None" not in shown


# A line of each command, and the options whose numbers it uses.
LINES = {
    "align --src fr --tgt en --src-emb fr.vec --tgt-emb en.vec --init gromov --out out": (
        "--max-vocab", "--seed",
    ),
    "report space --out out.html": ("--max-vocab", "--seed"),
    "translate space --src fr --tgt en fr3": ("--top", "--seed", "--min-probability"),
    "translate space --src fr --tgt en --lm en.arpa": ("--lm-weight", "--beam", "--top"),
    "translate --model model --src fr --tgt en": ("--beam", "--batch"),
    "neighbours space --lang fr fr3": ("--top",),
    "induce space --src fr --tgt en": (
        "--top", "--max-vocab", "--src-max", "--tgt-max", "--min-probability", "--precision",
    ),
    "export space --format moses --src fr --tgt en --out out": ("--top", "--temperature", "--max-vocab"),
    "export space --format moses --src en --tgt fr --text-pairs pairs.tsv --out out": ("--longest",),
    "evaluate space --task sentences --src fr --tgt en --parallel pairs.tsv": ("--neighbours", "--seed"),
    "evaluate space --task sentences --src fr --tgt en --suite suite": ("--folds",),
    "evaluate space --task rows --src fr --tgt en --source fr.npy --target en.npy --store en.npy": (
        "--at-least",
    ),
    "evaluate space --task mining --src en --tgt fr --source text.en --target text.fr --gold pairs.tsv": (
        "--neighbours", "--threshold",
    ),
    "evaluate space --task transfer --src en --tgt fr --data data": ("--runs", "--seed"),
    "evaluate space --task probe --src en --tgt en --text en=text.en": ("--size", "--folds"),
    "mine space --source text.fr --target text.en --src-lang fr --tgt-lang en": (
        "--neighbours", "--threshold",
    ),
    "align-texts space --source text.fr --target text.en": ("--largest", "--min-probability"),
    "link space --source text.fr --target text.en": ("--threshold", "--rounds", "--min-score"),
    "carry-labels space --source text.fr --target text.en": ("--threshold", "--rounds", "--min-score"),
    "evaluate space --task links --source text.fr --target text.en --gold links.gold": (
        "--threshold", "--rounds", "--min-score", "--seed",
    ),
    "train-lm text.fr --lang fr --out out.arpa": ("--order",),
    "terms space --no-learn --src fr --src-text text.fr --tgt en --tgt-text text.en --out out.tsv": (
        "--min-count", "--top", "--examples", "--min-probability",
    ),
    "embed text.fr --lang fr --dim 4 --epochs 1 --min-count 1 --out out.vec": (
        "--dim", "--min-count", "--max-vocab", "--seed",
    ),
    "train space --encoder x-cbow --lang fr --parallel pairs.tsv --epochs 0 --out out": (
        "--batch", "--lambda", "--rate", "--patience", "--seed",
    ),
    "train space --encoder x-cbow --loss ranking --lang fr --parallel pairs.tsv --epochs 0 --out out": (
        "--margin", "--scale",
    ),
    "train space --encoder projection --lang fr --parallel pairs.tsv --epochs 0 --out out": ("--dropout",),
    "train-translator space --text fr=text.fr --text en=text.en --epochs 0 --set layers=1 --set heads=2 "
    "--set hidden=8 --set pieces=120 --out out": ("--batch", "--rate", "--patience"),
}  # fmt: skip
LONG = {"--epochs", "--window", "--negatives"}  # any number of these is possible, and takes its time
ELSEWHERE = {"--threads", "--port", "--rate"}  # of every command, above; of muse serve, which has no end
NEVER = ("nan", "inf", "-inf", "1e999", "x", "", "9" * 5_000)
EXTREME = ("-1", "0", "1e-320", "1e308", str(2**31), str(2**63), "9" * 25)


def _numeric(command: click.Command) -> set[str]:
    kinds = (click.types.IntParamType, click.types.FloatParamType)
    return {option.opts[0] for option in command.params if isinstance(option.type, kinds)}


def test_every_number_has_a_line_that_uses_it() -> None:
    for name, command in every_command().items():
        lines = [line for line in LINES if line.startswith(f"{name.replace(' ', ' space --task ')} ")]
        used = {option for line in lines for option in LINES[line]}
        missing = _numeric(command) - used - LONG - ELSEWHERE
        assert missing <= {"--seed"}, name


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("numbers")
    toy_space(folder / "space")
    for vectors in raw_pair(600)[:2]:
        write_vec(folder / f"{vectors.language}.vec", vectors)
        np.save(folder / f"{vectors.language}.npy", vectors.matrix)
    pairs = toy_text(200)
    write_text(folder / "pairs.tsv", pairs)
    (folder / "links.gold").write_text("1-1\n" * len(pairs))
    (folder / "data").mkdir()
    for place, language in enumerate(("en", "fr")):
        text = "".join(f"{pair[place]}\n" for pair in pairs)
        (folder / f"text.{language}").write_text(text)
        (folder / "data" / f"{language}.txt").write_text(text)
    (folder / "data" / "labels.txt").write_text("0\n1\n" * 100)
    (folder / "suite").mkdir()
    (folder / "suite" / "CR.tsv").write_text("".join(f"{row % 2}\t{pairs[row][0]}\n" for row in range(40)))
    write_arpa(folder / "en.arpa", learn_language_model([pair[0].split() for pair in pairs], order=2))
    line = next(line for line in LINES if line.startswith("train-translator"))
    assert process(*line.replace("out out", "out model").split(), "-q", cwd=folder).code == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("line", "option"), [(line, option) for line in LINES for option in LINES[line]])
def test_no_number_gives_a_traceback_or_nan(
    muse: Command, here: Path, files: Path, line: str, option: str
) -> None:
    for path in files.iterdir():
        (here / path.name).symlink_to(path)
    for number in (*NEVER, *EXTREME):
        ended = muse(*line.split(), option, number, "-q", stdin="fr3 fr4, fr5\n")
        assert ended.code in ((2,) if number in NEVER else (0, 1, 2, 3)), (number, ended)
        assert ended.code in (0, 3) or len(ended.err.splitlines()) <= 4, (number, ended)
        found = [ended.out, *(path.read_text() for path in here.glob("out*/*.txt"))]
        assert not any(re.search(r"\b(nan|inf)\b", text) for text in found), number
        for path in here.glob("out*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
