"""Quality: BLEU and chrF of translations, computed by sacrebleu, which only this module uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from muse.errors import Mismatch, MissingExtra
from muse.evaluation.score import with_interval
from muse.installation import __version__, install_extra
from muse.languages import language_code

_TOKENISERS = {"zh": "zh", **dict.fromkeys(("ja", "km", "lo", "my", "th"), "char")}
SAMPLES = 1_000  # of the bootstrap


@dataclass(frozen=True)
class Quality:
    """One figure from 0 to 100, its 95 % bootstrap interval, and sacrebleu's signature with ours."""

    name: str
    value: float
    ci95: tuple[float, float]
    signature: str

    def __str__(self) -> str:
        return f"{self.name} = {with_interval(self.value, self.ci95, 2)} | {self.signature}"


def check_references(lines: int, references: Sequence[str]) -> None:
    """Raise Mismatch unless there is a reference for each of the lines."""
    if lines != len(references) or not references:
        raise Mismatch(
            f"--reference needs one line for each line of the text, got {len(references)} for {lines}; check "
            "that both are the same text"
        )


def quality(
    translations: Sequence[str], references: Sequence[str], *, language: str = "", made: str = ""
) -> list[Quality]:
    """BLEU (Papineni et al., 2002) and chrF (Popović, 2015) of lines of a language against their references.

    BLEU counts characters in languages that are written without spaces. `made` is the part of the signature
    that says how the translations were made.
    """
    check_references(len(translations), references)
    # The bootstrap of a single metric fails if a sample scores zero (sacrebleu 2.6); that of its paired test
    # does not, and also accepts a single system.
    metrics, test = require_sacrebleu()
    cut = {"BLEU": {"tokenize": _TOKENISERS.get(language_code(language), "13a")}}
    ready = {
        name: metric(references=[list(references)], **cut.get(name, {})) for name, metric in metrics.items()
    }
    system = [("muse", list(translations))]
    signatures, scores = test(system, ready, references=None, test_type="bs", n_samples=SAMPLES)()
    ours = [*([made] if made else []), f"muse {__version__}"]
    named = (
        (name, scores[key][0], str(signatures[key])) for name, key in zip(metrics, signatures, strict=True)
    )
    return [
        Quality(
            name, float(found.score),
            (max(0.0, float(found.mean - found.ci)), min(100.0, float(found.mean + found.ci))),
            " | ".join([signature, *ours]),
        )
        for name, found, signature in named
    ]  # fmt: skip


def require_sacrebleu() -> tuple[dict[str, Any], Any]:
    """The metrics of sacrebleu by name, and its bootstrap; MissingExtra if it is not installed."""
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
        from sacrebleu.significance import PairedTest
    except ImportError as error:
        raise MissingExtra(
            f"BLEU and chrF need sacrebleu, which is missing; run {install_extra('eval')}"
        ) from error
    return {"BLEU": BLEU, "chrF": CHRF}, PairedTest
