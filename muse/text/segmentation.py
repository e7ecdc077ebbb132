"""Segmentation: the words of text without spaces between them, and those of a vocabulary with spaces inside.

Chinese, Japanese, Thai, Khmer, Lao and Burmese are segmented by ICU, through icu4py, which only this module
uses: one package for all six, MIT, with ICU and its dictionaries in wheels of 16 MB. PyICU needs the system's
ICU; jieba, khmernltk and unidic-lite have no wheel; pythainlp, nagisa and tltk take 20 MB, for a language.
Where a vocabulary is given, it is the judge: its own words are left whole, and what ICU finds and it lacks is
read as the longest words that it has. Other characters, such as punctuation, are left to Moses' rules.
"""

import re
import unicodedata
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate

from muse.installation import install_extra
from muse.languages import language_code

EXTRA = "segment"
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_JAPANESE = _HAN + "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
_JOINERS = "\u200c\u200d"
# The letters and marks of each language, without its digits and punctuation.
_LETTERS = {
    "zh": _HAN,
    "ja": _JAPANESE,
    "th": "\u0e01-\u0e3a\u0e40-\u0e4e",
    "lo": "\u0e81-\u0ecf\u0edc-\u0edf",
    "km": "\u1780-\u17d3\u17d7\u17dc\u17dd" + _JOINERS,
    "my": "\u1000-\u103f\u104c-\u108f\u109a-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f" + _JOINERS,
}
_UNSPACED = re.compile(f"[{''.join(_LETTERS.values())}]")
_CHINESE = frozenset(("yue", "wuu", "hak", "nan", "gan", "lzh"))
_BREAK = "\u200b"  # where Thai and Khmer text has it, a word ends there
_A_HAN = re.compile(f"[{_HAN}]")
# Signs that put the next letter below, and vowels that are written before the letter they follow.
_CONTINUED = frozenset("\u1039\u17d2เแโใไເແໂໃໄ")
LONGEST_WORD = 16  # characters of a word that the vocabulary has and ICU does not
_PHRASES = 0.01  # the least share of entries such as new_york in a vocabulary of phrases
_UNIT_PARTS = re.compile(r"[_ ]|(?<=[^\W_]')(?=\w)")  # autour d'elle is of three
_LETTER = re.compile(r"[^\W\d_]")
_EDGES = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)

# What ends a sentence, with closing signs; in a script with spaces, one follows.
_SENTENCE_END = re.compile(r"""(?:[.!?…]+(?:\s?[»”]|["'’)\]])*(?=\s)|[。！？]+[」』”）]*)\s*""")
_OPENING_SIGNS = 8  # characters around the end of a sentence that are looked at
# Before a name; with a point or without.
TITLES = frozenset("M MM Mme Mmes Mlle Mgr Dr St Ste Mr Mrs Ms Prof Sr Sra Sig".split())
_ABBREVIATION = re.compile(rf"\b(?:[^\W\d_]|{'|'.join(sorted(TITLES))})\.\s*$")

# Runs of letters by script, with an average length that words of it do not have.
_SCRIPTS = (
    (re.compile("[\u3040-\u30ff\u3400-\u9fff]+"), 5),  # kana and Han
    (re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]+"), 10),  # Thai, Lao, Tibetan, Burmese, Khmer
)


def unspaced_language(language: str) -> str | None:
    """The code of a language that is segmented here: zh, ja, th, km, lo or my; None for any other.

    >>> unspaced_language("cmn_Hans"), unspaced_language("fr")
    ('zh', None)
    """
    code = language_code(language)
    code = "zh" if code in _CHINESE else code
    return code if code in _LETTERS else None


def is_unspaced(letter: str) -> bool:
    """Whether a letter is one of these languages'.

    >>> is_unspaced("猫"), is_unspaced("a"), is_unspaced("")
    (True, False, False)
    """
    return _UNSPACED.match(letter) is not None


@cache
def has_segmenter() -> bool:
    """Whether icu4py is installed."""
    return find_spec("icu4py") is not None


@cache
def _runs(code: str) -> re.Pattern[str]:
    return re.compile(f"([{_LETTERS[code]}]+)|{_BREAK}")


