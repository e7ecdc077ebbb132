"""Doctor: what muse finds on this machine, and what each missing extra would add."""

from __future__ import annotations

import importlib.util
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import faiss
import torch

from muse.files.locate import search_path
from muse.run.memory import peak_memory_mb
from muse.version import __version__

PACKAGES = (
    "numpy",
    "scipy",
    "torch",
    "faiss-cpu",
    "faiss-gpu-cu12",
    "fasttext-community",
    "sacremoses",
    "click",
)
# The packages of each extra of setup.cfg, by import name, and what the extra is for.
EXTRAS: dict[str, tuple[tuple[str, ...], str]] = {
    "eval": (
        ("sacrebleu", "sklearn"),
        "BLEU and chrF of muse translate; the classifier of muse evaluate",
    ),
    "exchange": (
        ("gensim", "pandas", "safetensors", "tokenizers"),
        "gensim, pandas and sentence-transformers: muse.exchange, muse export",
    ),
    "fetch": (("pooch", "requests"), "muse fetch: published vectors and dictionaries"),
    "gpu": ((), "faiss on the GPU, as one of two search backends there"),
    "networks": (("tokenizers",), "word pieces of the sentence encoders that muse train learns from text"),
    "parquet": (("pyarrow",), "Parquet: muse export, muse encode, and reading vectors"),
    "sklearn": (("sklearn",), "sentence encoders as scikit-learn estimators"),
    "report": (("jinja2", "matplotlib", "sklearn"), "muse report: one page about a space"),
    "transformers": (("transformers",), "a Hugging Face encoder as the core: muse train --core"),
    "web": (("fastapi", "sklearn", "uvicorn"), "muse serve: the explorer in the browser"),
}


@dataclass(frozen=True)
class Extra:
    """An extra: what it is for, and which of its packages are missing."""

    name: str
    purpose: str
    missing: tuple[str, ...]

    @property
    def advice(self) -> str:
        """The command that installs it; empty if it is installed."""
        return f"pip install 'muse[{self.name}]'" if self.missing else ""


def examine() -> dict[str, Any]:
    """Versions, processors, GPU, the kind of faiss, the folders searched for vectors, and memory."""
    return {
        "muse": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "processors": os.cpu_count(),
        "threads": {"torch": torch.get_num_threads(), "faiss": faiss.omp_get_max_threads()},
        "gpu": _gpu(),
        "faiss": _faiss(),
        "vectors": {str(folder): _vectors(folder) for folder in search_path()},
        "peak_memory_mb": peak_memory_mb(),
    }


def extras() -> list[Extra]:
    """Every extra, with its missing packages."""
    found = []
    for name, (packages, purpose) in EXTRAS.items():
        missing = tuple(package for package in packages if not _installed(package))
        if name == "gpu" and not _has_gpu_faiss():
            missing = ("faiss-gpu-cu12",)
        found.append(Extra(name, purpose, missing))
    return found


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # ValueError: a module without a spec stands in for it
        return False


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _has_gpu_faiss() -> bool:
    return hasattr(faiss, "StandardGpuResources")


def _faiss() -> str:
    return f"{faiss.__version__}, {'GPU' if _has_gpu_faiss() else 'CPU'}"


def _gpu() -> list[str]:
    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _vectors(folder: Path) -> int:
    # All files, of any kind: the question is whether there are none.
    return sum(path.is_file() for path in folder.iterdir()) if folder.is_dir() else 0
