"""Stage C1 of ContrastiveBLI (Li et al., 2022), run from a checkout with its published settings."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch.nn.functional import normalize

from benchmarks.align.supervision_cells import Task
from benchmarks.support.vecmap import Mapped

# It knows the names of some languages only, and shows them; its files carry them.
NAMES = ("de", "fr")
LARGE = 5_000  # the setting "5k" is published for so many pairs, "1k" for fewer
RENAMED = ("clip_grad_norm(", "clip_grad_norm_(")  # its name since PyTorch 2


def contrastive(task: Task, checkout: Path) -> Mapped:
    """What stage C1 makes of the pairs.

    It begins from a map that whitens the pairs and is then undone by an inverse, so that it needs more pairs
    than dimensions: with fewer its P@1 is 0 before training. Its training dictionary needs tabs, and
    both files of vectors a first line with their size.
    """
    source, _ = task.loaded.sides
    words = len(set(task.pairs()[:, 0].tolist()))
    if words <= source.dimension:
        return Mapped(None, 0.0, f"needs more than {source.dimension} pairs")
    size = "5k" if task.cell.help.startswith(str(LARGE)) else "1k"
    home = task.loaded.folder / "c1"
    shutil.rmtree(home, ignore_errors=True)
    (home / f"{size}C1").mkdir(parents=True)
    script = _patched(checkout, home)
    files, pairs = task.loaded.files_of_tokens(), task.dictionary_of_tokens()
    command = [sys.executable, "-W", "ignore", str(script), "--cpu", "--self_learning", "--save_aligned_we"]
    command += ["--train_size", size, "--D_emb", str(source.dimension), "--l1", NAMES[0], "--l2", NAMES[1]]
    command += ["--emb_src_dir", str(files[0]), "--emb_tgt_dir", str(files[1]), "--save_dir", f"{home}/"]
    command += ["--train_dict_dir", str(pairs), "--test_dict_dir", str(pairs)]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"ContrastiveBLI: exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    rows = [torch.load(home / f"{size}C1" / f"{NAMES[0]}2{NAMES[1]}_{name}_emb.pt") for name in NAMES]
    return Mapped((normalize(rows[0].float()), normalize(rows[1].float())), seconds, size)


def _patched(checkout: Path, home: Path) -> Path:
    folder = home / "src"
    shutil.copytree(checkout / "C1" / "src", folder)
    script = folder / "main.py"
    script.write_text(script.read_text(encoding="utf-8").replace(*RENAMED), encoding="utf-8")
    return script
