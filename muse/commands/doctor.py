"""muse doctor: what is installed on this machine, and what each missing extra would add."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from muse.commands.command import command
from muse.commands.outputs import echo
from muse.installation import EXTRAS, __version__, install_extra
from muse.options import Common, Threads

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "faiss-cpu",
    "faiss-gpu",
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
    "gpu": "faiss on the GPU, as one of two ways to search there",
    "networks": "word pieces of the sentence encoders that muse train learns from text",
    "parquet": "Parquet: muse export, muse encode, and vectors to read",
    "ray": "more than one machine: muse encode, muse mine and muse induce with --ray",
    "segment": "the words of Chinese, Japanese, Thai, Khmer, Lao and Burmese, written without spaces",
    "spacy": "vectors of spaCy pipelines, to read and as muse export writes them",
    "tables": "Excel sheets and Parquet: muse translate --out, muse induce, dictionaries",
    "transformers": "a Hugging Face encoder as the backbone: muse train --backbone",
    "web": "muse serve: the explorer in the browser",
}


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Common, Threads):
    """The options of `muse doctor`."""


@command(DoctorOptions, examples=("muse doctor", "muse doctor --json"))
def doctor(options: DoctorOptions) -> None:
    """Print what is installed and what is missing.

    This covers versions, threads, the GPU, the faiss build, and what each optional extra is for.
    """
    found, known = examine(), extras()
    if options.as_json:
        shown = [{**asdict(one), "missing": list(one.missing), "advice": one.advice} for one in known]
        echo(json.dumps({**found, "extras": shown}, ensure_ascii=False))
        return
    packages = ", ".join(f"{name} {version}" for name, version in found["packages"].items())
    threads = ", ".join(f"{name} {count}" for name, count in found["threads"].items())
    folders = ", ".join(f"{folder} ({count} files)" for folder, count in found["vectors"].items())
    for name, text in (
        ("muse", f"{found['muse']}, Python {found['python']}, {found['system']}"),
        ("packages", packages),
        ("threads", f"{threads}, of {found['processors']} processors"),
        ("GPU", ", ".join(found["gpu"]) or "none found by torch"),
        ("faiss", found["faiss"]),
        ("vectors", f"looked for in {folders}"),
    ):
        echo(f"{name:12}  {text}")
    for one in known:
        state = f"missing {', '.join(one.missing)}: {one.advice}" if one.missing else "installed"
        echo(f"{one.name:12}  {state} ({one.purpose})")


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
    import torch

    from muse.files.vectors.locate import search_path
    from muse.run.memory import peak_memory_mb
    from muse.search.exact import installed_faiss

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
    from muse.search.exact import installed_faiss

    if package == "faiss-gpu":
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
    from muse.search.exact import installed_faiss

    found = installed_faiss()
    return f"{found.version}, {'GPU' if found.gpu else 'CPU'}"


def _gpu() -> list[str]:
    import torch

    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _vectors(folder: Path) -> int:
    # All files, of any kind: the question is whether there are none.
    return sum(path.is_file() for path in folder.iterdir()) if folder.is_dir() else 0
