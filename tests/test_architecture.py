"""The house (design.md, section 10): which module may import which, as a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "muse"
LONGEST_FILE = 300

# From the ground up: a module imports from lower layers, and from its own where the table below says so.
LAYERS = {
    "ground": ["errors", "version", "memory", "progress", "history"],
    "nouns": ["vectors", "lexicon", "alignment", "language_model", "tokens"],
    "disk": ["files", "checkpoint"],
    "mathematics": [
        "normalise",
        "neighbours",
        "retrieval",
        "pair_score",
        "procrustes",
        "criterion",
        "probability",
        "calibration",
        "processes",
        "runtime",
        "networks",
        "kneser_ney",
        "subwords",
        "units",
        "lookup_table",
    ],
    "learning": [
        "initialise",
        "refine",
        "reweight",
        "verdict",
        "auto",
        "align",
        "joint",
        "align_many",
    ],
    "space": ["space_saving", "space_adding", "space", "new_words"],
    "consumers": ["induce", "translate", "export", "evaluation", "sentences", "picture", "exchange"],
    "doors": [
        "request",
        "outcome",
        "api",
        "commands",
        "cli",
        "__init__",
        "__main__",
        "report",
        "fetch",
        "web",
        "doctor",
    ],
}

# What each module imports of ours, whole: a new edge is a decision, and is taken here.
MAY_IMPORT = {
    "errors": [],
    "version": [],
    "memory": [],
    "progress": [],
    "history": [],
    "vectors": ["errors"],
    "lexicon": ["errors"],
    "alignment": ["vectors"],
    "language_model": ["errors"],
    "tokens": [],
    "files": ["errors", "version", "progress", "vectors", "lexicon", "language_model"],
    "checkpoint": ["errors", "files"],
    "normalise": ["errors", "vectors"],
    "neighbours": ["errors"],
    "retrieval": ["errors", "neighbours"],
    "pair_score": ["errors", "retrieval"],
    "procrustes": [],
    "kneser_ney": ["errors", "language_model"],
    "criterion": ["vectors", "retrieval"],
    "probability": ["errors", "procrustes", "retrieval"],
    "calibration": ["errors", "neighbours", "probability", "procrustes", "retrieval"],
    "processes": ["errors"],
    "runtime": ["checkpoint", "errors", "processes", "progress"],
    "refine": ["errors", "vectors", "alignment", "procrustes", "retrieval", "neighbours", "runtime"],
    "reweight": ["vectors", "alignment", "procrustes", "retrieval", "runtime"],
    "verdict": [
        "errors",
        "vectors",
        "alignment",
        "procrustes",
        "retrieval",
        "neighbours",
        "refine",
        "runtime",
    ],
    "initialise": [
        "errors",
        "vectors",
        "lexicon",
        "alignment",
        "normalise",
        "procrustes",
        "retrieval",
        "criterion",
        "runtime",
    ],
    "auto": [
        "errors",
        "vectors",
        "lexicon",
        "alignment",
        "criterion",
        "history",
        "runtime",
        "initialise",
        "refine",
        "verdict",
    ],
    "align": [
        "errors",
        "history",
        "memory",
        "vectors",
        "alignment",
        "normalise",
        "criterion",
        "runtime",
        "refine",
        "reweight",
        "verdict",
        "auto",
    ],
    "joint": ["vectors", "procrustes", "retrieval", "runtime", "refine", "reweight"],
    "align_many": ["errors", "vectors", "criterion", "runtime", "verdict", "align", "joint"],
    "space_saving": ["errors", "progress", "vectors", "alignment", "files", "normalise", "retrieval"],
    "space_adding": ["errors", "progress", "files", "space_saving"],
    "space": [
        "errors",
        "progress",
        "vectors",
        "files",
        "normalise",
        "retrieval",
        "space_adding",
        "space_saving",
    ],
    "networks": ["errors"],
    "units": [],
    "lookup_table": ["errors", "units", "normalise", "vectors"],
    "subwords": ["errors", "progress", "vectors", "normalise"],
    "new_words": ["errors", "progress", "subwords", "vectors", "files", "normalise", "space"],
    "translate": [
        "errors",
        "version",
        "vectors",
        "neighbours",
        "retrieval",
        "space",
        "language_model",
        "tokens",
        "new_words",
    ],
    "induce": ["errors", "progress", "lexicon", "neighbours", "retrieval", "calibration", "space"],
    "export": [
        "errors",
        "progress",
        "vectors",
        "files",
        "normalise",
        "neighbours",
        "probability",
        "retrieval",
        "space",
        "lookup_table",
    ],
    "evaluation": [
        "errors",
        "version",
        "progress",
        "vectors",
        "lexicon",
        "tokens",
        "neighbours",
        "retrieval",
        "pair_score",
        "space",
    ],
    "sentences": [
        "errors",
        "version",
        "progress",
        "vectors",
        "tokens",
        "files",
        "neighbours",
        "pair_score",
        "procrustes",
        "checkpoint",
        "processes",
        "runtime",
        "networks",
        "new_words",
        "space",
        "lookup_table",
        "normalise",
    ],
    "picture": ["errors", "retrieval", "space"],
    "exchange": ["errors", "vectors", "lexicon"],
}

# The one user of a dependency, and where else its thread count is set.
ONLY_USERS = {
    "faiss": {"neighbours", "commands.options", "doctor"},
    "fasttext": {"files.fasttext_model"},
    "sacremoses": {"tokens"},
    "sacrebleu": {"translate.quality"},
    "sklearn": {"evaluation.classifier", "picture", "sentences.encoder"},
    "matplotlib": {"report.figures", "report.labels"},
    "jinja2": {"report.page"},
    "gensim": {"exchange.keyed_vectors"},
    "pandas": {"exchange.frames"},
    "transformers": {"sentences.hugging_face"},
    "tokenizers": {"export.static_embedding", "sentences.pieces"},
    "safetensors": {"export.static_embedding", "sentences.hugging_face"},
    "pooch": {"fetch.published"},
    "requests": {"fetch.download", "fetch.published"},
    "fastapi": {"web.app", "web.routes", "web.server"},
    "pydantic": {"web.answers"},
    "uvicorn": {"web.server"},
    "scipy": {"procrustes", "calibration", "evaluation"},
    "pyarrow": {"files.parquet", "files.vectors_parquet"},
    "click": {"cli", "commands"},
}
LEARNING = set(LAYERS["learning"])
CONSUMERS = {*LAYERS["consumers"], *LAYERS["space"]}


def modules() -> dict[str, Path]:
    """Every module of ours by its name below muse: files.text, align; a package is named after itself."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The full name of everything that a file imports, wherever in the file."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: import by the full name"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def ours(path: Path) -> set[str]:
    """The modules of muse that a file imports."""
    names = set()
    for name in imported(path):
        if name.split(".")[0] == "muse":
            parts = name.split(".")[1:]
            while parts and ".".join(parts) not in MODULES:
                parts.pop()
            names.add(".".join(parts) or "__init__")
    return names


