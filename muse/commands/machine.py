"""Machine: what muse finds on this machine, and what each missing extra would add."""

from __future__ import annotations

import importlib.util
import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from muse.files.vectors.locate import search_path
from muse.installation import EXTRAS, install_extra
from muse.run.memory import peak_memory_mb
from muse.search.exact import installed_faiss
from muse.version import __version__

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "faiss-cpu",
    "faiss-gpu-cu12",
    "fasttext-community",
    "rapidfuzz",
    "sacremoses",
    "click",
)
# What each extra is for.
PURPOSES = {
    "embed": "muse embed: a warning of other languages in a text; texts in Parquet",
    "eval": "BLEU and chrF of muse translate; the classifier of muse evaluate",
    "exchange": "gensim, pandas and sentence-transformers: muse.exchange, muse export",
    "fetch": "muse fetch: published vectors and dictionaries",
    "gpu": "faiss on the GPU, as one of two ways to search there",
    "networks": "word pieces of the sentence encoders that muse train learns from text",
    "parquet": "Parquet: muse export, muse encode, and vectors to read",
    "ray": "more than one machine: muse encode, muse mine and muse induce with --ray",
    "report": "muse report: one page about a space",
    "segment": "the words of Chinese, Japanese, Thai, Khmer, Lao and Burmese, written without spaces",
    "spacy": "vectors of spaCy pipelines, to read and as muse export writes them",
    "tables": "Excel sheets and Parquet: muse translate --out, muse induce, dictionaries",
    "transformers": "a Hugging Face encoder as the core: muse train --core",
    "web": "muse serve: the explorer in the browser",
}


@dataclass(frozen=True)
class Extra:
    """An extra: what it is for, and those of its packages that are missing."""

    name: str
    purpose: str
    missing: tuple[str, ...]

    @property
    def advice(self) -> str:
        """The command that installs it; empty where it is there."""
        return install_extra(self.name) if self.missing else ""


def examine() -> dict[str, Any]:
    """Versions, processors, GPU, the kind of faiss, the folders searched for vectors, and memory."""
    return {
        "muse": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "processors": os.cpu_count(),
        "threads": {"torch": torch.get_num_threads(), "faiss": installed_faiss().threads},
        "gpu": _gpu(),
        "faiss": _faiss(),
        "vectors": {str(folder): _vectors(folder) for folder in search_path()},
        "peak_memory_mb": peak_memory_mb(),
    }


def extras() -> list[Extra]:
    """Every extra, with its missing packages."""
    found = []
    for name, packages in EXTRAS.items():
        missing = tuple(package for package in packages if not _installed(package))
        found.append(Extra(name, PURPOSES[name], missing))
    return found


def _installed(package: str) -> bool:
    if package == "faiss-gpu-cu12":
        return installed_faiss().gpu  # any build of faiss will do that searches on a GPU
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # ValueError: a module without a spec stands in for it
        return False


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _faiss() -> str:
    found = installed_faiss()
    return f"{found.version}, {'GPU' if found.gpu else 'CPU'}"


def _gpu() -> list[str]:
    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _vectors(folder: Path) -> int:
    # All files, of any kind: the question is whether there are none.
    return sum(path.is_file() for path in folder.iterdir()) if folder.is_dir() else 0
