"""BGT of bags: what its decoder says if the language latent is that of another sentence (style transfer).

    python -m benchmarks.systems.bgt_style --space FOLDER --trained NAME=ENCODER ... [--seed 0] [--threads 1]
        [--shared ../shared]

A bag is no sentence, but a distribution of words, marks and lengths, p(w | z) and p(n | z). The English
sentences of Tatoeba's test pairs, which no encoder was trained on, have their own meaning and the language
latent of another, the style, drawn from the rest. Printed, with 95 % intervals over the sentences:

* meaning kept   share of the sentences whose rarest word in this text that the style lacks is more probable
                 than the style's rarest word that the sentence lacks
* length         Spearman's correlation of the mean of p(n | z) with the length of the style, and with that of
                 the sentence
* end            share in which the style's last mark is more probable than the sentence's, where they differ

Beside them the same with the sentence's own language latent (of `end`, how often its own mark is the less
probable one) and with the mean of the prior.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.stats
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.sentences.sentences import named
from benchmarks.support.pairs import SHARED
from benchmarks.support.sentence_sets import PIVOT, beside_english, retrieval_sets
from benchmarks.support.tables import header, heading, row
from muse.evaluation.score import bootstrap_interval
from muse.sentences.encoders.ragged import Ragged
from muse.sentences.loading import load_encoder
from muse.sentences.systems.bgt.latent_network import BgtNetwork
from muse.sentences.systems.network_encoder import NetworkEncoder
from muse.space import load_space

MARKS = (".", "?", "!")
STYLES = ("another's", "its own", "the prior's mean")


class Decoded(NamedTuple):
    """What the decoder says of b sentences: log p(w | z) (b, v), and the means of p(n | z) (b,)."""

    words: Tensor
    lengths: Tensor


@torch.no_grad()
def decoded(network: BgtNetwork, meanings: Tensor, styles: Tensor) -> Decoded:
    """What the decoder of English says, given both latents (b, k)."""
    decoder: Any = network.decoders[network.languages.index(PIVOT)]
    latents = torch.cat([meanings, styles], dim=-1)
    log_means = decoder._length._log_mean(latents)[:, 0]
    return Decoded(decoder._scores(latents).log_softmax(dim=-1), log_means.exp())


class Sentences:
    """The sentences of a text that end in a mark, as ids, each with another as its style."""

    def __init__(self, network: BgtNetwork, text: Sequence[str], rng: np.random.Generator) -> None:
        pieces = network.pieces
        if pieces is None:
            raise TypeError("expected a bgt of word pieces")
        ended = [sentence for sentence in text if sentence.endswith(MARKS)]
        self.read: Ragged = network.reader(PIVOT).read(ended).sentences
        self.marks = torch.tensor([pieces.encode([mark])[0][-1] for mark in MARKS])
        self.ends = np.array([MARKS.index(sentence[-1]) for sentence in ended])
        # Places turned by some steps of a random order: nobody has its own style.
        order = rng.permutation(len(ended))
        self.style = np.empty_like(order)
        self.style[order] = np.roll(order, 1)
        known = ~pieces.punctuation.numpy()
        each = np.split(self.read.ids.numpy(), self.read.offsets[1:-1].numpy())
        self.words = [set(ids[known[ids]].tolist()) for ids in each]
        self.counts = np.bincount(self.read.ids.numpy())

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The pieces (b,) of each."""
        return self.read.lengths.numpy()

    def kept(self, found: Decoded) -> NDArray[np.bool_]:
        """Of sentences with words of their own and a style with others, whether theirs is more probable."""
        kept = []
        for place, other in enumerate(self.style):
            own, lost = self.words[place] - self.words[other], self.words[other] - self.words[place]
            if own and lost:
                rarest = [min(words, key=lambda word: (self.counts[word], word)) for words in (own, lost)]
                first, second = found.words[place, rarest].tolist()
                kept.append(first > second)
        return np.array(kept)

    def taken(self, found: Decoded) -> NDArray[np.bool_]:
        """Of sentences whose style ends in another mark, whether that is the more probable one."""
        rows = np.flatnonzero(self.ends != self.ends[self.style])
        of_style = found.words[rows, self.marks[self.ends[self.style[rows]]]]
        return (of_style > found.words[rows, self.marks[self.ends[rows]]]).numpy()


def share(hits: NDArray[np.bool_]) -> str:
    """The share in percent, with its interval."""
    low, high = bootstrap_interval(hits, np.random.default_rng(0))
    return f"{100 * hits.mean():.1f} [{low:.1f}, {high:.1f}] of {len(hits)}"


def correlation(x: NDArray[np.float64], y: NDArray[np.int64]) -> str:
    """Spearman's correlation, with its interval by Fisher's transformation."""
    r = float(scipy.stats.spearmanr(x, y).statistic)
    half = 1.96 / np.sqrt(len(x) - 3)
    return f"{r:.2f} [{np.tanh(np.arctanh(r) - half):.2f}, {np.tanh(np.arctanh(r) + half):.2f}]"


@torch.no_grad()
def measured(name: str, network: BgtNetwork, sentences: Sentences) -> None:
    """A row for each language latent that the meanings are given."""
    read, style = sentences.read, torch.from_numpy(sentences.style)
    meanings = network.semantic_posterior(read, PIVOT).mean
    own = network.language_posterior(read, PIVOT).mean
    for label, latents in zip(STYLES, (own[style], own, torch.zeros_like(own)), strict=True):
        found = decoded(network, meanings, latents)
        lengths = found.lengths.numpy()
        row([
            name, label, share(sentences.kept(found)), correlation(lengths, sentences.lengths[style]),
            correlation(lengths, sentences.lengths), share(sentences.taken(found)),
        ])  # fmt: skip


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--space", type=Path, required=True)
    parser.add_argument("--trained", type=named, action="append", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", type=Path, default=SHARED)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    space = load_space(asked.space)
    text = retrieval_sets(asked.shared / "data", beside_english(space))[1]
    heading(f"BGT: the language latent of another sentence, {len(text.english)} sentences of {text.name}")
    header(
        (
            "encoder",
            "language latent",
            "meaning kept, %",
            "length: style",
            "length: own",
            "end of the style, %",
        )
    )
    for name, folder in asked.trained:
        encoder = load_encoder(folder, space)
        if not isinstance(encoder, NetworkEncoder) or not isinstance(encoder.network, BgtNetwork):
            raise TypeError(f"{folder}: expected a bgt")
        network = encoder.network.eval()
        measured(name, network, Sentences(network, text.english, np.random.default_rng(asked.seed)))


if __name__ == "__main__":
    main()
