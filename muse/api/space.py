"""The space at the prompt: what `muse.load` and `muse.align` return.

A word is looked up in the language that has it. If several have it, the language must be named, as in
`space["fr", "table"]` and `space.translate("table", src="fr")`: it is never guessed.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import torch

from muse.api.dictionary import as_retrieval, evaluate, induced
from muse.api.results import Nearest, SpaceVerdict, TranslationTable, WordTranslations, html_card
from muse.errors import BadFile, BadSetting, Mismatch, UnknownWord, named_as_in_python
from muse.evaluation.words import WordScore
from muse.exchange import dictionary_frame, lexicon_from, vectors_frame
from muse.export.spacy_folder import export_spacy
from muse.export.static_embedding import export_static_embedding
from muse.export.vector_files import export_space, export_vectors
from muse.files.space_manifest import ALIGNED, read_manifest, spaces_in
from muse.optional import load as load_optional
from muse.options import check_names, takes
from muse.progress import Progress
from muse.ranking.lookup import lookup_entry, neighbours, not_found
from muse.ranking.query import NAMED, Choice, direction_of, example_words, language_of
from muse.ranking.ranker import translate_words
from muse.ranking.settings import InducedPairs, Translated
from muse.run.runtime import pick_device
from muse.search.approximate import Approximation
from muse.search.exact import nearest as nearest_rows
from muse.search.retrieval import Retrieval, check_count
from muse.space import Space
from muse.space import load_space as load_aligned
from muse.space.derived import AnswersBy
from muse.space.new_words import name_of_row, of_row
from muse.space.saving import copy_space
from muse.text.strings import all_strings, check_word
from muse.translate.glossary import Glossary, with_probable
from muse.translate.text import TextConfig, Translator
from muse.vectors import Matrix

log = logging.getLogger(__name__)

Key = str | tuple[str, str]  # a word, or its language and the word
ON_CARD = 5  # translations
CHEAP = 500_000_000  # pairs of words: a card is shown unasked, and must not search for long


@dataclass(frozen=True, eq=False, repr=False)
class InteractiveSpace(Space):
    """A space for the prompt: `len`, `in` and `[]` for its words, and methods that find their language.

    >>> import numpy as np
    >>> from muse.normalise import Normalisation
    >>> from muse.space import Side
    >>> from muse.vectors import Vectors
    >>> rows, steps = np.eye(2, dtype=np.float32), Normalisation(("unit",), ())
    >>> sides = {"fr": Side(Vectors("fr", ["roi", "table"], rows), rows, steps)}
    >>> sides["en"] = Side(Vectors("en", ["king", "table"], rows), rows, steps)
    >>> space = InteractiveSpace(sides, pivot="en")
    >>> space
    Space(fr: 2 words, en: 2 words, 2 dimensions, pivot en)
    >>> len(space), "roi" in space, ("en", "roi") in space, space["king"].tolist()
    (4, True, False, [1.0, 0.0])
    >>> space["table"]
    Traceback (most recent call last):
    muse.errors.BadSetting: 'table' is a word of fr and of en; choose one: space["fr", "table"]
    """

    @classmethod
    def of(cls, space: Space) -> Self:
        """The same space, for the prompt."""
        return cls(**{one.name: getattr(space, one.name) for one in fields(space) if one.init})

    def __repr__(self) -> str:
        sides = ", ".join(self._counts().values())
        judged = f", {self.verdict!r}" if self.verdict else ""
        return f"Space({sides}, {self.vectors(self.pivot).dimension} dimensions, pivot {self.pivot}{judged})"

    def _counts(self) -> dict[str, str]:
        sides = map(self.vectors, self.languages)
        return {side.language: f"{side.language}: {len(side):,} {side.noun}" for side in sides}

    def __len__(self) -> int:
        """The number of words of all languages."""
        return sum(len(side.vectors) for side in self.sides.values())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Every word with its language, as `[]` takes them: ("fr", "roi"), language by language."""
        for language in self.languages:
            for word in self.vectors(language).words:
                yield language, word

    def __contains__(self, key: object) -> bool:
        """Whether any language has a word, in the form that it has there; of ("fr", "roi"), that language."""
        if isinstance(key, tuple) and len(key) == 2:
            language, word = key
            return isinstance(language, str) and language in self.sides and _has(self, language, word)
        return any(_has(self, language, key) for language in self.languages)

    def __getitem__(self, key: Key | list[str] | tuple[str, list[str]]) -> Matrix:
        """The vector (k,) of a word, or the rows (n, k) of a list of words, of unit length, as a copy.

        The language is that which has the word, or is named: `space["fr", "table"]`. Raise UnknownWord, which
        is a KeyError, for a word that no language has, and BadSetting for one that several have.
        """
        return self._rows(key, "key")

    get_vector = __getitem__

    def _rows(self, key: Any, choice: Choice) -> Matrix:
        language, given = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        words, rows = given if isinstance(given, list) else [given], []
        for word in words:
            check_word(word)
        if language is None:
            language = language_of(self, words, choice=choice) if words else self.pivot
        elif language not in self.sides:
            raise BadSetting(
                f"the languages of this space are {', '.join(self.languages)}; got {language!r}; to look up "
                'several words give a list: space[["...", "..."]]'
            )
        vectors = self.vectors(language)
        for word in words:
            if (form := lookup_entry(word, vectors)) is None:
                raise UnknownWord(not_found(self, language, word, "the language"))
            rows.append(vectors.index[form])
        found: Matrix = np.array(vectors.matrix[rows])
        return found if isinstance(given, list) else found[0]

    def __dir__(self) -> list[str]:
        """What is for users: tab completion shows no other name."""
        own = [name for name in vars(type(self)) if not name.startswith("_") and name != "of"]
        return sorted([*own, "folder", "languages", "manifest", "map_words", "pivot", "vectors"])

    @property
    def dimension(self) -> int:
        """The number of columns of its rows."""
        return self.vectors(self.pivot).dimension

    def words(self, lang: str) -> list[str]:
        """The words of a language, most frequent first."""
        return list(self.vectors(lang).words)

    def to_frame(self, lang: str | None = None) -> Any:
        """A pandas.DataFrame with a row for each word of a language, or of all: then by language and word.

        MissingExtra, with the command that installs it, without pandas.
        """
        return vectors_frame([self.vectors(one) for one in ([lang] if lang else self.languages)])

    @takes(Translated)
    def evaluate(self, dictionary: Any, **options: Any) -> WordScore:
        """P@1 and more by a gold dictionary, as by `muse.evaluate` with its options."""
        return evaluate(self, dictionary, **options)

    @named_as_in_python()
    def export(
        self, out: Path | str, format: str | None = None, *, lang: str | None = None,
        max_vocab: int | None = None,
    ) -> Path:  # fmt: skip
        """Where the space was written for other programs, as by `muse export` with its formats of vectors.

        These are text, word2vec, npz and parquet, a file for each language in a folder `out` or, with `lang`,
        one; sentence-transformers and spacy, folders; and space, muse's own. Without a `format` the ending of
        `out` says it, or it is text.
        """
        place, endings = Path(out), {".npz": "npz", ".parquet": "parquet", ".bin": "word2vec"}
        form = format or endings.get(place.suffix, "text")
        if form == "space" and lang is None:
            export_space(self, place, max_vocab=max_vocab)
        elif form == "spacy":
            export_spacy(self, place, language=lang, max_vocab=max_vocab)
        elif form == "sentence-transformers":
            languages = None if lang is None else [lang]
            export_static_embedding(self, place, languages=languages, max_vocab=max_vocab)
        else:
            export_vectors(self, place, form=form, language=lang, max_vocab=max_vocab, progress=self.progress)
        return place

    @named_as_in_python()
    def plot(
        self, words: Iterable[str] | None = None, *, src: str | None = None, tgt: str | None = None
    ) -> Any:
        """A map of words and their translations, which notebooks show; `svg` is its text.

        `words` are of `src`; by default the most frequent ones that have a mutual translation.
        MissingExtra without the package muse.report.
        """
        given = None if words is None else all_strings(words, "words")
        return load_optional("report.prompt").plot(self, direction_of(self, src, tgt), given)

    @named_as_in_python()
    def report(
        self, out: Path | str, dictionary: Any = None, *, src: str | None = None, tgt: str | None = None
    ) -> Path:
        """Where a page about the space was written, as by `muse report`; a gold `dictionary` says more.

        MissingExtra without the package muse.report.
        """
        return Path(load_optional("report.prompt").write_page(self, Path(out), dictionary, (src, tgt)))

    @property
    def verdict(self) -> SpaceVerdict:
        """The verdict, a str with its confidence; empty if none was recorded."""
        verdict, mapped = self.manifest.verdict, self.manifest.mapped
        return SpaceVerdict(
            verdict.label or "", verdict.confidence, {one.language: one.label for one in mapped}
        )

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is an Iterable[str] too
        self, word: str | Matrix, top: int = 5, *, src: str | None = None, tgt: str | None = None,
        retrieval: Retrieval | str | None = None, glossary: Any = None, min_probability: float = 0.0,
    ) -> WordTranslations: ...  # fmt: skip
    @overload
    def translate(
        self, word: Iterable[str], top: int = 5, *, src: str | None = None, tgt: str | None = None,
        retrieval: Retrieval | str | None = None, glossary: Any = None, min_probability: float = 0.0,
    ) -> TranslationTable: ...  # fmt: skip
    @named_as_in_python()
    def translate(
        self, word: str | Matrix | Iterable[str], top: int = 5, *,
        src: str | None = None, tgt: str | None = None, retrieval: Retrieval | str | None = None,
        glossary: Any = None, min_probability: float = 0.0,
    ) -> WordTranslations | TranslationTable:  # fmt: skip
        """The `top` best translations of a word or, of a list of words, those of each.

        Each is a pair (word, score) with its `probability` of being right, and whether it is `mutual`.
        A vector (k,) of the space, such as `space["roi"]`, a mean or a sum of some, or a row that `map_words`
        made, is translated as a word is; it may be close to that of a word.
        `src` is the language of the words, if several languages have them, and `tgt` that of the
        translations, if the space has more than two. The translations of a `glossary` come first: pairs of
        words, a dict, a Lexicon, a DataFrame or a file. Those less probable than `min_probability` are left
        out.
        Raise UnknownWord if no word is there; in a list, one that is not has no translations, and a `reason`.
        """
        check_count("--top", top)
        new = None
        if (row := self._row(word)) is not None:
            way = direction_of(self, src, tgt)
            new = of_row(way[0], row)
            words = [word := name_of_row(row)]
        elif isinstance(word, str) or not isinstance(word, Iterable):
            check_word(word)
            words = [word]
        else:
            words = all_strings(word, "words")
        if not words:
            return TranslationTable()
        way = self._way(words, src, tgt) if new is None else way
        every = translate_words(
            self, words, source=way[0], target=way[1], top=top, retrieval=as_retrieval(retrieval),
            new_words=new,
        )  # fmt: skip
        every = [with_probable(one, min_probability) for one in every]
        if glossary is not None:
            terms = Glossary(lexicon_from(glossary, way), way[0], self.vectors(way[0]).index)
            every = [terms.preferred(one) for one in every]
        found = {}
        for one in every:
            reason = one.reason if one.form is not None else not_found(self, way[0], one.word, "src")
            found[one.word] = WordTranslations.of(one, way, reason)
        if all(one.form is None for one in every):
            raise UnknownWord("; ".join(one.reason for one in islice(found.values(), NAMED)))
        return found[word] if isinstance(word, str) else TranslationTable(found)

    @named_as_in_python()
    def translate_text(
        self, lines: str | Iterable[str], *, src: str | None = None, tgt: str | None = None,
        glossary: Any = None, min_probability: float = 0.0,
    ) -> Any:  # fmt: skip
        """The lines of a text, translated word by word, as by `muse translate`; of a str, a str.

        Terms of a `glossary`, as for `translate`, are translated as it says. A word whose translations are
        all less probable than `min_probability` is left as it is.
        """
        way = self.direction(src, tgt)
        terms = None if glossary is None else lexicon_from(glossary, way)
        config = TextConfig(min_probability=min_probability, glossary=terms)
        translator = Translator(self, source=way[0], target=way[1], config=config)
        if isinstance(lines, str):
            return "\n".join(translator.translate(lines.splitlines()))
        return translator.translate(all_strings(lines, "lines"))

    def _way(self, words: Sequence[str], src: str | None, tgt: str | None) -> tuple[str, str]:
        """The language of the words and that of their translations."""
        if src is None:
            others = [language for language in self.languages if language != tgt]
            src = others[0] if tgt is not None and len(others) == 1 else language_of(self, words, but=tgt)
        return direction_of(self, src, tgt)

    @named_as_in_python()
    def neighbours(self, word: str | Matrix, top: int = 5, *, lang: str | None = None) -> Nearest:
        """The `top` words of its own language that are nearest to a word, with their cosines.

        `lang` is the language, if several have the word. To a vector (k,) of the space, such as a mean or a
        sum of some, they are the nearest words of `lang`, by default the pivot.
        """
        if (row := self._row(word)) is not None:
            lang = lang or self.pivot
            best = nearest_rows(torch.from_numpy(row)[None].to(self.device), self.tensor(lang), top)
            found = zip(best.indices[0].tolist(), best.scores[0].tolist(), strict=True)
            near = [(self.vectors(lang).words[place], cosine) for place, cosine in found]
            return Nearest(near, name_of_row(row), lang)
        check_word(word)
        named = str(word)
        lang = language_of(self, [named], choice="lang") if lang is None else lang
        if lookup_entry(named, self.vectors(lang)) is None:
            raise UnknownWord(not_found(self, lang, named, "lang"))
        return Nearest(neighbours(self, lang, named, among=[lang], top=top)[lang], named, lang)

    neighbors = neighbours

    @named_as_in_python()
    def most_similar(
        self, positive: Any, negative: Any = (), topn: int = 10, *, lang: str | None = None
    ) -> Nearest:
        """The `topn` words nearest to the sum of some words or vectors less that of others, as in gensim.

        `lang` is their language and that of the words found, which the given ones are not among.
        """
        sides = [[one] if isinstance(one, str) or self._row(one) is not None else one
                 for one in (positive, negative)]  # fmt: skip
        words = [one for side in sides for one in side if isinstance(one, str)]
        if lang is None:
            lang = language_of(self, words, choice="lang") if words else self.pivot
        total = np.zeros(self.dimension, np.float32)
        for sign, side in zip((1, -1), sides, strict=True):
            for one in side:
                row = self._rows((lang, one), "lang") if isinstance(one, str) else self._row(one)
                total += sign * np.asarray(row)
        given = {lookup_entry(word, self.vectors(lang)) for word in words}
        found = self.neighbours(total, topn + len(given), lang=lang)
        return Nearest([one for one in found if one[0] not in given][:topn], " ".join(words), lang)

    def _row(self, given: Any) -> Matrix | None:
        """The unit row (k,) of a vector of the space; None for words, Mismatch for other numbers."""
        if (
            isinstance(given, str)
            or not hasattr(given, "__len__")
            or not len(given)
            or isinstance(given[0], str)
        ):
            return None
        try:
            row = np.asarray(given, np.float32)
        except (TypeError, ValueError):
            return None
        k = self.dimension
        if row.shape != (k,) or not np.isfinite(row).all() or not row.any():
            raise Mismatch(
                f"a vector of the space must be {k} finite numbers, not all 0, got an array of shape "
                f"{row.shape}; take one as space[word], or map a row of other vectors by space.map_words"
            )
        return row / np.linalg.norm(row)

    @named_as_in_python()
    def link(self, source: str, target: str, *, src: str | None = None, tgt: str | None = None) -> Any:
        """The words of a sentence linked with those of its translation, a `muse.links.pair.LinkedPair`.

        Its `pairs` are (source word, target word, probability); notebooks show both sentences, whose words
        light up. `src` and `tgt` are the languages, by default those of `space.direction`.
        MissingExtra without the package muse.links.
        """
        for text in (source, target):
            check_word(text)
        return load_optional("links.pair").link_texts(self, direction_of(self, src, tgt), (source, target))

    @named_as_in_python()
    def align_texts(
        self, source: Iterable[str], target: Iterable[str], *,
        src: str | None = None, tgt: str | None = None, encoder: Any = "idf", largest: int = 3,
    ) -> list[tuple[list[str], list[str], float]]:  # fmt: skip
        """Two texts, given by their sentences, aligned in order, as `muse align-texts` does.

        Each block has the sentences of both, up to the `largest` number, and the probability that these
        belong together. `encoder` is a sentence encoder, its name, or its folder; `src` and `tgt` are as of
        `link`. MissingExtra without the package muse.sentences.
        """
        texts = all_strings(source, "source"), all_strings(target, "target")
        way = direction_of(self, src, tgt)
        align = load_optional("sentences.text_alignment").align_sentences
        found = align(self, way, texts, encoder=encoder, largest=largest)
        return [(texts[0][slice(*one)], texts[1][slice(*two)], share) for one, two, share in found]

    @named_as_in_python()
    def examples(
        self, word: str, top: int = 3, *, src: str | None = None, tgt: str | None = None,
        translation: str | None = None,
    ) -> Any:  # fmt: skip
        """Sentences with a word and with its best translation, a `muse.examples.lookup.WordExamples`.

        They are from the texts that `muse index-text` has indexed, `top` of each language. Another
        `translation` may be given.
        MissingExtra without the package muse.examples.
        """
        check_count("--top", top)
        found = self.translate(word, 1, src=src, tgt=tgt)
        if translation is None and found.best is not None:
            translation = found.best.target
        find = load_optional("examples.lookup").find_examples
        return find(self, (found.src, found.tgt), found.form, translation, top)

    def similarity(self, one: Key | Matrix, other: Key | Matrix) -> float:
        """The cosine of two words or vectors; ("fr", "table") names the language of a word."""
        rows = list[Matrix]()
        for key in (one, other):
            if isinstance(key, tuple | str) or (row := self._row(key)) is None:
                check_word(key[1] if isinstance(key, tuple) and len(key) == 2 else key)
                row = self._rows(key, "pair")
            rows.append(row)
        return float(rows[0] @ rows[1])

    @takes(InducedPairs)
    @named_as_in_python()
    def dictionary(
        self, src: str | None = None, tgt: str | None = None, *,
        retrieval: Retrieval | str | None = None, words: Iterable[str] | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        """The dictionary of the space as a pandas.DataFrame: source, target, score, rank, probability.

        `src` is the language of the first column, which has the most frequent words first, and `tgt` that
        of the second, by default the pivot. `words` is a list of one's own. `options` are those of
        `muse induce`: `top`, `mutual`, `max_vocab`, `src_max`, `tgt_max`, `min_probability`, `precision`,
        `seed`.
        MissingExtra, with the command that installs it, without pandas.
        """
        check_names(self.dictionary, options)
        wanted = InducedPairs(src=src, tgt=tgt, **options)
        return dictionary_frame(induced(self, wanted, words, retrieval)[1])

    @named_as_in_python()
    def save(self, folder: Path | str) -> Path:
        """The folder that the space was copied to, with the answers kept beside it.

        It appears once complete, and replaces a space that is there. BadSetting if the space is not on disk
        any more, or the folder is something else.
        """
        if not isinstance(folder, str | PathLike):
            raise BadSetting(f"a space is saved to a folder, got {folder!r}; give its path")
        try:
            there = self.folder is not None and read_manifest(self.folder) == self.manifest
        except BadFile:
            there = False
        if self.folder is None or not there:
            raise BadSetting(
                "a space is saved by copying its folder, but that was removed, or replaced by another space; "
                "load or align it again"
            )
        copy_space(Path(folder), self.folder)
        return Path(folder)

    def _repr_html_(self) -> str:
        """A card for notebooks: the verdict, the words of each language, and some translations."""
        others = ", ".join(language for language in self.languages if language != self.pivot)
        facts = [*self._counts().values(), f"{self.vectors(self.pivot).dimension} dimensions"]
        title = f"{others} \u2192 {self.pivot}"
        return html_card(title, self.verdict, facts, self._examples()._repr_html_())

    def _examples(self) -> TranslationTable:
        """The best translation of some common words; none if they would take long to find."""
        if len(self.languages) != 2 or not all(self.vectors(one).frequency_ordered for one in self.languages):
            return TranslationTable()
        words = example_words(self, self.direction()[0], ON_CARD)[:ON_CARD] if _is_cheap(self) else []
        return self.translate(words, src=self.direction()[0], top=1) if words else TranslationTable()


@named_as_in_python()
def load(
    folder: Path | str | None = None,
    *,
    device: str = "auto",
    check: bool = True,
    quiet: bool = False,
    progress: Progress | None = None,
    approximation: Approximation | None = None,
    answers: AnswersBy = "all",
) -> InteractiveSpace:
    """The space that `muse align` saved in a folder; BadFile if there is none, or a broken one.

    Without a folder, the only space where `muse align` writes them, `embeddings/aligned`.
    `check` compares the checksum of every file. Searches in the space show their progress unless `quiet`.
    With the `answers` "csls" translations are ranked by CSLS alone, as in the papers.
    """
    if folder is None:
        known = spaces_in(ALIGNED)
        if len(known) != 1:
            shown = ", ".join(map(str, known[:NAMED])) or "none; make one with muse.align"
            raise BadSetting(f"muse.load without a folder needs a single space in {ALIGNED}, got {shown}")
        folder = known[0]
    if not isinstance(folder, str | PathLike):
        raise BadSetting(f"muse.load needs the folder of a space, got {folder!r}; give its path")
    if answers not in ("all", "csls"):
        raise BadSetting(f"answers must be one of all, csls; got {answers!r}")
    loaded = load_aligned(
        folder, device=pick_device(device), check=check, progress=progress or Progress(quiet=quiet),
        approximation=approximation, answers=answers,
    )  # fmt: skip
    return InteractiveSpace.of(loaded)


def load_space(folder: Path | str, **options: Any) -> InteractiveSpace:
    """The space in a folder, as by `load`, with its options; quiet and on the CPU unless they say else."""
    return load(folder, **{"device": "cpu", "quiet": True, **options})


def _has(space: Space, language: str, word: object) -> bool:
    return isinstance(word, str) and lookup_entry(word, space.vectors(language)) is not None


def _is_cheap(space: Space) -> bool:
    """Whether translations are found at once: answers are kept, or hubness is, or the space is small."""
    source, target = space.direction()
    if space.answers(source, target) is not None:
        return True
    pairs = len(space.vectors(source)) * len(space.vectors(target))
    return pairs <= CHEAP or space.hubness(target, source) is not None
