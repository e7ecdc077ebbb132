"""muse fetch: download published vectors and dictionaries."""

import json
from pathlib import Path
from typing import Any, Literal

import click

from muse.commands.command import command
from muse.commands.completion import BY_METAVAR
from muse.commands.options import given
from muse.commands.outputs import echo
from muse.options import Common, option

# What can be downloaded, and where to.
FOLDERS = {"vectors": Path("embeddings", "raw"), "dictionary": Path("dictionaries", "gold")}
WHAT = "What it downloads"


class FetchOptions(Common):
    kind: str | None = option(None, argument=True, metavar="[KIND]")
    names: tuple[str, ...] = option((), argument=True, metavar="[LANG | SRC-TGT]...")
    source: Literal["cc", "wiki"] = option(
        "cc", section=WHAT, help="vectors: trained on Common Crawl and Wikipedia, or on Wikipedia alone."
    )
    part: Literal["full", "train", "test"] = option(
        "full", section=WHAT, help="dictionary: all words, the training words or the test words."
    )
    as_list: bool = option(
        False, section=WHAT, flags=("--list",), help="List what can be downloaded, without network access."
    )
    dry_run: bool = option(
        False, section=WHAT, help="Print what would be downloaded, without network access."
    )
    accept_non_commercial: bool = option(
        False, section=WHAT, help="Allow data with a non-commercial licence."
    )
    out: Path | None = option(
        None, section="Output", metavar="FOLDER", written=True,
        help="Folder for the files.  [default: embeddings/raw or dictionaries/gold]",
    )  # fmt: skip
    mirror: str | None = option(
        None, section="Advanced", metavar="URL", help="Download from a mirror of the paths that --list shows."
    )


@command("muse fetch vectors fr en", "muse fetch dictionary fr-en --part test --accept-non-commercial")
def fetch(options: FetchOptions) -> None:
    """Download published word vectors or dictionaries.

    Run the same command again to resume an interrupted download. No other command downloads anything.
    """
    from muse.fetch import published

    kind, names = options.kind, options.names
    if options.as_list:
        rows = published.listing()
        if options.as_json:
            echo(json.dumps({"sources": rows}, ensure_ascii=False))
        for row in () if options.as_json else rows:
            echo(f"{row['what']}: {row['about']}, {row['size']} a file, {row['licence']}\n  {row['url']}")
            echo(f"  {row['languages']}")
        return
    if kind not in FOLDERS or not names:
        got = " ".join(([] if kind is None else [kind]) + [*names]) or "nothing"
        raise click.UsageError(
            f"Say what to download, such as vectors fr en, or dictionary fr-en, got {got}; --list shows all."
        )
    for name, other in (("source", "vectors"), ("part", "dictionary")):
        if kind != other and given(name):
            raise click.UsageError(f"--{name} is for {other}, not for {kind}.")
    found = _files(options, kind)
    if options.as_json:
        echo(json.dumps({"files": found}, ensure_ascii=False))
        return
    for fields in found:
        echo("  ".join(str(fields[key]) for key in ("path", "size", "licence", "url") if key in fields))


def _files(options: FetchOptions, kind: str) -> list[dict[str, Any]]:
    """The fields of each file, which is downloaded unless --dry-run is given."""
    from muse.fetch import published
    from muse.progress import Progress

    config = published.FetchConfig(options.out or FOLDERS[kind], options.mirror or published.HOME)
    items = [
        published.vectors(name, options.source)
        if kind == "vectors"
        else published.dictionary(name, options.part)
        for name in dict.fromkeys(options.names)
    ]
    if options.dry_run:
        return [
            {"path": str(config.folder / one.name), "size": one.size, "licence": one.licence,
             "url": one.url(config.home)}
            for one in items
        ]  # fmt: skip
    for item in items:  # check all before downloading the first gigabyte
        item.check(non_commercial=options.accept_non_commercial)
    progress, found = Progress(quiet=options.quiet), []
    for number, item in enumerate(items, 1):
        own = progress.part(number, len(items)) if len(items) > 1 else progress
        one = published.fetch(item, config, own)
        size = f"{one.bytes / 1e6:.1f} MB" + (", already downloaded" if one.cached else "")
        found.append({**one.as_json(), "size": size})
    return found


def _published(context: click.Context, incomplete: str) -> list[str]:
    from muse.fetch.published import LANGUAGES, dictionary_pairs

    found = dictionary_pairs() if context.params.get("kind") == "dictionary" else LANGUAGES
    return [name for name in found if name.startswith(incomplete)]


BY_METAVAR |= {
    "[KIND]": lambda _, begun: [kind for kind in FOLDERS if kind.startswith(begun)],
    "[LANG | SRC-TGT]...": _published,
}  # what the shell completes
