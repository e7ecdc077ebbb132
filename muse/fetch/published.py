"""Published files: their addresses, sizes and licences; one is downloaded into a folder and verified.

The checksums of downloaded files are kept beside them, in the format of `sha256sum`, to detect changes.
"""

import logging
import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from typing import Any

from muse.errors import BadFile, BadSetting
from muse.fetch.download import PartialFile, RetryPolicy, check_content, download
from muse.files.atomic import writing
from muse.files.plain_text import read_lines
from muse.files.source import refuse_stream
from muse.files.space_folder import checksum
from muse.files.writing import check_folder, replaced
from muse.languages import language_code
from muse.progress import BYTES, Progress, Tick

log = logging.getLogger(__name__)

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
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
_FORMER = {"in": "id", "jw": "jv", "mo": "ro", "gsw": "als"}  # codes that are words, too, elsewhere
# The dictionaries of MUSE (Conneau et al., 2018): among these, and between English and each of the others.
EUROPEAN = ("de", "en", "es", "fr", "it", "pt")
WITH_ENGLISH = tuple(
    """af ar bg bn bs ca cs da el et fa fi he hi hr hu id ja ko lt lv mk ms nl no pl ro ru sk sl sq sv
    ta th tl tr uk vi zh""".split()
)
PARTS = {"full": "", "train": ".0-5000", "test": ".5000-6500"}


@dataclass(frozen=True)
class Item:
    """A file to download: its path relative to the home, its kind, size and licence, and what it is.

    Of all files of one kind, `path` has {} in place of the language or the pair.
    """

    path: str
    kind: str
    size: str
    licence: str
    about: str

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rsplit("/", 1)[-1]

    def of(self, name: str) -> "Item":
        """The file of a language or a pair."""
        return replace(self, path=self.path.format(name))

    def check(self, *, non_commercial: bool) -> None:
        """Raise BadSetting if the licence is not accepted."""
        if self.licence == NON_COMMERCIAL and not non_commercial:
            raise BadSetting(
                f"{self.name} has the non-commercial licence {self.licence}; accept it with "
                "--accept-non-commercial"
            )

    def url(self, home: str = HOME) -> str:
        """The address of the file, at `home` or a mirror of it."""
        return f"{home.rstrip('/')}/{self.path}"


SOURCES = {
    "cc": Item(
        "fasttext/vectors-crawl/cc.{}.300.vec.gz", "vectors", "up to 1.3 GB", BY_SA,
        "fastText, Common Crawl and Wikipedia, 300 dimensions",
    ),
    "wiki": Item(
        "fasttext/vectors-wiki/wiki.{}.vec", "vectors", "up to 6.6 GB", BY_SA,
        "fastText, Wikipedia, 300 dimensions",
    ),
}  # fmt: skip
DICTIONARIES = Item(
    "arrival/dictionaries/{}.txt", "dictionary", "up to 3 MB", NON_COMMERCIAL,
    "MUSE's evaluation dictionaries",
)  # fmt: skip


def vectors(language: str, source: str = "cc") -> Item:
    """The vectors of a language; BadSetting if none are published.

    >>> vectors("fr").url()
    'https://dl.fbaipublicfiles.com/fasttext/vectors-crawl/cc.fr.300.vec.gz'
    """
    if language not in LANGUAGES:
        raise BadSetting(
            f"vectors are published for {len(LANGUAGES)} languages, by codes such as fr, got {language!r}; "
            f"muse fetch --list names them all{_meant(language, LANGUAGES)}"
        )
    return SOURCES[source].of(language)


def dictionary(pair: str, part: str = "full") -> Item:
    """The dictionary of a pair of languages such as fr-en; BadSetting if none is published.

    >>> dictionary("fr-en", "test").name
    'fr-en.5000-6500.txt'
    """
    if pair not in dictionary_pairs():
        meant = _meant(pair, dictionary_pairs())
        raise BadSetting(
            f"dictionaries are published between {' '.join(EUROPEAN)}, and between en and each of "
            f"{' '.join(WITH_ENGLISH)}, named like fr-en; got {pair!r}{meant}"
        )
    return DICTIONARIES.of(f"{pair}{PARTS[part]}")


def _meant(given: str, known: Sequence[str]) -> str:
    """What was meant by a language, or a pair of them, that has another code or a name here.

    None is guessed by its letters: codes that look alike are of other languages.
    """
    codes = re.split("[-_]", given.casefold())[: 1 + ("-" in known[0])]
    code = "-".join(_FORMER.get(one, language_code(one)) for one in codes)
    return f"; did you mean {code}?" if code in known else ""


