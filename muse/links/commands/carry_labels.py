"""muse carry-labels: labels of sentences carried over to their translations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from muse.commands.command import command
from muse.commands.options import open_space
from muse.commands.outputs import Report, echo
from muse.links.commands.link import LinkingOptions, link_config, linked
from muse.options import Common, OneSpace, option

if TYPE_CHECKING:
    from muse.space import Space


class CarryOptions(OneSpace, LinkingOptions, Common):
    form: Literal["tags", "bio", "jsonl"] = option(
        "tags", section="Input", flags=("--format",),
        help="How the sentences in --src are labelled. tags: <b>..</b>; bio: a line a word, its label in the "
        "last column; jsonl: {\"text\": .., \"labels\": [[begin, end, label]]}. --out has the same.",
    )  # fmt: skip
    out: Path | None = option(None, section="Output", written=True, help="File to write.  [default: stdout]")


@command(
    "muse carry-labels SPACE --source a.fr --target a.en --out labelled.en",
    "muse carry-labels SPACE --source a.conll --target a.en --format bio --out en.conll",
)
def carry_labels(options: CarryOptions) -> Report | None:
    """Carry labels, entities and tags over to translations.

    The sentences in --src are labelled, and their words are linked with those of --tgt, as by muse link. The
    counterpart of a labelled span is the smallest span with all words that are linked with its words.
    """
    from muse.files.writing import replaced

    if options.form == "bio" and options.source is None:
        raise click.UsageError("--format bio needs --source, a line a word, and --target, a line a sentence.")
    space, lines = open_space(options.space, options.device, options.quiet), list[str]()
    if options.out is None:
        counts = _write(space, options, lines.append if options.as_json else echo)
        return ({**counts, "lines": lines}, []) if options.as_json else None
    with replaced(options.out) as stream:
        counts = _write(space, options, lambda line: stream.write(f"{line}\n".encode()))
    shown = "{carried} of {labels} labels carried over, in {out}"
    fields = {**counts, "out": str(options.out)}
    return fields, [shown.format(**fields)]


def _write(space: Space, options: CarryOptions, write: Callable[[str], object]) -> dict[str, int]:
    """The counts of sentences and labels, whose lines are written as they come."""
    from muse.links.labels import FORMS
    from muse.links.pair import LinkedPair

    form, counts, config = FORMS[options.form], Counter[str](), link_config(options)
    for one, two, links in linked(space, options, config, labelled=form):
        pair = LinkedPair.of((one.text, two.text), (one.written, two.written), links, ("", ""))
        found = pair.carry(one.spans, 0)  # its links are those to be kept
        carried = sum(span is not None for span in found)
        counts.update(sentences=1, labels=len(found), carried=carried, unlinked=len(found) - carried)
        write(form.write(two.text, pair.places[1], one.spans, found))
    return {name: counts[name] for name in ("sentences", "labels", "carried", "unlinked")}
