"""Options that all commands accept: a command shows those that it uses, and takes the others silently."""

from pathlib import Path

import click
import pytest

from muse import commands
from tests.support.command import Command, every_command
from tests.support.spaces import saved

COMMON = ("--json", "--seed", "--device", "--threads", "--quiet", "--verbose", "--version")
PACKAGE = Path(commands.__file__).parent
# The common options without an effect, by command. Sentences are encoded on the CPU.
UNUSED = {
    "align-texts": {"--seed", "--device"},
    "demo": {"--seed", "--device", "--threads"},
    "doctor": {"--seed", "--device"},
    "embed": {"--device"},
    "encode": {"--seed", "--device"},
    "fetch": {"--seed", "--device", "--threads"},
    "carry-labels": {"--seed"},
    "index-text": {"--seed", "--device", "--threads"},
    "link": {"--seed"},
    "map": {"--seed", "--device"},
    "neighbours": {"--seed"},
    "terms": {"--seed", "--device"},
    "train-lm": {"--seed", "--device", "--threads"},
    **{f"evaluate {task}": {"--device"} for task in ("sts", "relatedness", "nli", "transfer", "probe")},
}


def common_options(name: str) -> dict[str, click.Option]:
    options = [one for one in every_command()[name].params if isinstance(one, click.Option)]
    return {shown: one for one in options for shown in COMMON if shown in one.opts}


@pytest.mark.parametrize("name", every_command())
def test_every_command_accepts_all_and_shows_those_it_uses(name: str) -> None:
    found = common_options(name)
    assert set(found) == set(COMMON)
    assert {shown for shown, one in found.items() if one.hidden} == UNUSED.get(name, set())
    # A command is not even given what it does not show.
    assert all(one.hidden != one.expose_value or shown == "--version" for shown, one in found.items())


def test_a_script_may_give_them_to_every_command(muse: Command, tmp_path: Path) -> None:
    saved(tmp_path / "space")
    (tmp_path / "text").write_text("fr20 fr21\n")
    lines = [
        f"encode {tmp_path}/space --lang fr --input {tmp_path}/text --out {tmp_path}/a.npy",
        f"train-lm {tmp_path}/text --lang fr --out {tmp_path}/a.arpa",
        "fetch --list",
    ]
    for line in lines:
        plain = muse(*line.split(), "--json")
        given = muse(*line.split(), "--seed", 3, "--device", "cuda", "--threads", 1, "--json")
        assert (plain.code, given.code) == (0, 0)
        assert (plain.err, given.err) == ("", "")
        assert muse(*line.split(), "--seed", "many").code == 2
