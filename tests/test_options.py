"""Options: one declaration, from which the command, the checks, the signature and the records are made."""

import ast
import inspect
import pickle
from copy import copy
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pytest
from click.testing import CliRunner

import muse
from muse.commands.command import command
from muse.errors import BadSetting, Contradiction, reworded
from muse.learn.settings import NORMALISATIONS, AlignConfig, AlignOptions
from muse.normalise import DEFAULT_STEPS, STEPS
from muse.options import Common, departures, given_only, of_checkpoint, option, options_of, recorded, takes
from tests.support.command import Command, align_arguments
from tests.support.spaces import saved
from tests.support.toys import raw_pair, write_vec
from tests.test_architecture import trees


class Options(Common):
    """One of every kind."""

    names: tuple[str, ...] = option(argument=True, metavar="NAME...")
    count: int = option(3, section="How", least=1, most=9, help="How many.", recorded=True, checkpoint=True)
    share: float = option(0.5, section="How", above=0, below=1, help="How much.")
    way: Literal["left", "right"] = option("left", section="How", once=True, presets={"odd": "right"},
                                           recorded=True)  # fmt: skip
    preset: str | None = option(None, choices=("odd",), chooses=True)
    files: tuple[Path, ...] = option((), group="inputs", only="files")
    folder: Path | None = option(None, group="inputs")
    form: str = option("a", needs="folder", recorded=True)
    quick: bool | None = option(None, off="--no-quick")


def test_values_are_converted_and_checked_wherever_they_come_from() -> None:
    made = Options(names="a", count=np.int64(4), files=["x", Path("y")], quick=np.True_)  # type: ignore[arg-type]
    assert (made.names, made.count, made.files, made.quick) == (("a",), 4, (Path("x"), Path("y")), True)
    assert (made.share, made.way, made.folder) == (0.5, "left", None)
    assert replace(made, count=5).count == 5
    assert given_only(made, "files") == ["--files"]
    wrong: list[dict[str, Any]] = [
        {"count": 0}, {"count": 10}, {"count": "3"}, {"count": True}, {"share": 0}, {"share": 1},
        {"share": float("nan")}, {"share": "x"}, {"way": "up"}, {"files": 3}, {"quick": 1}, {"names": [3]},
    ]  # fmt: skip
    for given in wrong:
        ((name, value),) = given.items()
        with pytest.raises(BadSetting, match=f"--{name} must be .*, got") as error:
            Options(**{"names": "a", **given})
        assert repr(value) in str(error.value)
    with pytest.raises(BadSetting, match="--names is needed"):
        Options()
    with pytest.raises(Contradiction, match="--form .* --folder"):
        Options(names="a", form="b")  # type: ignore[arg-type]
    with pytest.raises(Contradiction, match="--files and --folder"):
        Options(names="a", files="x", folder="y")  # type: ignore[arg-type]


def test_options_are_values() -> None:
    made, same = (Options(names=("a",), count=4) for _ in range(2))
    assert made == same and len({made, same, copy(made), pickle.loads(pickle.dumps(made))}) == 1  # noqa: S301
    assert made != replace(made, count=5) and made != Common() and "count=4" in str(made)
    with pytest.raises(FrozenInstanceError, match="count"):
        setattr(made, "count", 5)  # noqa: B010
    with pytest.raises(FrozenInstanceError, match="count"):
        delattr(made, "count")  # noqa: B043
    with pytest.raises(TypeError, match="Options has no option cuont"):
        Options(names="a", cuont=4)  # type: ignore[call-arg, arg-type]


def test_what_is_recorded_and_what_a_preset_sets() -> None:
    made = Options(names="a", preset="odd")  # type: ignore[arg-type]
    assert recorded(made) == {"count": 3, "way": "right", "form": None}  # nothing has the form
    assert of_checkpoint(made) == {"count": 3}
    assert departures(made) == () and departures(replace(made, way="left")) == ("way",)


