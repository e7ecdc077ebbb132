"""muse fetch: download published vectors and dictionaries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muse.commands.options import common_without, given
from muse.commands.outputs import echo
from muse.commands.sections import SectionedCommand

if TYPE_CHECKING:
    from muse.fetch.published import FetchConfig, Item

# What can be downloaded, and where to.
FOLDERS = {"vectors": Path("embeddings", "raw"), "dictionary": Path("dictionaries", "gold")}


def _kinds(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return [kind for kind in FOLDERS if kind.startswith(incomplete)]


def _published(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from muse.fetch.published import LANGUAGES, dictionary_pairs

    found = dictionary_pairs() if context.params.get("kind") == "dictionary" else LANGUAGES
    return [name for name in found if name.startswith(incomplete)]


@click.command(
    cls=SectionedCommand,
    sections={
        "What it downloads": ("--source", "--part", "--list", "--dry-run", "--accept-non-commercial"),
        "Output": ("--out",),
        "Advanced": ("--mirror",),
    },
    examples=(
        "muse fetch vectors fr en",
        "muse fetch dictionary fr-en --part test --accept-non-commercial",
    ),
)
@click.argument("kind", shell_complete=_kinds, required=False)
@click.argument("names", nargs=-1, metavar="[LANG | SRC-TGT]...", shell_complete=_published)
@click.option(
    "--source", default="cc", show_default=True, type=click.Choice(["cc", "wiki"]),
    help="vectors: trained on Common Crawl and Wikipedia, or on Wikipedia alone.",
)  # fmt: skip
@click.option(
    "--part", default="full", show_default=True, type=click.Choice(["full", "train", "test"]),
    help="dictionary: all words, the training words or the test words.",
)  # fmt: skip
@click.option(
    "--out",
    "folder",
    type=Path,
    metavar="FOLDER",
    help="Folder for the files.  [default: embeddings/raw or dictionaries/gold]",
)
@click.option("--list", "as_list", is_flag=True, help="List what can be downloaded, without network access.")
@click.option("--dry-run", is_flag=True, help="Print what would be downloaded, without network access.")
@click.option("--mirror", metavar="URL", help="Download from a mirror of the paths that --list shows.")
@click.option("--accept-non-commercial", is_flag=True, help="Allow data with a non-commercial licence.")
@common_without("seed", "device", "threads")
def fetch(kind: str | None, names: tuple[str, ...], as_json: bool, quiet: bool, **options: Any) -> None:
    """Download published word vectors or dictionaries.

    Run the same command again to resume an interrupted download. No other command downloads anything.
    """
    if options["as_list"]:
        _list(as_json)
        return
    if kind not in FOLDERS or not names:
        got = " ".join(([] if kind is None else [kind]) + [*names]) or "nothing"
        raise click.UsageError(
            f"Say what to download, such as vectors fr en, or dictionary fr-en, got {got}; --list shows all."
        )
    for name, other in (("source", "vectors"), ("part", "dictionary")):
        if kind != other and given(name):
            raise click.UsageError(f"--{name} is for {other}, not for {kind}.")
    from muse.fetch.published import HOME, FetchConfig, check_item, require_fetch

    config = FetchConfig(
        options["folder"] or FOLDERS[kind], options["mirror"] or HOME, options["accept_non_commercial"]
    )
    items = [_item(kind, name, options) for name in dict.fromkeys(names)]
    if not options["dry_run"]:
        require_fetch()
        for item in items:  # check all before downloading the first gigabyte
            check_item(item, config)
    found = _dry(items, config) if options["dry_run"] else _fetched(items, config, quiet)
    if as_json:
        echo(json.dumps({"files": found}, ensure_ascii=False))
        return
    for one in found:
        echo("  ".join(str(one[key]) for key in ("path", "size", "licence", "url") if key in one))


def _item(kind: str, name: str, options: dict[str, Any]) -> Item:
    from muse.fetch.published import dictionary, vectors

    return vectors(name, options["source"]) if kind == "vectors" else dictionary(name, options["part"])


def _dry(items: list[Item], config: FetchConfig) -> list[dict[str, Any]]:
    return [
        {
            "path": str(config.folder / item.name), "size": item.size, "licence": item.licence,
            "url": item.url(config.home),
        }
        for item in items
    ]  # fmt: skip


def _fetched(items: list[Item], config: FetchConfig, quiet: bool) -> list[dict[str, Any]]:
    from muse.fetch.published import fetch as fetch_one
    from muse.progress import Progress

    found, progress = [], Progress(quiet=quiet)
    for number, item in enumerate(items, 1):
        own = progress.part(number, len(items)) if len(items) > 1 else progress
        one = fetch_one(item, config, own)
        size = f"{one.bytes / 1e6:.1f} MB" + (", already downloaded" if one.cached else "")
        found.append({**one.as_json(), "size": size})
    return found


def _list(as_json: bool) -> None:
    from muse.fetch.published import listing

    rows = listing()
    if as_json:
        echo(json.dumps({"sources": rows}, ensure_ascii=False))
        return
    for row in rows:
        echo(f"{row['what']}: {row['about']}, {row['size']} a file, {row['licence']}\n  {row['url']}")
        echo(f"  {row['languages']}")
