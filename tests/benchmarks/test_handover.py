"""handover.py: the log of the system is read, its copy is given a BLEU script, and its text is written."""

import argparse
import csv
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.support.kept_rows import append
from benchmarks.support.two_halves import Halves
from benchmarks.systems import handover

LINE = (
    "INFO - 11/27/26 22:57:37 - 0:01:05 - {step:7} -  120.00 sent/s - XE-en-en: {own:7.4f} || "
    "XE-fr-fr:  5.2057 || XE-fr-en-fr:  5.1677 || "
    "XE-en-fr-en:  5.1006 || ENC-L2-en:  4.0791"
)
SCORES = (
    '{"epoch": 0, "bleu_en_fr_test": 3.5, "bleu_fr_en_test": 4.5, "ppl_en_fr_test": 70.0, '
    '"ppl_fr_en_test": 60.0}'
)


def test_losses_are_read_with_the_scores_that_follow_them(tmp_path: Path) -> None:
    gold = "".join(f"a b c d {number}\n" for number in range(9))
    for name in ("en-fr", "fr-en"):
        (tmp_path / f"ref.{name}.test.txt").write_text(gold)
        (tmp_path / f"hyp0.{name}.test.txt").write_text(
            gold if name == "en-fr" else gold.replace("c d 3", "x d 3")
        )
    log = [LINE.format(step=50, own=5.044), LINE.format(step=100, own=4.5), f"INFO - __log__:{SCORES}"]
    first, second = handover.measured("\n".join(log), tmp_path)
    losses = {"loss_en": 5.044, "loss_fr": 5.2057, "loss_en_fr_en": 5.1006, "loss_fr_en_fr": 5.1677}
    assert first == {"step": 50, "seconds": 65, **losses}
    assert second["step"] == 100
    assert second["bleu_en_fr"] == second["bleu_en_fr_low"] == pytest.approx(100)
    low, middle = second["bleu_fr_en_low"], second["bleu_fr_en"]
    assert 0 < low < middle < 100  # type: ignore[operator]
    assert (second["perplexity_en_fr"], second["perplexity_fr_en"]) == (70, 60)
    assert set(second) | {"system", "table", "seed", "commit", "date"} == set(handover.COLUMNS)


def test_runs_are_made_side_by_side_and_their_rows_follow_those_that_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "both.vec").write_text("1 4\na 1 0 0 0\n")
    given: list[list[str]] = []

    def begun(copy: Path, *arguments: str, device: str, told: int) -> subprocess.Popen[bytes]:
        given.append([device, *arguments])
        (out,) = (one.split("=", 1)[1] for one in arguments if one.startswith("--dump_path="))
        (Path(out) / "run" / "x").mkdir(parents=True)
        (Path(out) / "run" / "x" / "train.log").write_text(LINE.format(step=50, own=5.0))
        code = "import sys; sys.exit('what went wrong')" if "random" in out else ""
        return subprocess.Popen([sys.executable, "-c", code], stderr=told, start_new_session=True)

    monkeypatch.setattr(handover, "begun", begun)
    monkeypatch.setattr(handover, "POLLED", 0.1)
    append(tmp_path / "handover.csv", [{"system": "before"}], handover.COLUMNS)
    asked = argparse.Namespace(
        at_once=2, seconds=30.0, device="cuda", generators=3, sync=20, rate=0.001, batch=8, every=50,
        steps=100, out=tmp_path,
    )  # fmt: skip
    runs = [handover.Run(table, 3, tmp_path) for table in ("muse", "random")]
    handover.train(runs, tmp_path, asked)
    with (tmp_path / "handover.csv").open() as lines:
        rows = [(row["system"], row["table"], row["step"]) for row in csv.DictReader(lines)]
    assert rows == [("before", "", ""), *(("UnsupervisedMT", table, "50") for table in ("muse", "random"))]
    assert [call[:4] for call in given] == [["cuda", "run.py", "30.0", "40"]] * 2
    assert [any(one.startswith("--pretrained_emb") for one in call) for call in given] == [True, False]


def test_a_failed_run_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(handover, "POLLED", 0.1)

    def begin(self: handover.Run, *_: object) -> subprocess.Popen[bytes]:
        self.told.write_text("what went wrong")
        return subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"], start_new_session=True)

    monkeypatch.setattr(handover.Run, "begin", begin)
    asked = argparse.Namespace(at_once=1, seconds=30.0, out=tmp_path)
    handover.train([handover.Run("random", 3, tmp_path)], tmp_path, asked)
    assert capsys.readouterr().out.split("\n")[:2] == ["random, seed 3: ended with 3", "what went wrong"]


@pytest.mark.slow
def test_the_copy_has_bleu_and_the_words_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checkout" / "NMT").mkdir(parents=True)
    copy = handover.installed(tmp_path / "checkout", tmp_path / "work")
    called: list[str] = []
    monkeypatch.setattr(handover, "run", lambda _, *arguments: called.extend(map(str, arguments)))
    pairs = [(("a", "b"), ("x", "y", f"z{number}")) for number in range(20)]
    texts: dict[str, list[tuple[str, ...]]] = {"en": [("a", "b"), ("a",)], "fr": [("x",)]}
    handover.prepare(copy, tmp_path / "0", Halves(texts, pairs, {"en": ("a", "b"), "fr": ("x",)}))
    assert (tmp_path / "0" / "vocabulary.txt").read_text() == "a 2\nb 1\nx 1\n"
    assert (tmp_path / "0" / "test.fr").read_text().splitlines() == [f"x y z{n}" for n in range(16, 20)]
    assert len([name for name in called if name.endswith((".en", ".fr"))]) == 6
    script = copy / "tools/mosesdecoder/scripts/generic/multi-bleu.perl"
    reference = tmp_path / "reference"
    reference.write_text("a b c d e\n")
    done = subprocess.run(
        [sys.executable, script, reference], input="a b c d e\n", capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("BLEU = 100.00,")
