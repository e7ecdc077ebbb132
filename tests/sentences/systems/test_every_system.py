"""Every system through muse train: what is saved is loaded, and a killed run ends as one that was not."""

from pathlib import Path

import pytest

from muse.sentences.loading import load_encoder
from muse.sentences.systems.registry import SAVED
from muse.sentences.training.trainer import Training
from muse.space import load_space
from tests.support.command import Command, refused
from tests.support.toy_training import folder_of_three

_LAYERS = "--set layers=1 --set heads=2 --set hidden=16 --set warmup=2 --set steps=4 --batch 8"
_TEXTS = "--text en=F/en.txt --text fr=F/fr.txt --text de=F/de.txt"
_BOTH = "--lang fr --parallel F/fr.tsv --parallel de=F/de.tsv"
RUNS = {  # F is the folder of the files, and of what other runs have saved
    "x-cbow": "--lang fr --parallel F/fr.tsv",
    "projection": "--lang fr --parallel F/fr.tsv --dropout 0.2",
    "cvm-add": "--lang fr --parallel F/fr.tsv",
    "sp": f"{_BOTH} --set pieces=200 --set network=bilstm --set units=8 --batch 32",
    "lens": "--lang fr --parallel F/fr.tsv --set dimension=16 --set dropout=0.1",
    "infersent": "--lang en --nli F/nli --set units=4 --set hidden=8 --set dropout=0.1",
    "x-bilstm": f"{_BOTH} --set units=4 --set english=F/infersent --batch 32",
    "cmlm": f"{_BOTH} --text fr=F/fr.novels --text de=F/de.novels {_LAYERS} --set feed_forward=16",
    "bgt": "--lang fr --parallel F/fr.tsv --set bag=words --set semantic=8 --set language=4",
    "xlm": f"{_BOTH} {_TEXTS} {_LAYERS} --set length=16 --set pair_tokens=64 --set pieces=200",
    "translator": f"{_TEXTS} {_LAYERS} --set pieces=200 --set words=5",
    "xlm --nli": "--lang en --nli F/nli --parallel fr=F/fr.tsv --set pretrained=F/xlm --set reads=apart "
    "--set alignment_epochs=2 --set alignment_steps=4",
}
NEEDED = {"x-bilstm": "infersent", "xlm --nli": "xlm"}
KILLED_AT = {"cmlm": 5, "xlm --nli": 5}  # in the second of two stages, each of three scores; else the first
QUICK = ("x-cbow", "lens")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts of three languages."""
    return folder_of_three(tmp_path_factory.mktemp("files"))


def run(files: Path, name: str, *more: object) -> list[object]:
    """The arguments that train a system for two epochs, into a folder of its name."""
    command: list[object] = ["train", files / "space", "--encoder", name.split()[0]]
    start = ["train-translator", files / "space"] if name == "translator" else command
    given = RUNS[name].replace("F/", f"{files}/").split()
    return [*start, *given, "--epochs", 2, "--out", files / name, "-q", "--json", *more]


def test_every_system_has_a_run() -> None:
    assert {*RUNS} == {*SAVED}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RUNS]
)
def test_it_is_saved_and_loaded_and_a_killed_run_goes_on_to_the_same_bytes(
    muse: Command, files: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name in NEEDED:
        assert muse(*run(files, NEEDED[name])).code == 0
    found = muse(*run(files, name)).json
    encoder = load_encoder(files / name, load_space(files / "space"))
    assert encoder.name == found["encoder"]
    assert encoder.encode([f"{encoder.languages[-1]}1 ."], encoder.languages[-1]).matrix.any()
    score, calls = Training.score, 0

    def killed(self: Training) -> float:
        nonlocal calls
        calls += 1
        if calls == KILLED_AT.get(name, 3):
            raise KeyboardInterrupt
        return score(self)

    monkeypatch.setattr(Training, "score", killed)
    again = run(files, name, "--out", files / "again")
    assert muse(*again).code == 130
    if "--text" in again:  # languages are numbered in this order
        first = again.index("--text")
        second = again.index("--text", first + 1)
        turned = [*again]
        turned[first + 1], turned[second + 1] = again[second + 1], again[first + 1]
        refused(muse(*turned, "--resume"), "those in", "differ")
    assert muse(*again, "--resume").code == 0
    same = [(files / folder / "arrays.npz").read_bytes() for folder in (name, "again")]
    assert same[0] == same[1]