class Segmenter:
    """Finds the words of a language without spaces; `known` are those of a vocabulary.

    Without ICU, or with `whole`, the letters between two spaces or signs are one word.

    >>> segmenter = Segmenter("zh", {"喜欢"})
    >>> list(segmenter.split("喜欢R&D。"))
    [('喜欢', True), ('R&D。', False)]
    """

    def __init__(self, language: str, known: Container[str] | None = None, *, whole: bool = False) -> None:
        code = unspaced_language(language)
        if code is None:
            raise ValueError(f"{language} is not written without spaces")
        self._code, self._known, self._runs = code, known, _runs(code)
        self._whole = whole or not has_segmenter()

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """The strings that a text consists of, and whether each is letters of the language."""
        end = 0
        for match in self._runs.finditer(text):
            if end < match.start():
                yield text[end : match.start()], False
            if match[1]:
                yield match[1], True
            end = match.end()
        if end < len(text):
            yield text[end:], False

    def words(self, run: str) -> list[str]:
        """The words of letters without spaces between them."""
        known = self._known
        if self._whole or (known is not None and run in known):
            return [run]
        from icu4py.breakers import WordBreaker

        found = [str(piece) for piece in WordBreaker(run, self._code)]
        if known is None or all(word in known for word in found):
            return found
        return _judged(run, found, known)


Cost = tuple[int, int, int]  # letters unknown, ends of ICU's that are inside words, words


def _judged(run: str, pieces: Sequence[str], known: Container[str]) -> list[str]:
    """The words of the least cost, by dynamic programming, in time linear in the letters."""
    ends = list(accumulate(map(len, pieces)))
    of_icu = dict(zip(ends, [0, *ends], strict=False))  # where the piece that ends there begins
    crossed = [0] * (len(run) + 1)  # how many pieces end before a place
    for end in ends[:-1]:
        crossed[end + 1] = 1
    crossed = list(accumulate(crossed))
    # The cost of the letters up to each place, and where the last word begins.
    best: list[tuple[Cost, int]] = [((0, 0, 0), 0)]
    last = 0  # the last place at which a word may end

    def option(begin: int, unknown: int, inside: int) -> tuple[Cost, int]:
        cost = best[begin][0]
        return (cost[0] + unknown, cost[1] + inside, cost[2] + 1), begin

    for end in range(1, len(run) + 1):
        # Accents, and letters that stand below, belong to what precedes.
        mark = end < len(run) and unicodedata.category(run[end]).startswith("M")
        if mark or (end < len(run) and run[end - 1] in _CONTINUED):
            best.append(((len(run) + 1, 0, 0), end))
            continue
        options = [option(last, end - last, 0)]
        if (piece := of_icu.get(end)) is not None:
            options.append(option(piece, 0 if run[piece:end] in known else end - piece, 0))
        for begin in range(max(0, end - LONGEST_WORD), end):
            word = run[begin:end]
            # A letter is a word by itself only if it stands for one, as those of Chinese do.
            if word in known and (len(word) > 1 or _A_HAN.fullmatch(word)):
                options.append(option(begin, 0, crossed[end] - crossed[begin + 1]))
        best.append(min(options))
        last = end
    found, end = list[str](), len(run)
    while end:  # unknown letters stay together
        begin = best[end][1]
        word = run[begin:end]
        if found and end not in of_icu and word not in known and found[-1] not in known:
            found[-1] = word + found[-1]
        else:
            found.append(word)
        end = begin
    return found[::-1]


def unit_parts(unit: str) -> list[str]:
    """The words of a unit of text.

    >>> unit_parts("autour_d'elle")
    ['autour', "d'", 'elle']
    """
    return _UNIT_PARTS.split(unit)


class Phrases:
    """The entries of a vocabulary that are several words: new_york, học_sinh, or the same with spaces.

    There are none in a vocabulary that has few of them: there, they are names of programs. Those of a `table`
    are known too, of words with spaces between, each with a letter, and those among `words` that are `units`
    of text.

    >>> phrases = Phrases(["new_york", "i", "live", "in"])
    >>> list(phrases.split(["I", "live", "in", "New", "York", "."]))
    [(['I', 'live', 'in'], None), (['New', 'York'], 'new_york'), (['.'], None)]
    """

    def __init__(self, words: Collection[str], table: Iterable[str] = (), units: Iterable[str] = ()) -> None:
        split = ((word, re.split("[_ ]", word)) for word in words if "_" in word or " " in word)
        entries = {"_".join(parts): word for word, parts in split if all(map(str.isalpha, parts))}
        self.entries = entries if len(entries) >= _PHRASES * len(words) else {}
        for phrase in table:
            parts = phrase.split(" ")
            if len(parts) > 1 and all(map(_LETTER.search, parts)):
                self.entries["_".join(parts)] = phrase
        self.entries |= {"_".join(unit_parts(unit)): unit for unit in units}
        self._written = {entry: key.replace("_", " ") for key, entry in self.entries.items()}
        self._longest: dict[str, int] = {}  # by the first word
        for key in self.entries:
            first, count = key.partition("_")[0].lower(), key.count("_") + 1
            self._longest[first] = max(count, self._longest.get(first, 0))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def split(self, tokens: Sequence[str]) -> Iterator[tuple[Sequence[str], str | None]]:
        """The tokens in order: all of an entry with it, others together with None."""
        begin = place = 0
        while place < len(tokens):
            count, key = self._at(tokens, place)
            if key:
                if begin < place:
                    yield tokens[begin:place], None
                yield tokens[place : place + count], self.entries[key]
                begin = place + count
            place += count
        if begin < len(tokens):
            yield tokens[begin:], None

    def joined(self, parts: Sequence[str]) -> list[str]:
        """The parts of a line between spaces; those of an entry as one, such as new_york, without signs.

        >>> Phrases(["new_york", "học sinh"]).joined(["(New", "York),", "học", "sinh"])
        ['(', 'new_york', '),', 'học_sinh']
        """
        split = [_EDGES.match(part) for part in parts]
        found, place = list[str](), 0
        cores = [match[2] if match else part for match, part in zip(split, parts, strict=True)]
        while place < len(parts):
            count, key = self._at(cores, place)
            if not key or any(match is None or match[3] for match in split[place : place + count - 1]):
                count, key = 1, ""
            if key:
                first, last = split[place], split[place + count - 1]
                found += [one for one in (first and first[1], key, last and last[3]) if one]
            else:
                found.append(parts[place])
            place += count
        return found

    def in_text(self, entry: str) -> str:
        """An entry as text has it: with spaces between its words."""
        return self._written.get(entry, entry)

    def _at(self, tokens: Sequence[str], place: int) -> tuple[int, str]:
        """How many tokens from a place on are one entry, and its key; 1 and "" if they are none."""
        for count in range(min(self._longest.get(tokens[place].lower(), 1), len(tokens) - place), 1, -1):
            key = "_".join(tokens[place : place + count])
            for form in (key, key.lower()):
                if form in self.entries:
                    return count, form
        return 1, ""


