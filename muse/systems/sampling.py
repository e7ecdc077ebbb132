"""Sampling of languages: q_i = p_i^a / sum_j p_j^a, p_i the share of the text that language i has.

Lample and Conneau (2019), 3.1: a = 0.5 for the text that word pieces are learned from, 0.7 for batches. With
a below 1 small languages are seen more often than they occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from muse.errors import BadSetting

PIECES_EXPONENT, BATCH_EXPONENT = 0.5, 0.7


def language_shares(sizes: Mapping[str, int], exponent: float) -> dict[str, float]:
    """The q_i of each language, of the sizes n_i of their texts.

    >>> language_shares({"en": 900, "ne": 100}, 0.5)
    {'en': 0.75, 'ne': 0.25}
    """
    if not 0 <= exponent <= 1:
        raise BadSetting(f"the exponent of language sampling must lie in 0..1, got {exponent:g}")
    if not sizes or min(sizes.values()) < 1:
        empty = [language for language, size in sizes.items() if size < 1]
        raise BadSetting(f"every language must have text, got none for {', '.join(empty) or 'any'}")
    total = sum(sizes.values())
    powers = {language: (size / total) ** exponent for language, size in sizes.items()}
    return {language: power / sum(powers.values()) for language, power in powers.items()}


def draw_languages(shares: Mapping[str, float], count: int, generator: torch.Generator) -> list[str]:
    """The languages of so many batches, each drawn by its share."""
    names, weights = list(shares), torch.tensor(list(shares.values()), dtype=torch.float64)
    if not count:
        return []
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)  # (count,)
    return [names[place] for place in drawn.tolist()]


def balanced_text(
    texts: Mapping[str, Sequence[str]], exponent: float, generator: torch.Generator
) -> Iterator[str]:
    """As many sentences as there are in all, language i with a share q_i of them, within one sentence.

    A language is read as often whole as its share holds, and a random part of it once more.
    """
    shares = language_shares({language: len(text) for language, text in texts.items()}, exponent)
    total = sum(map(len, texts.values()))
    for language, text in texts.items():
        passes, rest = divmod(round(shares[language] * total), len(text))
        for _ in range(passes):
            yield from text
        for place in torch.randperm(len(text), generator=generator)[:rest].tolist():
            yield text[place]
