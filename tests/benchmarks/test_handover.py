"""handover.py: the log of the system is read, its copy is given a BLEU script, and its text is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.support.two_halves import Halves
from benchmarks.systems import handover

LINE = (
    "INFO - {step:7} - XE-en-en: {own:7.4f} || XE-fr-fr:  5.2057 || XE-fr-en-fr:  5.1677 || "
    "XE-en-fr-en:  5.1006 || ENC-L2-en:  4.0791"
)
SCORES = (
    '{"epoch": 0, "bleu_en_fr_test": 3.5, "bleu_fr_en_test": 4.5, "ppl_en_fr_test": 70.0, '
    '"ppl_fr_en_test": 60.0}'
)


def test_losses_are_read_with_the_scores_that_follow_them() -> None:
    log = [LINE.format(step=50, own=5.044), LINE.format(step=100, own=4.5), f"INFO - __log__:{SCORES}"]
    first, second = handover.measured("\n".join(log))
    losses = {"loss_en": 5.044, "loss_fr": 5.2057, "loss_en_fr_en": 5.1006, "loss_fr_en_fr": 5.1677}
    assert first == losses
    scores = {"bleu_en_fr": 3.5, "bleu_fr_en": 4.5, "perplexity_en_fr": 70.0, "perplexity_fr_en": 60.0}
    assert second == {**losses, "loss_en": 4.5, **scores}


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
