"""muse doctor: what is installed on this machine, and what each missing extra would add."""

import importlib.util
import os
import platform
from contextlib import suppress
from typing import Any, cast

import click

from muse.commands.command import command
from muse.commands.outputs import Report
from muse.installation import EXTRAS, __version__, install_extra
from muse.options import Common, Threads, option

PACKAGES = (
    "numpy scipy scikit-learn torch faiss-cpu faiss-gpu fasttext-community rapidfuzz sacremoses click".split()
)
# What each extra is for, and the commands that take it.
PURPOSES = {
    "embed": ("a warning of other languages in a text", "embed align terms"),
    "eval": ("BLEU and chrF of translations", "translate evaluate"),
    "exchange": ("gensim, pandas, ONNX and safetensors, in Python and in files", "align export"),
    "gpu": ("faiss on the GPU, as one of two ways to search there", ""),
    "lemmas": ("lemmas that are known, in place of learned ones (--group simplemma)", "induce"),
    "networks": ("word pieces of networks that are learned from text", "train train-translator"),
    "parquet": ("Parquet, to read and to write", "align embed encode export map"),
    "ray": ("more than one machine (--ray)", "encode induce link mine"),
    "segment": (
        "the words of Chinese, Japanese, Thai, Khmer, Lao and Burmese, written without spaces",
        "align align-texts embed encode evaluate index-text link mine terms train train-lm train-translator "
        "translate",
    ),
    "spacy": ("vectors of spaCy pipelines, to read and to write", "align export"),
    "tables": ("Excel sheets and Parquet", "align align-texts evaluate induce neighbours terms translate"),
    "transformers": (
        "a Hugging Face encoder, as --encoder or --backbone",
        "align align-texts carry-labels encode evaluate link mine train",
    ),
    "web": ("the explorer in the browser", "serve"),
}


class DoctorOptions(Common, Threads):
    task: str | None = option(None, argument=True, metavar="[COMMAND]")


@command("muse doctor", "muse doctor serve")
def doctor(options: DoctorOptions) -> Report:
    """Print what is installed and what is missing.

    This covers versions, threads, the GPU, the faiss build, and what each optional extra is for. With a
    COMMAND, such as serve, one line says what that command lacks.
    """
    found = examine()
    if options.task is not None:
        lacking = _lacking(options.task, found)
        line = f"muse {options.task}: {'; '.join(lacking) or 'nothing is missing'}"
        return {"task": options.task, "missing": lacking}, [line]
    packages, threads = (
        ", ".join(f"{name} {value}" for name, value in found[kind].items())
        for kind in ("packages", "threads")
    )
    folders = ", ".join(f"{folder} ({count} files)" for folder, count in found["vectors"].items())
    shown = [
        ("muse", f"{found['muse']}, Python {found['python']}, {found['system']}"),
        ("packages", packages),
        ("threads", f"{threads}, of {found['processors']} processors"),
        ("GPU", ", ".join(found["gpu"]) or "none found by torch"),
        ("faiss", found["faiss"]),
        ("vectors", f"looked for in {folders}"),
    ]
    for one in found["extras"]:
        state = f"missing {', '.join(one['missing'])}: {one['advice']}" if one["missing"] else "installed"
        by = f": muse {', '.join(one['commands'])}" if one["commands"] else ""
        shown.append((one["name"], f"{state} ({one['purpose']}{by})"))
    return found, [f"{name:12}  {text}" for name, text in shown]


def _lacking(task: str, found: dict[str, Any]) -> list[str]:
    """What a command lacks here, with the advice; UsageError where there is no such command."""
    context = click.get_current_context().find_root()
    names = cast(click.Group, context.command).list_commands(context)
    if task not in names:
        raise click.UsageError(f"COMMAND must be one of {', '.join(names)}; got {task!r}.")
    lacking = []
    if task in ("align", "demo") and not any(found["vectors"].values()):
        folders = " or ".join(found["vectors"])
        lacking.append(f"no vectors in {folders}: run muse fetch, or give texts (--src-text, --tgt-text)")
    return lacking + [
        f"{', '.join(one['missing'])} missing ({one['purpose']}): {one['advice']}"
        for one in found["extras"]
        if one["missing"] and task in one["commands"]
    ]


def examine() -> dict[str, Any]:
    """Versions, processors, GPU, the kind of faiss, the folders searched for vectors, memory, and extras."""
    from importlib.metadata import PackageNotFoundError, version

    import torch

    from muse.files.vectors.locate import search_path
    from muse.run.memory import peak_memory_mb
    from muse.search.exact import installed_faiss

    faiss, packages = installed_faiss(), dict[str, str]()
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    gpus = range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    return {
        "muse": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": packages,
        "processors": os.cpu_count(),
        "threads": {"torch": torch.get_num_threads(), "faiss": faiss.threads},
        "gpu": [torch.cuda.get_device_name(number) for number in gpus],
        "faiss": f"{faiss.version}, {'GPU' if faiss.gpu else 'CPU'}",
        # All files, of any kind: the question is whether there are none.
        "vectors": {
            str(folder): sum(path.is_file() for path in folder.iterdir()) if folder.is_dir() else 0
            for folder in search_path()
        },
        "peak_memory_mb": peak_memory_mb(),
        "extras": extras(),
    }


def extras() -> list[dict[str, Any]]:
    """Every extra: what for and for which commands, which of its packages are missing, what installs them."""
    found = []
    for name, packages in EXTRAS.items():
        missing = [package for package in packages if not _installed(package)]
        advice = install_extra(name) if missing else ""
        purpose, commands = PURPOSES[name]
        said = {"purpose": purpose, "commands": commands.split(), "missing": missing, "advice": advice}
        found.append({"name": name, **said})
    return found


def _installed(package: str) -> bool:
    from muse.search.exact import installed_faiss

    if package == "faiss-gpu":
        return installed_faiss().gpu  # any build of faiss will do that searches on a GPU
    try:
        return importlib.util.find_spec(package.replace("-", "_")) is not None
    except (ImportError, ValueError):  # ValueError: a module without a spec stands in for it
        return False
