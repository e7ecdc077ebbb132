"""Text of unknown words: the warning tells text without spaces from another language, in every command."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from muse.commands.inputs import SAMPLE, Sampled
from muse.space import save_space
from muse.text import segmentation
from tests.support.command import Command
from tests.support.spaces import PROVENANCE, sides_to_save

WORDS = [f"{chr(0x4E00 + 7 * row)}{chr(0x5E00 + 3 * row)}" for row in range(39)]  # of two Han characters
ADVICE = "10 letters stand between two spaces on average: separate the words by spaces first, as jieba"
COMMANDS = {
    "encode": "encode space --lang zh --input {} --out x.npy",
    "mine": "mine space --src-lang zh --tgt-lang en --source {} --target text.en --out x.tsv",
    "evaluate": "evaluate space --task sentences --src zh --source {} --target text.en",
    "translate": "translate space --src zh",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a space zh, en and text in both."""
    monkeypatch.chdir(tmp_path)
    sides = sides_to_save("zh", plain=True)
    chinese = replace(sides["zh"], vectors=replace(sides["zh"].vectors, words=WORDS))
    save_space("space", {"en": sides["en"], "zh": chinese}, pivot="en", provenance=PROVENANCE)
    lines = [[(start + step) % 39 for step in range(0, 10, 2)] for start in range(12)]
    for name, between in (("unspaced.zh", ""), ("spaced.zh", " ")):
        (tmp_path / name).write_text("".join(f"{between.join(WORDS[w] for w in line)}\n" for line in lines))
    (tmp_path / "text.en").write_text("".join(f"{' '.join(f'en{w}' for w in line)}\n" for line in lines))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_text_without_spaces_is_told_in_every_command(
    muse: Command, here: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segmentation, "has_segmenter", lambda: False)
    for name, told in (("unspaced.zh", True), ("spaced.zh", False)):
        line = COMMANDS[command].format(name)
        text = (here / name).read_text() if command == "translate" else None
        ended = muse(*line.split(), stdin=text)
        assert ended.code == 0
        assert (ADVICE in ended.err, "without a vector" in ended.err) == (told, told), ended.err
        assert "is the text in" not in ended.err
        assert ("[segment]" in ended.err) == told  # the command that installs what segments it


@pytest.mark.parametrize("command", COMMANDS)
def test_text_without_spaces_is_segmented_in_every_command(muse: Command, here: Path, command: str) -> None:
    line = COMMANDS[command]
    found = []
    for name in ("unspaced.zh", "spaced.zh"):
        text = (here / name).read_text() if command == "translate" else None
        ended = muse(*line.format(name).split(), stdin=text)
        assert (ended.code, "without a vector" in ended.err) == (0, False), ended.err
        written = [path.read_bytes().replace(b" ", b"") for path in here.glob("x.*")]
        found.append((re.sub(r"(un)?spaced.zh|@\w{4}|[.\d]+ s\b", "", ended.out), written))
    assert found[0] == found[1]  # as if the spaces had been there


def test_a_sample_is_the_first_lines_and_all_blocks_pass() -> None:
    blocks = [[f"{block} {line}" for line in range(600)] for block in range(3)]
    sampled = Sampled(iter(blocks))
    assert list(sampled) == blocks
    assert sampled.sample == [line for block in blocks for line in block][:SAMPLE]
