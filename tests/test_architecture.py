"""The architecture: layers by folder, one user for each dependency, and the rules every module keeps."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from muse.optional import PACKAGES

PACKAGE = Path(__file__).resolve().parents[1] / "muse"

# Lowest first. A module imports from its own package and from lower layers; packages of one layer import
# one another only where they are the core types.
LAYERS = (
    {"errors", "installation", "languages", "orthography"},
    {"optional"},
    {"progress", "options"},
    {"vectors", "held_vectors", "lexicon", "alignment"},
    {"files"},
    {"run"},
    {"normalise", "procrustes"},
    {"search", "text"},
    {"learn"},
    {"space"},
    {"ranking"},
    {"translate", "export", "exchange", "evaluation"},
    {"api"},
    {"commands"},
    {one.name for one in PACKAGES},
    {"cli"},
    {"__init__", "__main__"},
)
CORE_TYPES = {"vectors", "held_vectors", "lexicon", "alignment"}
# Optional packages import the core, and of one another what this says; the core imports none of them.
OPTIONAL_IMPORTS = {
    "web": {"report"},
    "sentences": {"cluster"},
    "links": {"cluster"},
    "terms": {"embedding", "examples"},
}
# The disk is the border: of what stands above learning, only these see it.
SEE_LEARNING = {"learn", "api", "commands"}

ONLY_USERS = {
    "click": {
        "cli",
        "commands",
        *(f"{name}.command" for name in ("cluster", "examples", "fetch", "terms")),
        *(f"{name}.commands" for name in ("links", "sentences")),
    },
    "faiss": {"learn.initialise.clusters", "report.word_map", "search.approximate", "search.exact"},
    "fastapi": {"web"},
    "fasttext": {"embedding.fasttext_process", "files.vectors.fasttext"},
    "filelock": {"files.atomic"},
    "gensim": {"exchange"},
    "icu4py": {"text.segmentation"},
    "jinja2": {"report.page"},
    "lxml": {"dictionary_formats.xml_files"},
    "openpyxl": {"files.tables"},
    "onnx": {"export.map_file"},
    "pandas": {"exchange"},
    "pyarrow": {"files.parquet", "cluster.parts"},
    "py3langid": {"embedding.training"},
    "pydantic": {"web.responses"},
    "rapidfuzz": {"ranking.spelling"},
    "ray": {"cluster.run"},
    "requests": {"fetch.download"},
    "sacrebleu": {"evaluation.translation"},
    "sacremoses": {"text.tokens"},
    "safetensors": {
        "export.map_file",
        "export.static_embedding",
        "files.vectors.arrays",
    },
    "scipy": {
        "procrustes",
        "learn.initialise.clusters",
        "learn.verdict",
        "links.similarity",
        "ranking.oov",
        "ranking.probability",
        "ranking.spelling",
        "space.inflections",
        "terms",
        "evaluation",
        "sentences.evaluation.transfer",
    },
    "simplemma": {"ranking.headwords"},
    "sklearn": {
        "sentences.encoders.encoder",
        "sentences.evaluation.classifier",
        "exchange.space_transformer",
    },
    "spacy": {"export.spacy_folder", "files.vectors.spacy"},
    "sqlite3": {"examples.index"},
    "srsly": {"files.vectors.spacy"},
    "threadpoolctl": {"search.exact"},
    "tokenizers": {"export.static_embedding", "files.tokenizer_trial", "sentences.systems.pieces"},
    "transformers": {"files.tokenizer_trial", "sentences.systems.backbone"},
    "uvicorn": {"web.app"},
    "xgboost": {"ranking.trees"},
}
GLOBAL_RANDOMNESS = ("np.random.seed", "np.random.rand(", "torch.manual_seed", "random.seed")


def modules() -> dict[str, Path]:
    """Every module by its name below muse, such as files.text; a package is named after itself."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of every module; parsed when first asked for, as other tests need the names alone."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


@cache
def imported(tree: ast.AST) -> frozenset[str]:
    """The full name of everything that a file imports, wherever in the file."""
    return frozenset(_imported(tree))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: import by the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "library":
            yield str(getattr(node.args[0], "value", ""))