def house(module: str) -> str:
    """The entry of the tables that a module belongs to: files for files.text."""
    return module.split(".")[0]


def layer(module: str) -> int:
    homes = [number for number, names in enumerate(LAYERS.values()) if house(module) in names]
    assert len(homes) == 1, f"give muse/{house(module)} a layer in tests/test_architecture.py"
    return homes[0]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module: str) -> None:
    for other in ours(MODULES[module]):
        assert house(other) == house(module) or layer(other) <= layer(module), f"{module} imports {other}"


@pytest.mark.parametrize("module", [module for module in MODULES if house(module) in MAY_IMPORT])
def test_imports_are_those_of_the_table(module: str) -> None:
    houses = {house(other) for other in ours(MODULES[module])} - {house(module)}
    assert houses <= set(MAY_IMPORT[house(module)])


def test_every_module_below_the_doors_is_in_the_table() -> None:
    doors = LAYERS["doors"]
    assert {house(module) for module in MODULES} - set(doors) <= set(MAY_IMPORT)


def test_the_table_has_no_cycle_nor_do_the_modules() -> None:
    list(TopologicalSorter(MAY_IMPORT).static_order())
    list(TopologicalSorter({name: ours(path) - {name} for name, path in MODULES.items()}).static_order())


@pytest.mark.parametrize("module", MODULES)
def test_learning_and_consumers_meet_on_disk_alone(module: str) -> None:
    houses = {house(other) for other in ours(MODULES[module])}
    if house(module) in LEARNING:
        assert not houses & CONSUMERS
    if house(module) in CONSUMERS:
        assert not houses & LEARNING


def test_consumers_of_a_space_are_strangers_to_one_another() -> None:
    consumers = set(LAYERS["consumers"])
    for module, path in MODULES.items():
        if house(module) in consumers:
            assert not ({house(other) for other in ours(path)} & consumers) - {house(module)}, module


@pytest.mark.parametrize("package", ONLY_USERS)
def test_a_dependency_has_one_user(package: str) -> None:
    users = {
        module
        for module, path in MODULES.items()
        if package in {name.split(".")[0] for name in imported(path)}
    }
    assert {user for user in users if house(user) not in ONLY_USERS[package]} <= ONLY_USERS[package]


@pytest.mark.parametrize("module", MODULES)
def test_files_are_short(module: str) -> None:
    assert len(MODULES[module].read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("module", [module for module in MODULES if house(module) not in ("cli", "commands")])
def test_only_the_command_line_prints(module: str) -> None:
    calls = [node for node in ast.walk(parsed(MODULES[module])) if isinstance(node, ast.Call)]
    assert not [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"]


@pytest.mark.parametrize("module", MODULES)
def test_no_module_hides_one_of_the_standard_library(module: str) -> None:
    assert module.split(".")[-1] not in {"utils", "select", "types", "random"}


@pytest.mark.parametrize(
    "module", [module for module in MODULES if house(module) not in ("cli", "commands", "__init__")]
)
def test_imports_of_ours_stand_at_the_top(module: str) -> None:
    # An import inside a function hides a cycle; only the command line may, to start quickly.
    tree = parsed(MODULES[module])
    inner = [node for top in tree.body for node in ast.walk(top) if node is not top]
    for node in inner:
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] != "muse", node.lineno


def test_no_global_randomness() -> None:
    for path in MODULES.values():
        text = path.read_text(encoding="utf-8")
        for call in ("np.random.seed", "np.random.rand(", "torch.manual_seed", "random.seed"):
            assert call not in text, f"{path}: {call}"
