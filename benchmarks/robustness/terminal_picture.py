"""The recordings of a terminal of 80 columns, as SVG: muse align, train and fetch, each with an error.

    python -m benchmarks.robustness.terminal_picture [--out docs/pages/pictures]

The commands run in a temporary folder with the sample vectors, and fetch from a server of this script, which
interrupts the connection once. A picture has the line of progress at some moments, with the time since the
command was given, and the screen when it had ended.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import NamedTuple

from benchmarks.support.tables import ROOT
from benchmarks.support.terminal import Recording, record

COLUMNS = 80
MOMENTS = 8  # of the progress line in a picture
SAMPLE = ROOT / "embeddings" / "sample"
ACROSS, DOWN, MARGIN = 7.3, 17.0, 14.0  # pixels of a letter, of a row, and around
TIMES = 46.0  # pixels for the times, left of the terminal
STYLE = """
svg { --paper: #fff; --edge: #d1d5db; --ink: #1f2937; --faint: #4b5563; --wrong: #b42318; --moving: #1f5fa8;
  font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
@media (prefers-color-scheme: dark) { svg { --paper: #111827; --edge: #374151; --ink: #e5e7eb;
  --faint: #b4bcc8; --wrong: #f98f84; --moving: #7db3ee; } }
.paper { fill: var(--paper); stroke: var(--edge); } text { fill: var(--ink); white-space: pre; }
.faint, .time { fill: var(--faint); } .time { text-anchor: end; } .given { font-weight: 600; }
.wrong { fill: var(--wrong); } .moving { fill: var(--moving); }
"""


class Row(NamedTuple):
    """A row of a picture: its text, its class, and the time beside it."""

    text: str
    kind: str = ""
    time: str = ""


def rows(command: Sequence[str], recording: Recording) -> Iterator[Row]:
    """Yields the command, the progress line at some moments, and the last screen, in rows of COLUMNS."""
    given = f"$ {shlex.join(command)}"
    yield from (Row(part, "given") for part in wrapped(given))
    for seconds, line in moments(recording):
        yield Row(line, "moving", f"{int(seconds // 60)}:{int(seconds % 60):02}")
    took = recording.lines[-1][0]
    kind = ""
    for number, line in enumerate(recording.screen.text.splitlines()):
        ended = f"{int(took // 60)}:{int(took % 60):02}" if number == 0 else ""
        if number not in recording.screen.wrapped:
            kind = "wrong" if line.startswith("error: ") else ""
        yield Row(line, kind, ended)
    if recording.code:
        yield Row(f"exit code {recording.code}", "faint")


def moments(recording: Recording) -> list[tuple[float, str]]:
    """The progress line at moments of different stages, at even distances among those with figures."""
    left = set(recording.screen.text.splitlines())
    lines = [(seconds, line) for seconds, line in recording.lines if line and line not in left]
    last: dict[str, list[tuple[float, str]]] = {}
    for seconds, line in lines:
        last.setdefault(line.partition(":")[0], []).append((seconds, line))
    chosen = [found[len(found) // 2] for found in last.values()]  # the middle of each stage
    rest = sorted(set(lines) - set(chosen))
    more = max(0, MOMENTS - len(chosen))
    chosen += rest[:: max(1, -(-len(rest) // more))] if more and rest else []
    return sorted(chosen)[: 2 * MOMENTS]


def wrapped(text: str) -> list[str]:
    """The rows in which a terminal shows a text."""
    return [text[begin : begin + COLUMNS] for begin in range(0, len(text), COLUMNS)]


def picture(panels: Sequence[Sequence[Row]]) -> str:
    """The recordings below one another, as SVG."""
    width = TIMES + COLUMNS * ACROSS + 2 * MARGIN
    parts, top = [], 0.0
    for panel in panels:
        height = len(panel) * DOWN + 2 * MARGIN
        parts.append(
            f'<rect x="0.5" y="{top + 0.5:.1f}" width="{width - 1:.1f}" height="{height - 1:.1f}" '
            'rx="6" class="paper"/>'
        )
        for number, row in enumerate(panel):
            y = top + MARGIN + number * DOWN + 12
            parts += _drawn(row, y)
        top += height + MARGIN
    size = f'width="{width:.0f}" height="{top - MARGIN:.0f}"'
    box = f'viewBox="0 0 {width:.0f} {top - MARGIN:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img"><style>{STYLE}</style>'
    return "\n".join([head, *parts, "</svg>\n"])


def _drawn(row: Row, y: float) -> Iterator[str]:
    if row.time:
        yield f'<text x="{TIMES - 8:.1f}" y="{y:.1f}" class="time">{row.time}</text>'
    if row.text:
        # The length is given, so that columns stand below one another in any font.
        length = f'textLength="{len(row.text) * ACROSS:.1f}"'
        kind = f' class="{row.kind}"' if row.kind else ""
        yield f'<text x="{TIMES + MARGIN:.1f}" y="{y:.1f}" {length}{kind}>{escape(row.text)}</text>'


class _Publisher(BaseHTTPRequestHandler):
    """Sends the sample vectors at a few MB a second; the first connection breaks in the middle."""

    protocol_version = "HTTP/1.1"
    asked = 0

    def do_GET(self) -> None:
        body = (SAMPLE / "fr.vec.gz").read_bytes()
        if "cc.fr." not in self.path:
            self.send_error(404)
            return
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(wanted[1]) if wanted else 0
        self.send_response(206 if begin else 200)
        self.send_header("ETag", '"1"')
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        type(self).asked += 1
        end = len(body) if type(self).asked > 1 else len(body) // 2
        for place in range(begin, end, 1 << 17):
            self.wfile.write(body[place : min(place + (1 << 17), end)])
            time.sleep(0.06)
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


@contextmanager
def published() -> Iterator[str]:
    """The address of a server with the published files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Publisher)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def parallel_text() -> str:
    """Sentences with their translations, made of parts."""
    who = {"the king": "le roi", "the queen": "la reine", "a man": "un homme", "a woman": "une femme",
           "my father": "mon père", "her mother": "sa mère", "the child": "l'enfant",
           "his brother": "son frère", "the doctor": "le docteur", "a friend": "un ami"}  # fmt: skip
    does = {"sleeps": "dort", "comes": "vient", "speaks": "parle", "laughs": "rit", "sings": "chante",
            "waits": "attend", "reads": "lit", "cries": "pleure", "works": "travaille",
            "writes": "écrit"}  # fmt: skip
    where = {"in the house": "dans la maison", "in the garden": "dans le jardin",
             "in the street": "dans la rue", "in the room": "dans la chambre",
             "near the sea": "près de la mer", "in the city": "dans la ville",
             "at the window": "à la fenêtre"}  # fmt: skip
    when = {"at night": "la nuit", "today": "aujourd'hui", "every day": "chaque jour",
            "in summer": "en été", "in winter": "en hiver", "in the morning": "le matin"}  # fmt: skip
    found = product(who, does, where, when)
    return "".join(
        f"{a} {b} {c} {d}\t{who[a]} {does[b]} {where[c]} {when[d]}\n" for a, b, c, d in found
    )  # fmt: skip


def recorded(folder: Path) -> Iterator[tuple[str, list[Row]]]:
    """Yields the name of a picture and the rows of a recording in it; the folder becomes a checkout."""
    shutil.copytree(ROOT / "muse", folder / "muse")
    shutil.copytree(SAMPLE, folder / "embeddings" / "sample")
    (folder / "parallel.tsv").write_text(parallel_text(), encoding="utf-8")
    (folder / "french.txt").write_text("le roi dort\nla reine rit\n", encoding="utf-8")
    space = "embeddings/aligned/fr-en"
    train = f"train {space} --encoder x-cbow --lang fr --out encoder"
    with published() as home:
        for name, text in (
            ("align", "align --src fr --tgt en"),
            ("align", "align --src fr --tgt en --init similarity --max-vocab 1000 --out small"),
            ("align", "align --src fra --tgt en"),
            ("train", f"{train} --parallel parallel.tsv --epochs 8"),
            ("train", f"{train} --parallel french.txt"),
            ("fetch", f"fetch vectors fr --mirror {home}"),
            ("fetch", f"fetch vectors en --mirror {home}"),
        ):
            words = text.split()
            found = record([sys.executable, "-m", "muse", *words], COLUMNS, folder=folder)
            print(f"muse {text}: exit code {found.code}, {len(found.lines)} outputs", flush=True)
            yield name, list(rows(["muse", *words], found))


def main() -> None:
    """Records the commands and writes a picture for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/pages/pictures")
    out, panels = parser.parse_args().out, dict[str, list[list[Row]]]()
    with tempfile.TemporaryDirectory() as folder:
        for name, found in recorded(Path(folder)):
            panels.setdefault(name, []).append(found)
    for name, shown in panels.items():
        (out / f"terminal-{name}.svg").write_text(picture(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
