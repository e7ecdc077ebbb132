"""Notebooks as programs: their cells, run in order in a folder, without a server or a kernel.

`python -m tests.support.notebooks NOTEBOOK FOLDER` runs one in a folder, and keeps in it what its cells show.
"""

import ast
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """The notebook as JSON."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def run(notebook: dict[str, Any], folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields each cell of code with what it shows: the repr of its last expression, as plain text."""
    variables: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(folder)
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                yield cell, _shown("".join(cell["source"]), variables)
    finally:
        os.chdir(before)


def _shown(source: str, variables: dict[str, Any]) -> str:
    lines = ast.parse(source).body
    last = lines.pop() if lines and isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "a cell", "exec"), variables)  # noqa: S102 - our own notebooks
    if not isinstance(last, ast.Expr):
        return ""
    value = eval(compile(ast.Expression(last.value), "a cell", "eval"), variables)  # noqa: S307 - the same
    return "" if value is None else repr(value)


def shown(cell: dict[str, Any]) -> str:
    """What the notebook has as the output of a cell."""
    return "".join("".join(output["data"]["text/plain"]) for output in cell["outputs"])


def fill(path: Path, folder: Path) -> None:
    """Write what the cells of a notebook show, run in a folder, into it."""
    notebook = read(path)
    for number, (cell, text) in enumerate(run(notebook, folder), 1):
        result = {"data": {"text/plain": text.splitlines(keepends=True)}, "execution_count": number,
                  "metadata": {}, "output_type": "execute_result"}  # fmt: skip
        cell |= {"execution_count": number, "outputs": [result] if text else []}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    fill(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