@cache
def ours(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for name in imported(tree):
        first, *parts = name.split(".")
        if first == "muse":
            while parts and ".".join(parts) not in MODULES:
                parts.pop()
            names.add(".".join(parts) or "__init__")
    return names


def package(module: str) -> str:
    """The entry of LAYERS that a module belongs to: files for files.text."""
    return module.split(".")[0]


def edges() -> list[tuple[str, str]]:
    """Every import of one of our packages by a module of another."""
    found = [(name, other) for name, tree in trees().items() for other in ours(tree)]
    return [(name, other) for name, other in found if package(name) != package(other)]


def layer(module: str) -> int:
    homes = [number for number, names in enumerate(LAYERS) if package(module) in names]
    assert len(homes) == 1, f"give muse/{package(module)} one layer in LAYERS"
    return homes[0]


def test_every_module_has_a_layer_and_every_layer_its_modules() -> None:
    assert {package(module) for module in MODULES} == set().union(*LAYERS)


def test_contributors_are_told_where_everything_is() -> None:
    told = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = told.partition("## Where things are")[2].partition("\n## ")[0]
    named = {name.rstrip("/") for name in re.findall(r"`([a-z/_]+)`", table)}
    assert {package(module) for module in MODULES} - {"__init__", "__main__"} <= named
    paths = [PACKAGE / name for name in re.findall(r"`([a-z_]+/[a-z_]+\.py)`", table)]
    assert paths and all(path.is_file() for path in paths)


def test_imports_point_down() -> None:
    upward = [
        (name, other)
        for name, other in edges()
        if layer(other) >= layer(name)
        and not {package(name), package(other)} <= CORE_TYPES
        and package(other) not in OPTIONAL_IMPORTS.get(package(name), ())
    ]
    assert not upward


def test_the_core_imports_no_optional_package() -> None:
    optional = {one.name for one in PACKAGES}
    assert not [
        (name, other)
        for name, other in edges()
        if package(other) in optional and package(name) not in {*optional, "__init__"}
    ]


def test_of_an_optional_package_only_its_commands_know_the_command_line() -> None:
    assert not [
        (name, other)
        for name, other in edges()
        if package(other) == "commands" and not {"command", "commands", "cli"} & set(name.split("."))
    ]


def test_modules_import_one_another_in_no_circle() -> None:
    list(TopologicalSorter({name: ours(tree) - {name} for name, tree in trees().items()}).static_order())


def test_learning_and_those_who_use_a_space_meet_on_disk_alone() -> None:
    assert not [
        (name, other)
        for name, other in edges()
        if package(other) == "learn" and package(name) not in SEE_LEARNING
    ]


def test_each_dependency_is_imported_where_the_table_says_and_nowhere_else() -> None:
    for dependency, users in ONLY_USERS.items():
        found = {
            name
            for name, tree in trees().items()
            if dependency in {full.split(".")[0] for full in imported(tree)}
        }
        assert {_home(name, users) for name in found} == users, dependency


def _home(name: str, users: set[str]) -> str:
    """The entry of a table that a module belongs to, itself or a package around it; else its package."""
    parts = name.split(".")
    around = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((one for one in around if one in users), parts[0])


def test_only_the_command_line_prints() -> None:
    assert not [
        (name, node.lineno)
        for name, tree in trees().items()
        if not {"cli", "commands", "command"} & set(name.split("."))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


def test_no_module_hides_one_of_the_standard_library() -> None:
    assert not [name for name in MODULES if name.split(".")[-1] in {"utils", "select", "types", "random"}]


def test_imports_of_ours_stand_at_the_top() -> None:
    # An import inside a function hides a cycle; only the command line may, to start quickly.
    assert not [
        (name, node.lineno)
        for name, tree in trees().items()
        if not {"cli", "commands", "command", "__init__", "__main__"} & set(name.split("."))
        for top in tree.body
        if not (isinstance(top, ast.If) and ast.unparse(top.test) == "TYPE_CHECKING")
        for node in ast.walk(top)
        if node is not top and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("muse.")
    ]


def test_scipy_is_imported_whole() -> None:
    # `import scipy` imports its parts at their first use: all together they take as long as torch.
    assert not [
        (name, node.lineno)
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(one.name.startswith("scipy.") for one in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy"))
    ]


def test_no_global_randomness() -> None:
    assert not [
        (name, call)
        for name, path in MODULES.items()
        for call in GLOBAL_RANDOMNESS
        if call in path.read_text(encoding="utf-8")
    ]


def test_no_class_name_stands_for_two_things() -> None:
    homes: dict[str, list[str]] = {}
    for name, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert not {name: found for name, found in homes.items() if len(found) > 1}
