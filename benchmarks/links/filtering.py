"""How well the score of muse link tells translations from other pairs of sentences.

    python -m benchmarks.links.filtering --space SPACE --pairs TAB-SEPARATED --langs en,fr [--sentences 4000]
        [--rounds 1] [--encoder FOLDER] [--csv FILE.csv]

Half of the pairs get the translation of another sentence: of any one, or of one of like length. All are
mixed, scored and, with rounds, learned from, as `muse link --min-score 0` does. Precision and recall are of
the pairs that it keeps. Beside the score stand the share of words that are linked, and the cosine of vectors.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.support.options import command_line
from benchmarks.support.tables import append_rows, heading
from muse.files.plain_text import read_lines
from muse.links.contextual import TokenEncoder
from muse.links.linker import LinkConfig, Linker
from muse.links.links import TokenPair
from muse.normalise import unit
from muse.sentences.loading import load_encoder
from muse.space import Space, load_space
from muse.text.tokens import Tokeniser

COLUMNS = (
    "languages",
    "partners",
    "rounds",
    "encoder",
    "auc",
    "precision",
    "recall",
    "share_of_words_linked_auc",
    "cosine_auc",
)


def main() -> None:
    """Print the table."""
    given = command_line(
        __doc__, space=Path, pairs=Path, langs=str, sentences=4_000, rounds="0,1", encoder=Path,
        csv=Path("filtering.csv"),
    )  # fmt: skip
    heading("Pairs of sentences that translate each other")
    source, target = given.langs.split(",")
    lines = [line.split("\t") for line in read_lines(given.pairs)]
    random.Random(0).shuffle(lines)
    one, two = map(Tokeniser, (source, target))
    pairs: list[TokenPair] = [(one.tokens(a), two.tokens(b)) for a, b in lines[: given.sentences]]
    space = load_space(given.space)
    encoder = None if given.encoder is None else TokenEncoder(space, (source, target), given.encoder)
    for partners in ("any", "of like length"):
        mixed, right = with_wrong_partners(pairs, partners == "any")
        cosine = roc_auc_score(right, cosines(space, (source, target), mixed))
        for rounds in map(int, given.rounds.split(",")):
            linker = Linker(space, (source, target), config=LinkConfig(min_score=0), encoder=encoder)
            linker.learn(lambda mixed=mixed: mixed, rounds) if rounds else linker.adapt(mixed)  # type: ignore[misc]
            found = linker.link(mixed)
            scores = np.nan_to_num([links.score for links in found], nan=-np.inf)
            kept = scores >= 0
            linker.config = LinkConfig()
            linked = [
                (len({*links.source.tolist()}) + len({*links.target.tolist()})) / max(1, sum(map(len, pair)))
                for links, pair in zip(linker.link(mixed), mixed, strict=True)
            ]
            fields = {"languages": given.langs, "partners": partners, "rounds": rounds}
            fields |= {
                "encoder": encoder.name if encoder else "",
                "auc": roc_auc_score(right, np.maximum(scores, -99)),
            }
            fields |= {"precision": right[kept].mean(), "recall": kept[right].mean()}
            fields |= {"share_of_words_linked_auc": roc_auc_score(right, linked), "cosine_auc": cosine}
            append_rows(given.csv, COLUMNS, [fields])


def cosines(space: Space, languages: tuple[str, str], pairs: Sequence[TokenPair]) -> np.ndarray:
    """The cosines (n,) of both sentences, each the mean of its words weighted by idf in these sentences."""
    encoder = load_encoder("idf", space)
    texts = [[" ".join(pair[side]) for pair in pairs] for side in (0, 1)]
    for text, language in zip(texts, languages, strict=True):
        encoder = encoder.fit(text, language)
    one, two = (unit(encoder.encode(text, name).matrix) for text, name in zip(texts, languages, strict=True))
    return np.asarray((one * two).sum(axis=1))


def with_wrong_partners(pairs: Sequence[TokenPair], of_any: bool) -> tuple[list[TokenPair], np.ndarray]:
    """The pairs in another order, half of them with the partner of another one, and which are right (n,)."""
    half, rng = len(pairs) // 2, np.random.default_rng(0)
    order = rng.permutation(half).tolist()
    if not of_any:
        order.sort(key=lambda place: (len(pairs[place][1]), len(pairs[place][0])))
    wrong = [(pairs[a][0], pairs[b][1]) for a, b in zip(order, [*order[1:], order[0]], strict=True)]
    every, mixed = [*wrong, *pairs[half:]], rng.permutation(len(pairs))
    return [every[place] for place in mixed], mixed >= half


if __name__ == "__main__":
    main()
