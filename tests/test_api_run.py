"""muse.align: what a caller gives it, and what it returns."""

from __future__ import annotations

from pathlib import Path

import pytest

import muse
from tests.toys import raw_pair, write_vec


@pytest.mark.parametrize("kind", [str, Path])
def test_files_are_paths_or_strings(tmp_path: Path, kind: type) -> None:
    source, target, _ = raw_pair()
    write_vec(tmp_path / "fr.vec", source)
    write_vec(tmp_path / "en.vec", target)
    sources, out = [kind(tmp_path / "fr.vec")], kind(tmp_path / "space")
    space = muse.align(["fr"], "en", source_file=sources, target_file=kind(tmp_path / "en.vec"), out=out)
    assert space.languages == ("fr", "en")
    assert space.manifest["verdict"]["label"] == "aligned"
    assert muse.load_space(out).manifest == space.manifest