def dictionary_pairs() -> list[str]:
    """Every pair of languages that has a dictionary."""
    european = [f"{one}-{two}" for one, two in permutations(EUROPEAN, 2)]
    with_english = [pair for other in WITH_ENGLISH for pair in (f"{other}-en", f"en-{other}")]
    return sorted({*european, *with_english})


def listing() -> list[dict[str, str]]:
    """The available collections, a row for each."""
    pairs = f"{' '.join(EUROPEAN)} with each other; en with {' '.join(WITH_ENGLISH)}, both ways"
    known = [(f"vectors --source {name}", one, " ".join(LANGUAGES)) for name, one in SOURCES.items()]
    return [
        {
            "what": what, "about": one.about, "size": one.size, "licence": one.licence, "url": one.url(),
            "languages": languages,
        }
        for what, one, languages in (*known, ("dictionary", DICTIONARIES, pairs))
    ]  # fmt: skip


def read_pins(folder: Path) -> dict[str, str]:
    """The checksum of each file in the folder's SHA256SUMS; BadFile for an invalid line."""
    path, pins = folder / SUMS, dict[str, str]()
    refuse_stream(path, "of checksums")
    for number, line in enumerate(read_lines(path) if path.exists() else (), 1):
        if (found := _LINE.fullmatch(line)) is None:
            raise BadFile(f"{path}:{number}: expected a checksum and a name, got {line[:80]!r}; correct it")
        pins[found[2]] = found[1]
    return pins


@dataclass(frozen=True)
class FetchConfig:
    """Where files come from and go to; BadSetting if `home` is not a web address."""

    folder: Path
    home: str = HOME
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        if not self.home.startswith(("https://", "http://")):
            raise BadSetting(f"--mirror must begin with https:// or http://, got {self.home!r}; add it")


@dataclass(frozen=True)
class Fetched:
    """A downloaded file: its size in bytes, its checksum, and whether it had been downloaded before."""

    path: Path
    url: str
    bytes: int
    sha256: str
    licence: str
    cached: bool

    def as_json(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**vars(self), "path": str(self.path)}


def fetch(item: Item, config: FetchConfig, progress: Progress) -> Fetched:
    """The file, downloaded unless it is there with the recorded checksum; BadFile if that fails.

    The checksum of a file that is downloaded for the first time is recorded in SHA256SUMS beside it; a
    later download with another checksum is not kept.
    """
    check_folder(config.folder)
    with writing(config.folder):
        config.folder.mkdir(parents=True, exist_ok=True)
    path, url, pin = config.folder / item.name, item.url(config.home), read_pins(config.folder).get(item.name)
    if cached := path.exists():
        if pin is None:
            raise BadFile(f"{path}: expected no such file, got one that muse did not download; move it")
        if checksum(path) != pin:
            raise BadFile(f"{path}: expected the downloaded file ({pin[:8]}), got another; remove it")
        digest = pin
    else:
        digest = _retrieve(item, config, pin, progress)
    return Fetched(path, url, path.stat().st_size, digest, item.licence, cached)


def _retrieve(item: Item, config: FetchConfig, pin: str | None, progress: Progress) -> str:
    """The checksum of the file, which gets its name once it is whole, of its kind, and the one pinned."""
    url, part = item.url(config.home), PartialFile(config.folder / f".{item.name}.part")
    part.check()
    with writing(config.folder):
        with ExitStack() as shown:
            ticks: list[Tick] = []

            def progressed(size: int, total: int) -> None:
                if not ticks:  # the total is known from the server's response only
                    stage = progress.stage(item.name, total, BYTES, first=size)
                    ticks.append(shown.enter_context(stage))
                ticks[0](size)

            shown.enter_context(progress.stage(f"{item.name} (connecting)", 0))
            download(url, part, config.retries, progressed)
        try:
            check_content(part.path, item.name, item.kind)
            found = checksum(part.path)
            if pin and found != pin:
                raise BadFile(
                    f"{url}: expected the checksum {pin[:8]} in {config.folder / SUMS}, got another; "
                    "if the published file has changed, remove the line"
                )
        except BadFile:
            part.remove()
            raise
        if not pin:  # first: a file without a pin is one that muse did not download
            pins = {**read_pins(config.folder), item.name: found}
            with replaced(config.folder / SUMS) as stream:
                stream.write("".join(f"{pins[key]}  {key}\n" for key in sorted(pins)).encode())
        part.path.replace(config.folder / item.name)
        part.remove()
    return found