def sentences_of(text: str) -> list[str]:
    """The sentences of running text, without the spaces between them.

    None ends before a small letter, nor at an initial or a title.

    >>> sentences_of("Il dit : « Va ! » Puis Mme B. Dupont et Mme. Roi partent. 3.5 km… Fin")
    ['Il dit : « Va ! »', 'Puis Mme B. Dupont et Mme. Roi partent.', '3.5 km…', 'Fin']
    """
    found, begin = list[str](), 0
    for match in _SENTENCE_END.finditer(text):
        letter = next(filter(str.isalnum, text[match.end() : match.end() + _OPENING_SIGNS]), "")
        around = max(begin, match.end() - _OPENING_SIGNS)
        if not letter.islower() and not _ABBREVIATION.search(text, around, match.end()):
            found.append(text[begin : match.end()].strip())
            begin = match.end()
    return [sentence for sentence in (*found, text[begin:].strip()) if sentence]


def unspaced_letters(lines: Sequence[str]) -> float | None:
    """The average number of letters between spaces, if it is too high for words; None otherwise.

    Only of text in a script that is usually written without spaces.
    """
    for script, too_long in _SCRIPTS:
        runs = [run for line in lines for run in script.findall(line)]
        mean = sum(map(len, runs)) / max(1, len(runs))
        if len(runs) >= len(lines) / 2 and mean >= too_long:  # not of a few quotations
            return mean
    return None


def unspaced_advice(lines: Sequence[str], language: str | None = None) -> str | None:
    """What to do with text whose words stand without spaces between them; None for text that is segmented."""
    letters = unspaced_letters(lines)
    if letters is None or (has_segmenter() and (language is None or unspaced_language(language))):
        return None
    install = "" if has_segmenter() else f"; or let muse do it: {install_extra(EXTRA)}"
    return (
        f"{letters:.0f} letters stand between two spaces on average: separate the words by spaces first, "
        f"as jieba (Chinese), fugashi (Japanese) and pythainlp (Thai) do{install}"
    )


def is_spaced(lines: Sequence[str], language: str) -> bool:
    """Whether the words of these lines stand between spaces; true of languages that have no others.

    >>> is_spaced(["我喜欢北京。"], "zh"), is_spaced(["我 喜欢 北京 。"], "zh")
    (False, True)
    """
    code = unspaced_language(language)
    if code is None:
        return True
    runs = sum(len(_runs(code).findall(line)) for line in lines)
    between = sum(len(_between(code).findall(line)) for line in lines)
    # Thai has spaces between clauses, which are longer than words.
    return between > runs / 3 and unspaced_letters(lines) is None


def without_spaces(text: str, language: str) -> str:
    """The text without spaces between letters of a language that has none; other text as it is.

    >>> without_spaces("ฉัน รัก Python", "th"), without_spaces("un chat", "fr")
    ('ฉันรัก Python', 'un chat')
    """
    code = unspaced_language(language)
    return text if code is None else _between(code).sub("", text)


@cache
def _between(code: str) -> re.Pattern[str]:
    return re.compile(f"(?<=[{_LETTERS[code]}]) (?=[{_LETTERS[code]}])")
