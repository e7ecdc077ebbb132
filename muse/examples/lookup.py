"""Look-up: sentences with a word of a space and, in the other language, sentences with its translation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muse.errors import BadSetting
from muse.examples.index import Example, find_sentences
from muse.files.space_folder import EXAMPLES, folder_name
from muse.progress import printable
from muse.space import Space

SHOWN = 3  # sentences of each language


@dataclass(frozen=True, eq=False)
class WordExamples:
    """Sentences with a word, and with its translation in the other language; best first.

    Each `muse.examples.index.Example` has its `text`, the `places` of the word in it, and its file and line.
    """

    word: str
    translation: str | None
    languages: tuple[str, str]
    source: tuple[Example, ...]
    target: tuple[Example, ...]

    @property
    def sides(self) -> list[tuple[str, tuple[Example, ...]]]:
        """The languages, each with its examples."""
        return list(zip(self.languages, (self.source, self.target), strict=True))

    def as_json(self) -> dict[str, Any]:
        """What `--json` shows of them."""
        sides = {
            name: [one._asdict() for one in found]
            for name, found in (("source", self.source), ("target", self.target))
        }
        return {"translation": self.translation, **sides}

    def __repr__(self) -> str:
        lines = [f"{language}: {one.text}" for language, found in self.sides for one in found]
        return printable("\n".join(lines)) or "no examples"

    def _repr_html_(self) -> str:
        """The sentences for notebooks, with their words marked."""
        return f"<ul>{''.join(f'<li>{one.html}</li>' for _, found in self.sides for one in found)}</ul>"


def index_path(folder: Path, language: str) -> Path:
    """Where the index of a language is in the folder of a space."""
    return folder / folder_name(language) / EXAMPLES


def indexed_languages(space: Space) -> list[str]:
    """The languages of a space whose texts are indexed."""
    folder = space.folder
    return [] if folder is None else [one for one in space.languages if index_path(folder, one).is_file()]


def find_examples(
    space: Space, direction: tuple[str, str], word: str, translation: str | None, top: int = SHOWN
) -> WordExamples:
    """The `top` best sentences with an entry of a space and with its translation.

    There are none of a language without an index; BadSetting if neither has one.
    """
    known, (source, target) = indexed_languages(space), direction
    if not {source, target} & set(known):
        raise BadSetting(
            f"examples need indexed text in {source} or {target}, got none; run muse index-text "
            f"{space.folder or 'SPACE'} --src {source} --tgt {target} --src-text FILE --tgt-text FILE"
        )
    sides = [
        find_sentences(index_path(space.folder, language), space.vectors(language), one, top)
        if language in known and one is not None and space.folder is not None
        else ()
        for language, one in zip(direction, (word, translation), strict=True)
    ]
    return WordExamples(word, translation, direction, sides[0], sides[1])
