"""The perplexity of saved cross-lingual language models on sentences that they have not seen.

    python -m benchmarks.systems.xlm_perplexity --space SPACE --out FILE.csv [--seen FILE]...
        [--shared ../shared]
        FOLDER...

FOLDERs are models of `muse train --encoder xlm`, such as those that inference.py leaves in --work. What
training prints is the perplexity of held-out text; if that is also a side of the pairs from which TLM learns,
it has been seen. Here the sentences are those of the test pairs of Tatoeba, but no line of the FILEs, which
have a sentence on each. A model of clm predicts every next piece, others the 15 % of pieces that are hidden.
Models of the same languages, pieces and length are asked for the same pieces; the figures of others cannot be
compared. One row a model and language is appended to FILE.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.support.kept_rows import append, check_columns
from benchmarks.support.pairs import SHARED
from benchmarks.support.tables import commit, header, row, today
from muse.files.plain_text import read_lines
from muse.files.sentence_text import read_parallel
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.systems.networks.masked_prediction import rarity
from muse.sentences.systems.xlm.corpus import MaskingDistribution, Streams, StreamSource, cut_streams
from muse.sentences.systems.xlm.language_model import XlmNetwork
from muse.sentences.systems.xlm.tuning import open_xlm
from muse.sentences.systems.xlm.xlm_system import XlmLearner
from muse.space import AlignedSpace, load_space

HIDDEN = 0.15  # the share of pieces
SHOWN = ("model", "lang", "perplexity", "accuracy", "predicted")
COLUMNS = (*SHOWN, "sentences", "commit", "date")


def sentences(data: Path, space: AlignedSpace, seen: Collection[str]) -> dict[str, list[str]]:
    """The unseen sentences of the test pairs by language, those of the pivot from the first file there is."""
    found: dict[str, list[str]] = {}
    for name in space.languages:
        path = data / "parallel" / f"tatoeba.{space.pivot}-{name}.test.tsv.gz"
        if path.exists():
            text = read_parallel(path)
            found.setdefault(space.pivot, [line for line in text.pivot if line not in seen])
            found[name] = [line for line in text.other if line not in seen]
    return found


def sources(network: XlmNetwork, text: Mapping[str, Sequence[str]]) -> Iterator[StreamSource]:
    """The streams of each language that the model has, all of them held out."""
    config, pieces = replace(network.config, share=HIDDEN), network.pieces
    cut = {
        name: Ragged.of(list(cut_streams(pieces.encode(text[name]), config.length)))
        for name in network.languages
        if name in text
    }
    counts = torch.bincount(torch.cat([streams.ids for streams in cut.values()]), minlength=len(pieces))
    hidden = None if config.causal else MaskingDistribution(config.masking(len(pieces)), rarity(counts))
    for name, streams in cut.items():
        held_out = Streams(streams, torch.arange(0), torch.arange(len(streams.lengths)))
        yield StreamSource(name, network.languages.index(name), held_out, hidden)


def main() -> None:
    """Appends a row for every model and language, and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv")
    parser.add_argument("--seen", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    check_columns(asked.out, COLUMNS)
    torch.set_num_threads(1)
    space = load_space(asked.space)
    seen = {line for path in asked.seen for line in read_lines(path)}
    text = sentences(asked.shared / "data", space, seen)
    header(SHOWN)
    for folder in asked.folders:
        network = open_xlm(folder, space).eval()
        predictions = XlmLearner(network.model, tuple(sources(network, text))).predictions()
        for language, found in predictions.items():
            cells = {
                "model": folder.name,
                "lang": language,
                "perplexity": f"{found.perplexity:.1f}",
                "accuracy": f"{found.accuracy:.1f}",
                "predicted": found.targets,
            }
            row([*cells.values()])
            more = {"sentences": len(text[language]), "commit": commit(), "date": today()}
            append(asked.out, [{**cells, **more}], COLUMNS)


if __name__ == "__main__":
    main()
