"""Installation: the version, under which name muse is installed, its extras, and commands that add these."""

import shlex
import shutil
import sys
from pathlib import Path

__version__ = "0.1.0"  # in one place: setup.cfg, signatures and manifests read it here
# The name of setup.cfg. Never plain `muse`: on PyPI that is another project's.
DISTRIBUTION = "muse-align"
PACKAGE = Path(__file__).resolve().parent
# What muse cannot do without, by the name it is imported under.
REQUIRED = {
    "click": "click",
    "faiss": "faiss-cpu",
    "fastapi": "fastapi",
    "fasttext": "fasttext-community",
    "filelock": "filelock",
    "jinja2": "jinja2",
    "lxml": "lxml",
    "numpy": "numpy",
    "rapidfuzz": "rapidfuzz",
    "requests": "requests",
    "sacrebleu": "sacrebleu",
    "sacremoses": "sacremoses",
    "sklearn": "scikit-learn",
    "scipy": "scipy",
    "starlette": "starlette",
    "threadpoolctl": "threadpoolctl",
    "torch": "torch",
    "uvicorn": "uvicorn",
    "xgboost": "xgboost" if sys.platform == "darwin" else "xgboost-cpu",
}
# What each extra of setup.cfg installs beside muse.
EXTRAS: dict[str, tuple[str, ...]] = {
    "embed": ("py3langid", "pyarrow"),
    "eval": ("sacrebleu",),
    "exchange": ("gensim", "onnx", "pandas", "safetensors", "tokenizers"),
    "gpu": ("faiss-gpu",),
    "lemmas": ("simplemma",),
    "networks": ("tokenizers",),
    "parquet": ("pyarrow",),
    "ray": ("pyarrow", "ray"),
    "segment": ("icu4py",),
    "spacy": ("spacy",),
    "tables": ("openpyxl", "pyarrow"),
    "transformers": ("sentence-transformers", "transformers"),
    "web": ("fastapi", "starlette", "uvicorn"),
}


def install_extra(extra: str, package: Path = PACKAGE) -> str:
    """The command that installs what `extra` needs, for the way in which the running muse is installed.

    From a checkout: the checkout with the extra, at the versions it is tested with. From a wheel: the
    distribution with the extra. From a folder without either: the packages alone.
    """
    if _checkout(package):
        folder = "." if package.parent == Path.cwd() else str(package.parent)
        return install_packages("-e", f"{folder}[{extra}]", package=package)
    from importlib.metadata import PackageNotFoundError, distribution  # slow to load

    try:
        installed = Path(str(distribution(DISTRIBUTION).locate_file(package.name))).resolve()
    except PackageNotFoundError:
        installed = None
    needed = (f"{DISTRIBUTION}[{extra}]",) if installed == package else EXTRAS[extra]
    return install_packages(*needed, package=package)


def _checkout(package: Path) -> bool:
    # Editable or on PYTHONPATH: what runs is the checkout that this file lies in, whatever else is installed.
    return (package.parent / "setup.cfg").is_file() and (package.parent / "pyproject.toml").is_file()


def install_packages(*names: str, package: Path = PACKAGE) -> str:
    """The command that installs these packages beside the running muse."""
    # Plain pip only where that is the pip of the Python that runs muse, and not of another.
    pip, constraints = shutil.which("pip"), package.parent / "constraints.txt"
    own = pip is not None and Path(pip).parent == Path(sys.executable).parent
    installer = "pip" if own else f"{shlex.quote(sys.executable)} -m pip"
    pinned: list[str] = []
    if _checkout(package) and constraints.is_file():
        pinned = ["-c", constraints.name if package.parent == Path.cwd() else str(constraints)]
    return " ".join([installer, "install", *map(shlex.quote, [*pinned, *names])])
