"""P@1 by CSLS and by all evidence, without pairs and with some, with paired intervals and calibration.

    python -m benchmarks.words.all_evidence --spaces FOLDER --out FILE.csv [--pairs en-fr,en-it]
        [--help-given none,500,5000] [--draws 0] [--without en-de=FILE.npz] [--list test,unseen]
        [--shared ../shared] [--threads 2] [--device cpu]

Each space is aligned once and kept in FOLDER, as PAIR.HELP.DRAW; the number of a draw is the seed too, also
where the same pairs or none are given. `--list development` measures on a part of
the training list without any pair given, `--list test` on the gold list, `--list unseen` on words of
Tatoeba's training sentences that are in neither (`benchmarks.align.unseen`). `csls_other` and
`evidence_other` are P@1 of the queries whose gold lacks their own string; `worst_band` the largest
difference between mean probability and P@1 of three bands of frequency; `trusted` the share of queries
whose answer is shown as trusted, and `trusted_right` the share of these that are right; `vectors`,
`frequency` and `spelling` the percent of words that have another answer without this kind of evidence. The
usual trees from elsewhere were learned on en-de: for this pair others are given, by --without.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.align.unseen import has_sentences, unseen_list
from benchmarks.support.draws import HELP, IDENTICAL, NONE, write_draw
from benchmarks.support.options import NEEDED, REPEATED, command_line
from benchmarks.support.pairs import SHARED, Pair, find_pair, is_for_test
from benchmarks.support.tables import append_rows, commit, numbers, today
from muse.api.answers import RankerInputs, choose_answers
from muse.api.inputs import read_side
from muse.api.run import run
from muse.api.settings import settings_of
from muse.evaluation.score import gold_name
from muse.evaluation.words import WordScore, compare_words, evaluate_words
from muse.files import read_lexicon
from muse.files.space_manifest import read_manifest
from muse.learn.settings import AlignConfig
from muse.lexicon import Lexicon
from muse.progress import Progress
from muse.ranking.model import read_pretrained
from muse.ranking.translations import TRUSTED
from muse.search.exact import set_threads
from muse.space import Space, load_space

PAIRS = "en-fr,en-de,en-it,en-ru,ru-en,web-fr-en,zhang-glove-es-en,zhang-glove-it-en"
BANDS = 3
COLUMNS = (
    "pair", "help", "draw", "list", "queries", "verdict", "csls", "evidence", "difference", "low", "high",
    "p_value", "csls_other", "evidence_other", "calibration_error", "worst_band", "trusted",
    "trusted_right", "by", "labelled", "of_other_languages", "vectors", "frequency", "spelling",
    "commit", "date",
)  # fmt: skip


def calibration_error(probability: NDArray[np.float64], right: NDArray[np.bool_], bins: int = 10) -> float:
    """The mean difference between probability and share right, over bins of equal size (Naeini, 2015)."""
    parts = np.array_split(np.argsort(probability, kind="stable"), bins)
    return sum(
        abs(float(probability[at].mean() - right[at].mean())) * len(at) for at in parts if len(at)
    ) / len(right)


def made(
    pair: Pair, given: Path | None, folder: Path, seed: int, trees: Path | None, device: str = "cpu"
) -> Space:
    """The space of a pair with answers, made unless it is there."""
    if not (folder / "manifest.json").exists():
        config = configured(pair, given, folder, seed)
        report = run(config, device=device)
        quiet = Progress(quiet=True)
        files = {pair.source: pair.source_file, pair.target: pair.target_file}
        rows = {name: read_side(config, name, path, quiet).vectors for name, path in files.items()}
        chosen = None if trees is None else read_pretrained(trees)
        known = RankerInputs(report.config.lexicon, pretrained=chosen)
        choose_answers(report.aligned, folder, report.learned, rows, known, seed=seed, progress=quiet)
        read_manifest(folder).write(folder)
    return load_space(folder)


def configured(pair: Pair, given: Path | None, folder: Path, seed: int) -> AlignConfig:
    """The settings of an alignment by CSLS alone, into a folder PAIR.HELP.DRAW."""
    options: dict[str, Any] = {
        "seed": seed, "src_emb": pair.source_file, "tgt_emb": pair.target_file, "lower": pair.lower,
        "dictionary": given, "out": folder, "answers": "csls",
    }  # fmt: skip
    if folder.name.split(".")[1] == IDENTICAL:
        options |= {"dictionary": None, "init": IDENTICAL}
    return settings_of(src=pair.source, tgt=pair.target, **options)


def measured(space: Space, lexicon: Lexicon, pair: Pair) -> dict[str, Any]:
    """The figures of one list."""
    ways: dict[str, Any] = {"source": pair.source, "target": pair.target}
    score, alone = (
        evaluate_words(one, lexicon, rng=np.random.default_rng(0), **ways) for one in (space, space.by_csls())
    )
    compared = compare_words(score, alone, np.random.default_rng(0))
    row = {
        "queries": compared.queries, "csls": compared.second, "evidence": compared.first,
        "difference": compared.difference, "low": compared.ci95[0], "high": compared.ci95[1],
        "p_value": compared.p_value, "csls_other": _other(alone), "evidence_other": _other(score),
    }  # fmt: skip
    table = space.answers(pair.source, pair.target)
    if table is None:
        return row
    index = space.vectors(pair.source).index
    queries = np.array([index[word] for word in score.ranks])
    order = np.argsort(queries)
    right = np.array([rank == 1 for rank in score.ranks.values()])[order]
    _, _, shares = table.padded(queries[order])
    probability = shares[:, 0].astype(np.float64)
    bands = np.array_split(np.arange(len(right)), BANDS)  # by frequency
    trusted = probability >= TRUSTED
    return row | {
        "calibration_error": calibration_error(probability, right),
        "worst_band": max(abs(float(probability[at].mean() - right[at].mean())) for at in bands),
        "trusted": trusted.mean(), "trusted_right": right[trusted].mean() if trusted.any() else "",
    }  # fmt: skip


def _other(score: WordScore) -> float | str:
    return next((one.p_at_1 for one in score.parts if one.name == "different"), "")


def rows(asked: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The row of each cell."""
    without = dict(one.split("=") for one in asked.without)
    for name in asked.pairs.split(","):
        pair = find_pair(name, asked.shared)
        sides = pair.vectors()
        for help_ in asked.help_given.split(","):
            for draw in numbers(asked.draws):
                folder = asked.spaces / f"{name}.{help_}.{draw}{'.part' * asked.development}"
                given = None
                if help_ != NONE:
                    given = write_draw(pair, sides, help_, draw, asked.spaces)
                    if asked.development and help_ != IDENTICAL:
                        _without_development(given)
                trees = Path(without[name]) if name in without else None
                space = made(pair, given, folder, draw, trees, asked.device)
                for path in _lists(asked, pair):
                    yield {"pair": name, "help": help_, "draw": draw} | _row(asked, pair, space, path)