def test_a_function_shows_its_options() -> None:
    @takes(Options, "as_json")
    def work(first: int, **options: Any) -> None: ...

    parameters = inspect.signature(work).parameters
    assert [*parameters][:3] == ["first", "names", "count"]
    assert "as_json" not in parameters and parameters["count"].default == 3
    assert parameters["way"].annotation == Literal["left", "right"]
    assert "max_vocab: int | None = None" in str(inspect.signature(muse.align))


def test_a_command_is_made_of_its_options() -> None:
    seen: list[Options] = []

    @command("muse work a")
    def work(options: Options) -> None:
        seen.append(options)

    def run(*words: str) -> click.testing.Result:
        return CliRunner().invoke(work, [*words])

    assert run("a", "b", "--count", "4", "--no-quick", "--way", "right").exit_code == 0
    assert (seen[0].names, seen[0].count, seen[0].quick, seen[0].way) == (("a", "b"), 4, False, "right")
    for wrong in (["--count", "0"], ["--share", "nan"], ["--way", "up"], ["--way", "left", "--way", "left"]):
        assert run("a", *wrong).exit_code == 2
    assert run("a", "--seed", "3").exit_code == 0  # as every command
    shown = run("--help").output
    assert shown.index("How:") < shown.index("--count N") < shown.index("Common:")
    assert "--seed" not in shown and "[default: 3; 1<=x<=9]" in shown


def test_options_of_align_are_named_in_their_declaration_alone() -> None:
    """Lists of their names, as dictionaries, sets, tuples and lists of two or more strings, or keywords."""
    names = {*options_of(AlignOptions)} - {"src", "tgt"}
    found = []
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Tuple | ast.List | ast.Set):
                strings = {one.value for one in node.elts if isinstance(one, ast.Constant)}
            elif isinstance(node, ast.Dict):
                strings = {one.value for one in node.keys if isinstance(one, ast.Constant)}
            else:
                continue
            if len(strings & names) > 3:
                found.append((module, node.lineno, sorted(map(str, strings & names))))
    assert not found


def test_one_option_is_declared_in_one_place() -> None:
    places = [
        (module, node.lineno)
        for module, tree in trees().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and node.value in ("reweight", "--reweight"))
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "reweight")
    ]
    assert [module for module, _ in places] == ["learn.settings"]


def test_constants_of_help_are_those_of_what_they_are_for() -> None:
    assert NORMALISATIONS == tuple(STEPS)
    assert AlignConfig().normalise == DEFAULT_STEPS


class Found(BadSetting):
    """An error that takes more than its message."""

    def __init__(self, message: str, place: str, count: int, *, sure: bool) -> None:
        super().__init__(message)
        self.known = place, count, sure


def test_an_error_is_reworded_whatever_it_takes() -> None:
    error = Found("a message", "line 7", 3, sure=True)
    assert reworded(error, "another") is error
    assert (str(error), error.known) == ("another", ("line 7", 3, True))


@pytest.mark.parametrize(
    "more", ["--refine plain", "--no-identical", "--reweight", "--no-reweight", "--no-refine", "--lower"]
)
def test_a_space_made_with_other_settings_is_not_replaced(muse: Command, tmp_path: Path, more: str) -> None:
    source, target, _ = raw_pair()
    files = [write_vec(tmp_path / f"{side.language}.vec", side) for side in (source, target)]
    line = [*align_arguments(*files, tmp_path / "out"), "--init", "similarity", "--answers", "csls"]
    assert muse(*line).code == 0
    ended = muse(*line, *more.split())
    assert ended.code == 1
    assert more.split()[0].replace("--no-re", "--re") in ended.errors[0] and "--force" in ended.errors[0]
    assert muse(*line).code == 0  # made as it was


def test_a_mistyped_space_is_no_word(muse: Command, here: Path) -> None:
    saved(Path("embeddings", "aligned", "fr-en"))
    assert muse("translate", "fr20", "--json").json["translations"]
    ended = muse("translate", "fr-em", "fr20")
    assert ended.code == 1
    assert "fr-em" in ended.errors[0] and "embeddings/aligned/fr-en" in ended.errors[0]
