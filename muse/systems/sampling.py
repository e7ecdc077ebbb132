"""Sampling of languages: q_i = p_i^a / sum_j p_j^a, where p_i is the share of language i in the text.

Lample and Conneau (2019): a = 0.5 for the text that word pieces are learned from, 0.7 for batches. With
a below 1, small languages are sampled more often than they occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from muse.errors import BadSetting

PIECES_EXPONENT, BATCH_EXPONENT = 0.5, 0.7


def language_shares(sizes: Mapping[str, int], exponent: float) -> dict[str, float]:
    """The share q_i of each language, given the sizes n_i of their texts.

    >>> language_shares({"en": 900, "ne": 100}, 0.5)
    {'en': 0.75, 'ne': 0.25}
    """
    if not 0 <= exponent <= 1:
        raise BadSetting(f"the exponent of language sampling must be between 0 and 1, got {exponent:g}")
    if not sizes or min(sizes.values()) < 1:
        empty = [language for language, size in sizes.items() if size < 1]
        raise BadSetting(f"every language must have text, got none for {', '.join(empty) or 'any'}")
    total = sum(sizes.values())
    powers = {language: (size / total) ** exponent for language, size in sizes.items()}
    return {language: power / sum(powers.values()) for language, power in powers.items()}


def draw_languages(shares: Mapping[str, float], count: int, generator: torch.Generator) -> list[str]:
    """The languages of `count` batches, drawn with these shares as probabilities."""
    names = list(shares)
    weights = torch.tensor(list(shares.values()), dtype=torch.float64, device=generator.device)
    if not count:
        return []
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)  # (count,)
    return [names[place] for place in drawn.tolist()]


def balanced_text(
    texts: Mapping[str, Sequence[str]], exponent: float, generator: torch.Generator
) -> Iterator[str]:
    """As many sentences as the texts have together, with a share q_i of language i.

    Each text is repeated as often as its share allows, and a random part of it fills the rest.
    """
    shares = language_shares({language: len(text) for language, text in texts.items()}, exponent)
    total = sum(map(len, texts.values()))
    for language, text in texts.items():
        passes, rest = divmod(round(shares[language] * total), len(text))
        for _ in range(passes):
            yield from text
        for place in torch.randperm(len(text), generator=generator)[:rest].tolist():
            yield text[place]
