"""`muse mine` on a million sentences: seconds, the recall it measures, and the pairs it finds.

    python -m benchmarks.scale.mining_size SPACE FOLDER [--sentences 1000000] [--search auto]
        [--shared ../shared]

SPACE has en and fr. A sentence is two of Tatoeba, joined, and its translation the same two in the other
language, so every sentence shares half its words with some others. FOLDER gets both texts and, for
`approximate.py --rows`, their vectors, means of words of 300 dimensions. `found` is the share of
the translations that are among the pairs. The seconds are a user's, from start to exit.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import training
from benchmarks.support.tables import header, heading, muse, row

LANGUAGES = ("en", "fr")
DRAWN = 1.2  # for each sentence: some are drawn twice


def joined(sentences: int, shared: Path) -> list[tuple[str, str]]:
    """So many translations of joined sentences, none of which is in two."""
    text = training(shared / "data", "fr")
    drawn = np.random.default_rng(0).integers(len(text.english), size=(round(DRAWN * sentences), 2))
    english = {f"{text.english[i]} {text.english[j]}": f"{text.other[i]} {text.other[j]}" for i, j in drawn}
    french = {two: one for one, two in english.items()}
    return [(one, two) for two, one in french.items()][:sentences]


def main() -> None:
    """Writes the texts and their vectors, and prints a row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("space", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--search", default="auto")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    heading(f"Mining {asked.sentences} x {asked.sentences} sentences")
    pairs = joined(asked.sentences, asked.shared)
    texts = [asked.folder / f"{language}.txt" for language in LANGUAGES]
    for side, path in enumerate(texts):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    header(["command", "wall s", "result", "found", "recall measured in the run"])
    for language, path in zip(LANGUAGES, texts, strict=True):
        out = path.with_suffix(".npy")
        run = muse("encode", asked.space, "--lang", language, "--input", path, "--out", out)
        row([f"encode {language}", run.seconds, run.fields["sentences"], "", ""])
    mined = asked.folder / "mined.tsv"
    languages = ["--src-lang", "en", "--tgt-lang", "fr"]
    run = muse(
        "mine", asked.space, *languages, "--source", texts[0], "--target", texts[1],
        "--search", asked.search, "--out", mined,
    )  # fmt: skip
    with mined.open(encoding="utf-8") as file:
        found = {tuple(line.rstrip("\n").split("\t")[1:]) for line in file}
    share = f"{100 * len(found.intersection(pairs)) / len(pairs):.2f} %"
    recall = f"{100 * run.fields['search']['recall']:.1f} %" if "search" in run.fields else "exact"
    row(["mine", run.seconds, len(found), share, recall])


if __name__ == "__main__":
    main()
