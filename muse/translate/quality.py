"""Quality: BLEU and chrF of translations, by sacrebleu, which only this module uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from muse.errors import Mismatch, MissingExtra
from muse.version import __version__

SAMPLES = 1_000  # of the bootstrap


@dataclass(frozen=True)
class Quality:
    """One figure from 0 to 100, its 95 % bootstrap interval, and sacrebleu's signature with ours."""

    name: str
    value: float
    ci95: tuple[float, float]
    signature: str

    def __str__(self) -> str:
        """The line to print."""
        low, high = self.ci95
        return f"{self.name} = {self.value:.2f} [{low:.2f}, {high:.2f}] | {self.signature}"


def quality(translations: Sequence[str], references: Sequence[str], *, made: str = "") -> list[Quality]:
    """BLEU (Papineni et al., 2002) and chrF (Popović, 2015) of lines against their references.

    `made` says in the signature how the translations were made.
    """
    if len(translations) != len(references) or not references:
        raise Mismatch(
            f"--reference needs a line for every line of the text, got {len(references)} for "
            f"{len(translations)}; check that both are the same text"
        )
    return [_score(name, metric, translations, references, made) for name, metric in metrics().items()]


def metrics() -> dict[str, Any]:
    """A new metric of sacrebleu by its name; MissingExtra without the package."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise MissingExtra("BLEU and chrF need sacrebleu, found none; pip install 'muse[eval]'") from error
    return {"BLEU": BLEU(), "chrF": CHRF()}


def _score(
    name: str, metric: Any, translations: Sequence[str], references: Sequence[str], made: str
) -> Quality:
    # Of one line no other sample can be drawn, and sacrebleu gives no interval.
    found = metric.corpus_score(list(translations), [list(references)], n_bootstrap=SAMPLES)
    middle, half = float(found._mean), float(found._ci)
    parts = [str(metric.get_signature()), *([made] if made else []), f"muse {__version__}"]
    return Quality(name, float(found.score), (middle - half, middle + half), " | ".join(parts))
