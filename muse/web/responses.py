"""Answers: the typed responses of the API, for OpenAPI and for callers."""

from pydantic import BaseModel

from muse.ranking.translations import Grade
from muse.report.word_map import Region
from muse.space.derived import AnswersBy


class Scored(BaseModel):
    """A word and its score; higher is better. For unlabelled vectors, the id, and the text if known."""

    word: str
    score: float
    text: str | None = None


class Option(Scored):
    """A translation: the probability that it is right, and whether each word is the other's best.

    The probability, and with it the grade, is null until the scores of the space are calibrated.
    """

    probability: float | None
    mutual: bool
    grade: Grade | None


class TranslationsAnswer(BaseModel):
    """The best translations of a word, looked up as `form`, a spelling of the vocabulary.

    `text` is what an unlabelled vector stands for, if it is known.
    `retrieval` names the scores: csls:10, or nn for cosines. `answers` is all where the translations were
    chosen by all the evidence, csls where the scores rank them. `grade` belongs to the best translation; if
    that is weak, `languages` are the ones in which the word is more frequent. `verdict` is the one on the
    mapping: where it failed, most answers are wrong.
    """

    source: str
    target: str
    word: str
    form: str
    text: str | None = None
    retrieval: str
    answers: AnswersBy
    grade: Grade | None
    languages: list[str] = []
    verdict: str | None = None
    translations: list[Option]


class Nearby(BaseModel):
    """The nearest neighbours of a word in one language, by cosine."""

    language: str
    words: list[Scored]


class NeighboursAnswer(BaseModel):
    """The nearest neighbours of a word, looked up as `form`, in both languages."""

    language: str
    word: str
    form: str
    neighbours: list[Nearby]


class Token(BaseModel):
    """A token of a sentence, or several that belong together, looked up as `form`, and its translations.

    It is `kept` if the text has it as it is: a name, a number, a sign, or a word without translations.
    """

    token: str
    form: str | None
    kept: bool
    options: list[Option]


class SentenceAnswer(BaseModel):
    """A sentence translated word by word: its tokens, and the text of their best translations.

    `entry` is the unit of several words that the whole text is, if the space has it.
    """

    source: str
    target: str
    retrieval: str
    answers: AnswersBy
    text: str
    entry: str | None
    tokens: list[Token]


class LinkedWord(BaseModel):
    """A word of a sentence, and what stands between it and the word before."""

    before: str
    word: str


class LinkedText(BaseModel):
    """A sentence: its words, and what stands after the last of them."""

    language: str
    text: str
    words: list[LinkedWord]
    after: str


class Link(BaseModel):
    """A link between two words, by their places from 0, and the probability that it is right."""

    source: int
    target: int
    probability: float


class LinkAnswer(BaseModel):
    """A sentence and its translation, and the links between their words."""

    source: LinkedText
    target: LinkedText
    links: list[Link]


class ExampleSentence(LinkedText):
    """A sentence with a word, which is what `words` has, and the file and line that it is from."""

    file: str
    line: int


class ExamplesAnswer(BaseModel):
    """Sentences with a word, and with its translation, best first."""

    source: list[ExampleSentence]
    target: list[ExampleSentence]


class Judgement(BaseModel):
    """A verdict: its label, the confidence that the mapping is right, and the shares it rests on.

    `agreement` is the share of held-out pairs recovered, `null` that without any true translations.
    """

    label: str
    confidence: float | None = None
    agreement: float | None = None
    null: float | None = None
    mutual: float | None = None


class HeldOut(BaseModel):
    """How many words of the space's own dictionary were translated correctly while they were held out."""

    held_out_p_at_1: float
    ci95: tuple[float, float]
    pairs: int


class VectorFile(BaseModel):
    """A file of word vectors that a space was made from."""

    name: str
    sha256: str | None


class Language(BaseModel):
    """A language of a space, the number of its words, a few examples, and the evidence for its mapping.

    Behind the words are `units` of several words that were found in text.
    It is `ranked` if it has words, most frequent first, and not rows in no order, whose ids are its words;
    `texts` are then those of the examples, as far as they are known.
    The pivot, which was not mapped, has no verdict and no signature. `expected_p_at_1` percent of its first
    translations into the pivot are expected to be right, `expected_ci95` is the interval.
    """

    name: str
    words: int
    units: int
    ranked: bool
    examples: list[str]
    texts: list[str | None]
    verdict: Judgement | None
    held_out: HeldOut | None
    expected_p_at_1: float | None
    expected_ci95: tuple[float, float] | None
    signature: str | None
    files: list[VectorFile]


class SpaceFacts(BaseModel):
    """The explored space: its languages, and the verdict on its least confident mapping.

    `folder` is its path on the machine of the server, empty for a space that was never saved.
    """

    name: str
    folder: str
    pivot: str
    dimension: int
    languages: list[Language]
    method: str
    verdict: str | None
    confidence: float | None
    mapping: str | None
    muse_version: str | None


class SpacesAnswer(BaseModel):
    """The spaces of this server: always one; `links` is whether it links words of sentences.

    `examples` are the languages with an index of sentences; `terms` is whether there is a glossary.
    """

    spaces: list[SpaceFacts]
    links: bool
    examples: list[str] = []
    terms: bool = False


class Decided(BaseModel):
    """What was decided of a translation: accepted, rejected, or nothing any more."""

    term: str
    translation: str
    decision: str


class Suggested(BaseModel):
    """A word and its frequency rank, from 1; of a row its id, without a rank, and its text if it is known."""

    word: str
    rank: int | None
    text: str | None = None


class SuggestAnswer(BaseModel):
    """The most frequent words that start with `prefix`, whatever their capitals and accents.

    Of unlabelled vectors, those whose id starts with it, then those whose text has words that do.
    """

    language: str
    prefix: str
    words: list[Suggested]


class Point(BaseModel):
    """A word of the picture: its language, its place, and the index of the point of its translation.

    `probability` is that of the translation, in the direction where it is lower; null if it is not known.
    """

    word: str
    language: str
    x: float
    y: float
    pair: int
    probability: float | None


class PictureAnswer(BaseModel):
    """Words on a plane, the same in both directions; none and not `ready` while it is being drawn."""

    source: str
    target: str
    ready: bool
    points: list[Point]
    regions: list[Region]


class Landmark(BaseModel):
    """A word beside the one looked up, and its place in the picture, estimated unless `exact`."""

    word: str
    language: str
    x: float
    y: float
    exact: bool


class PlaceAnswer(BaseModel):
    """The place of a word in the picture; estimated from its nearest words there, unless `exact`.

    `near` are the words of both languages that were given, in their order; `answer` is its best translation,
    null if it has none.
    """

    word: str
    form: str
    language: str
    x: float
    y: float
    exact: bool
    near: list[Landmark]
    answer: Landmark | None


class HealthAnswer(BaseModel):
    """The status of the server, and its version."""

    status: str
    version: str


class Problem(BaseModel):
    """An error; for an unknown word the nearest spellings, and the other languages that have it."""

    error: str
    suggestions: list[str] = []
    languages: list[str] = []
