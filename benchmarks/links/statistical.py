"""Links of fast_align and eflomal, as sil-thot of PyPI has them: run by a Python that has it, and not muse.

    python -m venv thot && thot/bin/pip install sil-thot
    thot/bin/python benchmarks/links/statistical.py fast_align a.en a.fr a.links [--more MORE.en MORE.fr]

The sentences are tokenised, with spaces; both directions are joined by grow-diag-final-and. Prints the
processor seconds and the peak of memory.
"""

import argparse
import resource
import time
from pathlib import Path

import thot.alignment as thot  # type: ignore[import-not-found]


def main() -> None:
    """Learn from the sentences, and --more, and write the links of the sentences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=("fast_align", "eflomal"))
    parser.add_argument("files", nargs=3, type=Path)
    parser.add_argument("--more", nargs=2, type=Path)
    given = parser.parse_args()
    own = sentences(given.files[:2])
    pairs = own + (sentences(given.more) if given.more else [])
    kind = {"fast_align": thot.FastAlignModel, "eflomal": thot.EflomalAlignmentModel}[given.model]
    began, ways = time.process_time(), []
    for way in (1, -1):
        model = kind()
        for pair in pairs:
            one, two = pair[::way]
            model.add_sentence_pair(one, two)
        model.start_training()
        for _ in range(5 if given.model == "fast_align" else 1):
            model.train()
        model.end_training()
        ways.append(model)
    joined = thot.SymmetrizedAligner(*ways)
    joined.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    lines = []
    for one, two in own:
        _, matrix = joined.get_best_alignment(one, two)
        links = (
            (i, j) for i in range(matrix.row_length) for j in range(matrix.column_length) if matrix[i, j]
        )
        lines.append(" ".join(f"{i}-{j}" for i, j in links))
    given.files[2].write_text("\n".join(lines) + "\n", encoding="utf-8")
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    rate = len(pairs) / seconds
    print(f"{given.model}: {len(pairs)} pairs, {seconds:.1f} s, {rate:.0f} a second, {peak:.0f} MB")


def sentences(files: list[Path]) -> list[tuple[list[str], list[str]]]:
    """The pairs of sentences of two files."""
    texts = [path.read_text(encoding="utf-8").splitlines() for path in files]
    return [(one.split(), two.split()) for one, two in zip(*texts, strict=True)]


if __name__ == "__main__":
    main()
