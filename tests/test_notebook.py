"""The notebook of the documentation: it is one, and its cells show what it has as their output."""

import ast
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support import notebooks
from tests.support.pages import agree

NOTEBOOK = ROOT / "docs" / "pages" / "quickstart.ipynb"


def test_it_is_a_notebook() -> None:
    found = notebooks.read(NOTEBOOK)
    assert (found["nbformat"], found["nbformat_minor"]) >= (4, 5)
    assert found["metadata"]["kernelspec"].keys() == {"display_name", "language", "name"}
    cells = found["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell.keys() == {"id", "cell_type", "metadata", "source"} | code
        assert cell["cell_type"] in ("markdown", "code") and "".join(cell["source"]).strip()
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum("muse.align(" in source for source in sources) == 1  # it aligns once
    assert all(ast.parse(source) for source in sources)


def test_its_cells_show_what_it_has(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    folder = tmp_path / "checkout"
    shutil.copytree(checkout, folder, symlinks=True)
    for cell, text in notebooks.run(notebooks.read(NOTEBOOK), folder):
        agree(text, notebooks.shown(cell))
