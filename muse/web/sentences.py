"""Sentences: a text translated word by word, each word with rated alternatives."""

from __future__ import annotations

from dataclasses import dataclass

from muse.space import AlignedSpace
from muse.translate import Answer, Choice, Translator, WordAnswer, answer_words
from muse.translate.surface import in_text


@dataclass(frozen=True)
class RatedToken:
    """A token of a text, the form that was looked up, and its translations as the text has them."""

    token: str
    form: str | None
    options: tuple[tuple[str, Answer], ...] = ()

    @property
    def kept(self) -> bool:
        """Whether the token is a word, or has letters at least, and was copied."""
        return not self.options and any(map(str.isalnum, self.token))


@dataclass(frozen=True)
class Sentence:
    """A translated text, and its tokens."""

    text: str
    tokens: tuple[RatedToken, ...]


def rated(space: AlignedSpace, translator: Translator, line: str) -> Sentence:
    """The translation of a line, with alternatives and their probabilities for each word."""
    source, target = translator.source, translator.target
    (text,) = translator.translate([line])
    choices = translator.choices(line)
    words = [choice.token for choice in choices if choice.options]
    found = answer_words(
        space, words, source=source, target=target,
        top=translator.config.top, retrieval=translator.config.retrieval,
    )  # fmt: skip
    answers = {one.word: one for one in found}
    return Sentence(text, tuple(_rated(choice, answers.get(choice.token), target) for choice in choices))


def _rated(choice: Choice, found: WordAnswer | None, target: str) -> RatedToken:
    if found is None:
        return RatedToken(choice.token, None)
    by_word = {in_text(answer.target, target).casefold(): answer for answer in found.answers}
    options = [
        (word, by_word.get(word.casefold(), Answer(word, score, None, mutual=False)))
        for word, score in choice.options
    ]
    return RatedToken(choice.token, found.form, tuple(options))
