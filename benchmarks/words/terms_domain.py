"""The terms of a field: `muse terms` on the two sides of a manual, which need not be parallel.

    python -m benchmarks.words.terms_domain SPACE --manual fr=FOLDER --manual en=FOLDER --out FILE.csv
        [--part halves] [--top 200]

A manual is a folder of HTML whose files have the same names in both languages, such as Debian's gimp-help-*
and libreoffice-help-*, unpacked by dpkg-deb -x. Of `halves`, the default, each language has the pages that
the other lacks, so that nothing is parallel; `whole` gives both all of them. Written are the first terms with
their first translations, to be judged by a person, and what they took.
"""

import csv
import resource
import subprocess
import sys
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.support.options import POSITIONAL, REPEATED, command_line

SKIPPED = {"script", "style", "head", "nav", "pre", "code", "kbd", "tt"}
BLOCKS = {
    "p", "li", "dt", "dd", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "div", "table", "ul", "br", "tr"
}  # fmt: skip


class Paragraphs(HTMLParser):
    """The paragraphs of a page, without its code."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found, self._parts, self._skipped = list[str](), list[str](), 0
        self.feed(page)
        self._end()

    def _end(self) -> None:
        if text := " ".join("".join(self._parts).split()):
            self.found.append(text)
        self._parts = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a paragraph, or what is left out."""
        self._skipped += tag in SKIPPED
        if tag in BLOCKS:
            self._end()

    def handle_endtag(self, tag: str) -> None:
        """End a paragraph, or what is left out."""
        self._skipped -= tag in SKIPPED and self._skipped > 0
        if tag in BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        """Add to the paragraph."""
        if not self._skipped:
            self._parts.append(data)


def write_text(manual: Path, out: Path, part: str, place: int) -> int:
    """Write the pages of a manual, each a file with a paragraph a line; the number of words.

    Of `halves`, the first language has the pages of one half, and the second the others, by their names.
    """
    words = 0
    for page in sorted(manual.rglob("*.html")):
        name = page.relative_to(manual)
        if part == "halves" and sha256(str(name).encode()).digest()[0] % 2 != place:
            continue
        lines = Paragraphs(page.read_text(encoding="utf-8", errors="replace")).found
        (out / f"{'.'.join(name.with_suffix('').parts)}.txt").write_text("\n".join(lines) + "\n")
        words += sum(len(line.split()) for line in lines)
    return words


def main() -> None:
    """Run muse terms on the texts of two manuals, and say what it took."""
    given = command_line(
        __doc__, space=POSITIONAL, manual=REPEATED, out=Path("terms.csv"), part="halves", top=200, keep=Path
    )  # fmt: skip
    manuals = dict(one.split("=", 1) for one in given.manual)
    with TemporaryDirectory() as made:
        folder, command = given.keep or Path(made), [sys.executable, "-m", "muse", "terms", str(given.space)]
        for place, (flag, (language, manual)) in enumerate(zip(("src", "tgt"), manuals.items(), strict=True)):
            (folder / language).mkdir(parents=True)
            words = write_text(Path(manual), folder / language, given.part, place)
            print(f"{language}: {words:,} words")
            command += [f"--{flag}", language, f"--{flag}-text", str(folder / language)]
        subprocess.run([*command, "--out", str(folder / "terms.csv")], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
        print(f"{seconds:.0f} seconds of the processor, {memory:.2f} GB")
        with (
            (folder / "terms.csv").open(newline="", encoding="utf-8-sig") as file,
            given.out.open("w", newline="") as out,
        ):
            rows = list(csv.DictReader(file))
            firsts = [row for row in rows if row["rank"] == "1"][: given.top]
            write = csv.writer(out)
            write.writerow(["term", "translation", "probability", "count", "translation_count", "right"])
            write.writerows(
                [
                    *(
                        row[name]
                        for name in ("term", "translation", "probability", "count", "translation_count")
                    ),
                    "",
                ]
                for row in firsts
            )


if __name__ == "__main__":
    main()
