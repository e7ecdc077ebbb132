"""Table: the published files, their addresses, sizes and licences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

from muse.errors import BadSetting, did_you_mean

HOME = "https://dl.fbaipublicfiles.com"
BY_SA = "CC BY-SA 3.0"
NON_COMMERCIAL = "CC BY-NC 4.0"
# fastText, "Word vectors for 157 languages" (Grave et al., 2018), and English; the same languages have
# vectors trained on Wikipedia (Bojanowski et al., 2017).
LANGUAGES = tuple(
    """af als am an ar arz as ast az azb ba bar bcl be bg bh bn bo bpy br bs ca ce ceb ckb co cs cv cy da
    de diq dv el eml en eo es et eu fa fi fr frr fy ga gd gl gom gu gv he hi hif hr hsb ht hu hy ia id
    ilo io is it ja jv ka kk km kn ko ku ky la lb li lmo lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl
    my myv mzn nah nap nds ne new nl nn no nso oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru sa sah
    sc scn sco sd sh si sk sl so sq sr su sv sw ta te tg th tk tl tr tt ug uk ur uz vec vi vls vo wa war
    xmf yi yo zea zh""".split()
)
# The dictionaries of MUSE (Conneau et al., 2018): among these, and between English and each of the others.
EUROPEAN = ("de", "en", "es", "fr", "it", "pt")
WITH_ENGLISH = tuple(
    """af ar bg bn bs ca cs da el et fa fi he hi hr hu id ja ko lt lv mk ms nl no pl ro ru sk sl sq sv
    ta th tl tr uk vi zh""".split()
)
PARTS = {"full": "", "train": ".0-5000", "test": ".5000-6500"}


@dataclass(frozen=True)
class Collection:
    """A collection: the path of a language's file relative to the home, its kind, size and licence."""

    path: str
    kind: str
    size: str
    licence: str
    about: str


SOURCES = {
    "cc": Collection(
        "fasttext/vectors-crawl/cc.{}.300.vec.gz", "vectors", "up to 1.3 GB", BY_SA,
        "fastText, Common Crawl and Wikipedia, 300 dimensions",
    ),
    "wiki": Collection(
        "fasttext/vectors-wiki/wiki.{}.vec", "vectors", "up to 6.6 GB", BY_SA,
        "fastText, Wikipedia, 300 dimensions",
    ),
}  # fmt: skip
DICTIONARIES = Collection(
    "arrival/dictionaries/{}.txt",
    "dictionary",
    "up to 3 MB",
    NON_COMMERCIAL,
    "MUSE's evaluation dictionaries",
)


@dataclass(frozen=True)
class Item:
    """A file to download: its path relative to the home, its kind, size and licence."""

    path: str
    kind: str
    size: str
    licence: str

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rsplit("/", 1)[-1]

    def url(self, home: str = HOME) -> str:
        """The address of the file, at `home` or a mirror of it."""
        return f"{home.rstrip('/')}/{self.path}"


def vectors(language: str, source: str = "cc") -> Item:
    """The vectors of a language; BadSetting if none are published.

    >>> vectors("fr").url()
    'https://dl.fbaipublicfiles.com/fasttext/vectors-crawl/cc.fr.300.vec.gz'
    """
    if language not in LANGUAGES:
        raise BadSetting(
            f"vectors are published for {len(LANGUAGES)} languages, by codes such as fr, got {language!r}; "
            f"muse fetch --list names them all{did_you_mean(language, LANGUAGES)}"
        )
    return _item(SOURCES[source], language)


def dictionary(pair: str, part: str = "full") -> Item:
    """The dictionary of a pair of languages such as fr-en; BadSetting if none is published.

    >>> dictionary("fr-en", "test").name
    'fr-en.5000-6500.txt'
    """
    if pair not in dictionary_pairs():
        meant = did_you_mean(pair, dictionary_pairs())
        raise BadSetting(
            f"dictionaries are published between {' '.join(EUROPEAN)}, and between en and each of "
            f"{' '.join(WITH_ENGLISH)}, named like fr-en; got {pair!r}{meant}"
        )
    return _item(DICTIONARIES, f"{pair}{PARTS[part]}")


def dictionary_pairs() -> list[str]:
    """Every pair of languages that has a dictionary."""
    european = [f"{one}-{two}" for one, two in permutations(EUROPEAN, 2)]
    with_english = [pair for other in WITH_ENGLISH for pair in (f"{other}-en", f"en-{other}")]
    return sorted({*european, *with_english})


def listing() -> list[dict[str, str]]:
    """The available collections, a row for each."""
    known = [("vectors", f"--source {name}", one, " ".join(LANGUAGES)) for name, one in SOURCES.items()]
    pairs = f"{' '.join(EUROPEAN)} with each other; en with {' '.join(WITH_ENGLISH)}, both ways"
    known.append(("dictionary", "", DICTIONARIES, pairs))
    return [
        {
            "what": f"{kind} {option}".strip(), "about": one.about, "size": one.size, "licence": one.licence,
            "url": f"{HOME}/{one.path}", "languages": languages,
        }
        for kind, option, one, languages in known
    ]  # fmt: skip


def _item(collection: Collection, name: str) -> Item:
    return Item(collection.path.format(name), collection.kind, collection.size, collection.licence)