def _lists(asked: argparse.Namespace, pair: Pair) -> Iterator[Path]:
    """The lists to measure on that there are for this pair."""
    if asked.development:
        yield pair.must_train_in(asked.spaces)
    if "test" in asked.list:
        yield pair.gold_in(asked.spaces)
    if "unseen" in asked.list and has_sentences(pair, asked.shared):
        yield unseen_list(pair, asked.shared, asked.spaces)


def _row(asked: argparse.Namespace, pair: Pair, space: Space, path: Path) -> dict[str, Any]:
    lexicon = read_lexicon(path)
    if asked.development:
        lexicon = Lexicon(tuple(one for one in lexicon.pairs if is_for_development(one[0])))
    table = space.answers(pair.source, pair.target)
    report = {} if table is None else dict(table.report)
    shares = dict(report.pop("evidence", {}))
    found = measured(space, lexicon, pair) | shares | {"verdict": space.manifest.verdict.label}
    found |= {"by": report.get("by", "csls"), "labelled": report.get("trained_on", 0)}
    found["of_other_languages"] = report.get("of_other_languages", "")
    return found | {"list": gold_name(path), "commit": commit(), "date": today()}


def is_for_development(word: str) -> bool:
    """Whether a source word of a training list is measured on while settings are chosen."""
    return is_for_test(word[::-1])


def _without_development(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not is_for_development(line.split("\t")[0])]
    path.write_text("".join(kept), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """The options."""
    asked = command_line(
        __doc__, spaces=NEEDED, out=NEEDED, pairs=PAIRS, help_given=",".join(HELP), draws="0", threads=2,
        list=("development", "development, or test, unseen, or both"), without=REPEATED, shared=SHARED,
        device="cpu",
    )  # fmt: skip
    asked.list = asked.list.split(",")
    if not {"development"} >= {*asked.list} and not {"test", "unseen"} >= {*asked.list}:
        raise SystemExit("--list must be development, or test, unseen, or both")
    asked.development = asked.list == ["development"]
    asked.spaces.mkdir(parents=True, exist_ok=True)
    return asked


def main() -> None:
    """Measures and writes a row a cell."""
    asked = arguments()
    set_threads(asked.threads)
    append_rows(asked.out, COLUMNS, rows(asked))


if __name__ == "__main__":
    main()
