"""From text to verdict: `muse embed` on two texts, `muse align`, and how good the dictionary is.

    python -m benchmarks.align.embedding --out FILE.csv [--pairs en-fr,en-de] [--shared ../shared]
        [--settings "--epochs 15;--epochs 15 --window 10"] [--gold development|test]

The texts are the novels of ../shared/data/text. Every setting of `--settings`, options of `muse embed`
between semicolons, is a row; an empty one is the default. What is chosen is chosen by the development lists
(the first 5,000 words of MUSE's dictionaries); the test lists are the next 1,500.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, heading, muse, row, today

COLUMNS = (
    "pair", "settings", "gold", "tokens", "words", "seconds_embed", "seconds_align", "peak_mb", "verdict",
    "confidence", "p_at_1", "ci95_low", "ci95_high", "covered", "p_at_1_all", "commit", "date",
)  # fmt: skip
LISTS = {"development": "0-5000", "test": "5000-6500"}


def embedded(folder: Path, language: str, settings: str, shared: Path) -> dict[str, Any]:
    """What `muse embed` prints for a language, trained once for all pairs."""
    out = folder / f"{language}.vec"
    text = shared / "data" / "text" / f"novels.{language}.tsv.gz"
    run = muse("embed", text, "--lang", language, "--out", out, *shlex.split(settings))
    return {**run.fields, "seconds": run.seconds}


def main() -> None:
    """Prints a row for each setting and pair, and appends it to the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--pairs", default="en-fr,en-de")
    parser.add_argument("--settings", default="")
    parser.add_argument("--gold", default="test", choices=sorted(LISTS))
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading("From text to verdict")
    header(COLUMNS)
    new = not asked.out.exists()
    with asked.out.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        for settings in asked.settings.split(";"):
            for found in measured(asked, settings.strip()):
                writer.writerow(found)
                file.flush()
                row([found[name] for name in COLUMNS])


def measured(asked: argparse.Namespace, settings: str) -> list[dict[str, object]]:
    """The rows of a setting."""
    pairs = [tuple(pair.split("-")) for pair in asked.pairs.split(",")]
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        languages = dict.fromkeys(language for pair in pairs for language in pair)
        made = {one: embedded(folder, one, settings, asked.shared) for one in languages}
        for source, target in pairs:
            own, other = (folder / f"{language}.vec" for language in (source, target))
            files: list[str | Path] = ["--src-emb", own, "--tgt-emb", other]
            space = folder / f"{source}-{target}"
            run = muse("align", "--src", source, "--tgt", target, *files, "--out", space)
            gold = asked.shared / "data" / "dictionaries" / f"{source}-{target}.{LISTS[asked.gold]}.txt"
            score = muse("evaluate", space, "--src", source, "--tgt", target, "--dictionary", gold)
            low, high = score.fields["ci95"]
            found.append({
                "pair": f"{source}-{target}", "settings": settings, "gold": asked.gold,
                "tokens": sum(made[one]["tokens"] for one in (source, target)),
                "words": " ".join(str(made[one]["words"]) for one in (source, target)),
                "seconds_embed": round(sum(made[one]["seconds"] for one in (source, target)), 1),
                "seconds_align": round(run.seconds, 1),
                "peak_mb": max(made[one]["peak_memory_mb"] for one in (source, target)),
                "verdict": run.fields["verdict"], "confidence": round(run.fields["confidence"], 2),
                "p_at_1": round(score.fields["p_at_1"], 1), "ci95_low": round(low, 1),
                "ci95_high": round(high, 1), "covered": score.fields["covered"],
                "p_at_1_all": round(score.fields["p_at_1_all"], 1),
                "commit": commit(), "date": today(),
            })  # fmt: skip
    return found


if __name__ == "__main__":
    main()
