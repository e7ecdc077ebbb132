"""BLEU and chrF of word-by-word translation: nearest neighbours, CSLS, all the evidence; a language model.

    python -m benchmarks.words.translation [--space SPACE] [--sets tatoeba,multi30k] [--lm-order 3]
        [--lines FOLDER] [--against FOLDER] [--tune | --things] [--shared ../shared]

The language model is trained by muse train-lm on the target's side of the training text, which is used as
monolingual text: no source sentence is looked at. Every row is one `muse translate`, with all defaults but
those it names; `p` is of sacrebleu's paired bootstrap test against the row named by `against`; `names` are
the capitalised words that the reference has unchanged. `--lines` keeps the translations; `--against` adds
p against those kept before, by another version or space. `--pairs` adds a phrase table of these sentence
pairs, English TAB French, which the space links; `--first` tests so many lines. --tune instead tries weights
of the model on 2,000 pairs of the Tatoeba training file that its model has not seen; the test sets stay
closed. --things instead counts what is no word (numbers, quotations, addresses) and comes back unchanged, in
all lines of both parts that have such.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from benchmarks.support.options import command_line
from benchmarks.support.pairs import SHARED, find_pair
from benchmarks.support.tables import Run, header, heading, muse, row
from benchmarks.words.kept_names import has_things, kept_names, kept_things
from muse.files.plain_text import read_lines

LANGUAGES = ("en", "fr")
HELD_OUT = 80  # one pair in so many is for tuning
WEIGHTS = (0.02, 0.04, 0.06, 0.08, 0.1)
ORDERS = (3, 4)
COLUMNS = (
    "set", "direction", "answers", "against", "BLEU", "95 %", "p", "chrF", "95 %", "p", "names", "copied",
    "seconds",
)  # fmt: skip
AGAINST = ("BLEU, p against", "chrF, p against")


class Text(NamedTuple):
    """Sentences by language, aligned by line: to train on, each side as monolingual text, and to test on."""

    train: dict[str, list[str]]
    test: dict[str, list[str]]


def tatoeba(data: Path) -> Text:
    """The sentence pairs of Tatoeba."""
    parts = []
    for part in ("train", "test"):
        lines = read_lines(data / "parallel" / f"tatoeba.en-fr.{part}.tsv.gz")
        columns = zip(*(line.split("\t") for line in lines), strict=True)
        parts.append({language: list(column) for language, column in zip(LANGUAGES, columns, strict=True)})
    return Text(*parts)


def multi30k(data: Path) -> Text:
    """The image captions of Multi30k."""
    parts = []
    for part in ("train", "test_2016_flickr"):
        files = {language: data / "parallel" / f"multi30k.{part}.{language}.gz" for language in LANGUAGES}
        parts.append({language: list(read_lines(path)) for language, path in files.items()})
    return Text(*parts)


SETS = {"tatoeba": tatoeba, "multi30k": multi30k}


def translated(space: Path, lines: Sequence[str], *options: str | Path) -> Run:
    """A run of `muse translate` on the lines."""
    return muse("translate", space, "--threads", "1", *options, lines=lines)


def trained(folder: Path, lines: Sequence[str], language: str, *, order: int, name: str) -> Path:
    """A language model of the lines."""
    text, model = folder / f"{name}.{language}.txt", folder / f"{name}.{language}.{order}.arpa"
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = muse("train-lm", text, "--lang", language, "--order", str(order), "--out", model)
    print(f"`{done.command}`: {done.fields['ngrams']} n-grams in {done.seconds:.0f} s\n", file=sys.stderr)
    return model


def phrase_table(space: Path, folder: Path, pairs: Path, source: str, target: str) -> Path:
    """The phrase table of sentence pairs, English and French, in one direction."""
    text, table = folder / f"{source}-{target}.tsv", folder / f"{source}-{target}.phrases.gz"
    if not table.exists():
        lines = [line.split("\t")[-2:] for line in read_lines(pairs)]
        columns = [LANGUAGES.index(language) for language in (source, target)]
        written = "".join("\t".join(line[column] for column in columns) + "\n" for line in lines)
        text.write_text(written, encoding="utf-8")
        direction: list[str | Path] = ["--src", source, "--tgt", target, "--text-pairs", text]
        done = muse("export", space, "--format", "moses", "--top", "20", *direction, "--out", table)
        print(f"`{done.command}`: {done.fields['pairs']} pairs, {done.seconds:.0f} s\n", file=sys.stderr)
    return table


def compare(name: str, text: Text, space: Path, folder: Path, asked: argparse.Namespace) -> None:
    """Prints the rows of one set, both directions."""
    order = asked.lm_order
    for source, target in (("fr", "en"), ("en", "fr")):
        model = trained(folder, text.train[target], target, order=order, name=name)
        with_model, csls = f"{order}-gram model", ["--answers", "csls"]
        systems: dict[str, tuple[list[str | Path], str]] = {
            "NN": (["--retrieval", "nn"], ""), "CSLS": ([*csls], "NN"), "all evidence": ([], "CSLS"),
            f"CSLS + {with_model}": ([*csls, "--lm", model], "CSLS"),
            f"all evidence + {with_model}": (["--lm", model], f"CSLS + {with_model}"),
        }  # fmt: skip
        if asked.pairs is not None:
            table = phrase_table(space, folder, asked.pairs, source, target)
            systems |= {
                "phrases": (["--phrases", table], "all evidence"),
                f"phrases + {with_model}": (
                    ["--phrases", table, "--lm", model], f"all evidence + {with_model}"
                ),
            }  # fmt: skip
        known: dict[str, list[str]] = {}
        for system, (options, against) in systems.items():
            direction = ["--src", source, "--tgt", target]
            done = translated(space, text.test[source], *direction, *options)
            found, seconds = done.fields, done.seconds
            cells = _scored(found["lines"], known.get(against), text.test[target])
            copied = f"{100 * found['copied'] / found['words']:.1f} %"
            kept, names = kept_names(text.test[source], text.test[target], found["lines"])
            cells.append(f"{kept} of {names}")
            file = f"{name}.{source}-{target}.{system}.txt"
            if asked.against:
                other = (asked.against / file).read_text(encoding="utf-8").split("\n")[:-1]
                cells += [cell for cell in _scored(found["lines"], other, text.test[target])[2::3]]
            if asked.lines:
                asked.lines.mkdir(parents=True, exist_ok=True)
                (asked.lines / file).write_text(
                    "".join(f"{line}\n" for line in found["lines"]), encoding="utf-8"
                )
            row([name, f"{source}-{target}", system, against, *cells, copied, seconds])
            known[system] = found["lines"]


def _scored(lines: list[str], before: list[str] | None, references: list[str]) -> list[str]:
    systems: list[tuple[str, Sequence[str]]] = [("before", before or lines), ("after", lines)]
    test = PairedTest(systems, {"BLEU": BLEU(references=[references]), "chrF": CHRF(references=[references])},
                      references=None, test_type="bs", n_samples=1000)  # fmt: skip
    signatures, scores = test()
    _SIGNATURES.update({name: str(signature) for name, signature in signatures.items()})
    cells = []
    for metric in ("BLEU", "chrF2"):
        found: Any = scores[metric][1]
        cells += [f"{found.score:.2f}", f"{found.mean - found.ci:.2f}-{found.mean + found.ci:.2f}"]
        cells.append("" if before is None else f"{found.p_value:.3f}")
    return cells


_SIGNATURES: dict[str, str] = {}


def tune(text: Text, space: Path, folder: Path) -> None:
    """Prints BLEU for weights and orders of the model on held-out training pairs."""
    header(("direction", "order", "weight", "BLEU", "chrF"))
    lines = range(len(text.train["en"]))
    for source, target in (("fr", "en"), ("en", "fr")):
        held = [line for line in lines if line % HELD_OUT == 5][:2_000]
        references = [text.train[target][line] for line in held]
        closed = set(references)
        seen = [line for line in text.train[target] if line not in closed]
        for order in ORDERS:
            model = trained(folder, seen, target, order=order, name="tune")
            for weight in WEIGHTS if order == ORDERS[0] else WEIGHTS[2:3]:
                options: list[str | Path] = ["--lm", model, "--lm-weight", str(weight)]
                options += ["--src", source, "--tgt", target]
                found = translated(space, [text.train[source][line] for line in held], *options).fields
                bleu = BLEU().corpus_score(found["lines"], [references]).score
                chrf = CHRF().corpus_score(found["lines"], [references]).score
                row([f"{source}-{target}", order, str(weight), f"{bleu:.2f}", f"{chrf:.2f}"])


def count_things(name: str, text: Text, space: Path) -> None:
    """Prints how many things that are no words come back unchanged, in lines to train and to test on."""
    for source, target in (("fr", "en"), ("en", "fr")):
        lines = [line for line in text.train[source] + text.test[source] if has_things(line)]
        found = translated(space, lines, "--src", source, "--tgt", target).fields
        kept, things = kept_things(lines, found["lines"])
        row([name, f"{source}-{target}", len(lines), things, kept, f"{100 * kept / things:.1f} %"])


def main() -> None:
    """Aligns where no space is given, and prints the table."""
    asked = command_line(
        __doc__, space=(Path, "an aligned fr-en; made from the vectors where not given"),
        sets="tatoeba,multi30k", lm_order=3, lines=Path, against=Path,
        pairs=Path, first=0, tune=False, things=False,
        shared=SHARED,
    )  # fmt: skip
    data = asked.shared / "data"
    heading("Text, word by word" + (": the weight of the language model" if asked.tune else ""))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        space = asked.space or folder / "space"
        if asked.space is None:
            muse("align", *find_pair("fr-en", asked.shared).arguments(), "--out", space)
        if asked.tune:
            tune(tatoeba(data), space, folder)
            return
        if asked.things:
            header(("set", "direction", "lines", "things", "unchanged", "share"))
            for part in asked.sets.split(","):
                count_things(part, SETS[part](data), space)
            return
        header(COLUMNS if asked.against is None else (*COLUMNS[:-2], *AGAINST, *COLUMNS[-2:]))
        for part in asked.sets.split(","):
            text = SETS[part](data)
            few = {language: lines[: asked.first or None] for language, lines in text.test.items()}
            compare(part, text._replace(test=few), space, folder, asked)
    print("", *(f"{metric}: `{signature}`" for metric, signature in _SIGNATURES.items()), sep="\n")


if __name__ == "__main__":
    main()
