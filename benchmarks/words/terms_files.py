"""Do the files of a glossary open in the programs that they are for? Each is given to its own reader.

    python -m benchmarks.words.terms_files FOLDER [--schema TBXcoreStructV03_TBX-Basic_integrated.rng]

The folder has what `muse terms` wrote: terms.xlsx, terms.tbx, terms.martif, terms.txt and terms.anki.txt.
Readers are openpyxl, the Translate Toolkit (TBX and OmegaT's glossaries), lxml with the RelaxNG schema of
TBX-Basic by LTAC Global, and Anki's own importer, each if it is installed; they need not be in the
environment of muse, which this does not import.
"""

import argparse
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any


def sheet(path: Path) -> tuple[int, str]:
    """Rows of a workbook, and the first."""
    rows = list(import_module("openpyxl").load_workbook(path).active.iter_rows(values_only=True))
    return len(rows) - 1, str(rows[1][:4])


def termbase(path: Path) -> tuple[int, str]:
    """Units of TBX, and the first."""
    units = import_module("translate.storage.tbx").tbxfile.parsefile(str(path)).units
    return len(units), f"{units[0].source} = {units[0].target}"


def glossary(path: Path) -> tuple[int, str]:
    """Lines of OmegaT's glossary, and the first."""
    units = import_module("translate.storage.omegat").OmegaTFile.parsefile(str(path)).units
    return len(units), f"{units[0].source} = {units[0].target}"


def notes(path: Path) -> tuple[int, str]:
    """Notes that Anki imports, and the first."""
    collection: Any = import_module("anki.collection")
    messages: Any = import_module("anki.import_export_pb2")
    with tempfile.TemporaryDirectory() as folder:
        made = collection.Collection(f"{folder}/c.anki2")
        model = made.models.by_name("Basic")
        for name in ("Example", "Example of the translation"):
            made.models.add_field(model, made.models.new_field(name))
        made.models.update_dict(model)
        metadata = made.get_csv_metadata(str(path), None)
        metadata.global_notetype.id = model["id"]
        metadata.global_notetype.field_columns[:] = [1, 2, 3, 4]
        made.import_csv(messages.ImportCsvRequest(path=str(path), metadata=metadata))
        found = made.find_notes("")
        return len(found), f"{made.get_note(found[0]).fields[:2]}, tags {made.tags.all()}"


def schema(path: Path, rules: Path) -> tuple[int, str]:
    """Concepts of TBX, and what the schema says."""
    etree: Any = import_module("lxml.etree")
    document = etree.parse(str(path))
    checked = etree.RelaxNG(etree.parse(str(rules)))
    said = "valid" if checked.validate(document) else str(checked.error_log.last_error)
    return len(document.findall(".//{*}conceptEntry")), said


def readers(given: argparse.Namespace) -> Iterator[tuple[str, str, Any, tuple[Path, ...]]]:
    """Yields what each file is, the package that reads it, how, and the files."""
    folder = given.folder
    yield "XLSX", "openpyxl", sheet, (folder / "terms.xlsx",)
    yield "TBX of 2008", "translate-toolkit", termbase, (folder / "terms.martif",)
    yield "OmegaT", "translate-toolkit", glossary, (folder / "terms.txt",)
    yield "Anki", "anki", notes, (folder / "terms.anki.txt",)
    if given.schema is not None:
        yield "TBX-Basic", "lxml", schema, (folder / "terms.tbx", given.schema)


def main() -> None:
    """Print what each reader found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--schema", type=Path)
    print("| file | reader | entries | the first |\n| --- | --- | --- | --- |")
    for name, package, read, files in readers(parser.parse_args()):
        try:
            count, first = read(*files)
        except (ImportError, OSError):
            count, first = 0, "not installed, or no such file"
        print(f"| {name} | {package} {version(package) if count else ''} | {count:,} | {first} |")


if __name__ == "__main__":
    main()
