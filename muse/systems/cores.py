"""Cores by their folders: the rows of the space, of an XLM that muse trained, or of a Hugging Face model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from muse.encoders.saving import is_encoder
from muse.errors import BadFile, Mismatch
from muse.space import AlignedSpace
from muse.systems.core import Core, SpaceCore
from muse.systems.hugging_face import HuggingFaceCore
from muse.systems.xlm.core import XlmCore


def open_core(space: AlignedSpace, folder: Path | None, device: str = "cpu") -> Core:
    """The core in a folder, of muse's xlm or Hugging Face; without a folder, that of the space."""
    if folder is None:
        return SpaceCore(space, device)
    return XlmCore(folder, device) if is_encoder(folder) else HuggingFaceCore(folder, device)


def restored_core(saved: Mapping[str, Any], space: AlignedSpace) -> Core:
    """The core of a saved encoder, from its settings; Mismatch if its weights changed, BadFile if lost."""
    folder = Path(saved["folder"]) if saved else None
    if folder is not None and not folder.is_dir():
        raise BadFile(
            f"{folder}: expected the core that the encoder was trained with, found no folder; put it back, "
            "or link to it"
        )
    core = open_core(space, folder)
    if core.settings.get("sha256") != saved.get("sha256"):
        raise Mismatch(
            f"{saved['folder']}: the encoder was trained with weights of checksum {saved['sha256'][:8]}, "
            f"got {core.settings['sha256'][:8]}; restore the original weights"
        )
    return core
