"""Several languages in one space: what each pair is worth, jointly refined, and once another is added.

    python -m benchmarks.align.many [--languages fr,de,it] [--pivot en] [--add ru] [--seed 0]
        [--extra "--max-vocab 10000"] [--shared ../shared]

Three runs of `muse align`: all languages one by one, the same with --joint, and one more language
added to the first space with --into. P@1 is on the held-out gold lists (5000-6500), in both
directions of every pair that has one; the difference is joint minus one by one, with the p-value of
the paired test of `muse evaluate --against`. The first table ends with what the additions moved.
"""

import shlex
import tempfile
from itertools import permutations
from pathlib import Path
from typing import Any

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import Run, header, heading, muse, row

COLUMNS = ("pair", "one by one", "95 %", "joint", "difference", "p", "after the addition", "coverage")


def source_options(languages: list[str], shared: Path) -> list[str | Path]:
    """The options of `muse align` that name languages to map and their files."""
    options: list[str | Path] = []
    for language in languages:
        options += ["--src", language, "--src-emb", shared / "data" / "vectors" / f"{language}.vec.gz"]
    return options


def files_of(space: Path) -> dict[str, bytes]:
    """Every file of a space but the manifest, by its name."""
    return {
        path.relative_to(space).as_posix(): path.read_bytes()
        for path in sorted(space.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


def gold_lists(languages: list[str], shared: Path) -> dict[tuple[str, str], Path]:
    """The held-out list of every ordered pair of languages that has one."""
    lists = shared / "data" / "dictionaries"
    found = {pair: lists / "{}-{}.5000-6500.txt".format(*pair) for pair in permutations(languages, 2)}
    return {pair: path for pair, path in found.items() if path.exists()}


def evaluate(space: Path, pair: tuple[str, str], gold: Path, *more: str | Path) -> dict[str, Any]:
    """What `muse evaluate` says of one direction."""
    direction = ["--src", pair[0], "--tgt", pair[1]]
    return muse("evaluate", space, "--dictionary", gold, *direction, *more).fields


def score(pair: tuple[str, str], gold: Path, spaces: dict[str, Path], added: str) -> None:
    """Prints the row of one direction; the added language is in the last space only."""
    after = evaluate(spaces["after"], pair, gold)
    name, last = "-".join(pair), f"{after['p_at_1']:.2f}"
    if added in pair:
        row([name, "", "", "", "", "", last, f"{after['coverage']:.3f}"])
        return
    plain = evaluate(spaces["plain"], pair, gold)
    joint = evaluate(spaces["joint"], pair, gold, "--against", spaces["plain"])
    compared, (low, high) = joint["against"], plain["ci95"]
    row([
        name, f"{plain['p_at_1']:.2f}", f"{low:.1f}-{high:.1f}", f"{joint['p_at_1']:.2f}",
        f"{compared['difference']:+.2f}", f"{compared['p_value']:.3f}", last, f"{plain['coverage']:.3f}",
    ])  # fmt: skip


def verdicts(run: Run) -> str:
    """One line on a run: how sure each language is, the seconds and the memory."""
    fields = run.fields
    own = fields.get("languages", {fields["signature"].split(" | ")[1].split("-")[0]: fields})
    said = [f"{name} {one['init']} {one['verdict']} ({one['confidence']:.2f})" for name, one in own.items()]
    memory = fields["peak_memory_mb"]
    return f"- `{run.command}`: {', '.join(said)}; {run.seconds:.0f} s, {memory:.0f} MB"


def kept(before: dict[str, bytes], after: dict[str, bytes], pivot: str) -> str:
    """One sentence on the files that the addition left as they were."""
    same = sum(after.get(name) == data for name, data in before.items())
    rows = f"{pivot}/vectors.npy"
    equal = "bit-identical" if before[rows] == after[rows] else "CHANGED"
    return f"After the addition {same} of {len(before)} files are bit-identical; {rows}: {equal}."


def main() -> None:
    """Makes the three spaces, prints the table and what was kept."""
    asked = command_line(
        __doc__, languages="fr,de,it", pivot="en", add="ru", seed="0", extra="", shared=SHARED,
    )  # fmt: skip
    languages, shared = asked.languages.split(","), asked.shared
    settings: list[str | Path] = ["--seed", asked.seed, *shlex.split(asked.extra)]
    target = ["--tgt", asked.pivot, "--tgt-emb", shared / "data" / "vectors" / f"{asked.pivot}.vec.gz"]
    heading("Many languages in one space")
    with tempfile.TemporaryDirectory() as folder:
        spaces = {name: Path(folder) / name for name in ("plain", "joint", "after")}
        all_of_them = ["align", *source_options(languages, shared), *target, *settings]
        runs = [
            muse(*all_of_them, "--out", spaces["plain"]),
            muse(*all_of_them, "--joint", "--out", spaces["joint"]),
        ]
        added = ["align", *source_options([asked.add], shared), *settings]
        runs.append(muse(*added, "--into", spaces["plain"], "--out", spaces["after"]))
        header(COLUMNS)
        for pair, gold in gold_lists([*languages, asked.pivot, asked.add], shared).items():
            score(pair, gold, spaces, asked.add)
        print("", kept(files_of(spaces["plain"]), files_of(spaces["after"]), asked.pivot), sep="\n")
        print(f"Joint refinement: {runs[1].fields['joint']}\n", *map(verdicts, runs), sep="\n")


if __name__ == "__main__":
    main()
