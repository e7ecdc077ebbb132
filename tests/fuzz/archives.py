"""Archives: opened, so that their content can be damaged, and closed again with checksums that match."""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath

from tests.fuzz.mutators import Files

_INSIDE = "!"  # between the path of an archive and that of a member
_ZIPS = (".npz", ".zip", ".whl", ".pt")
_STORED = (".pt",)  # torch compresses nothing
# What packs one file: how it is opened, and how it is closed.
_ALONE: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.decompress, lambda content: gzip.compress(content, 1, mtime=0)),
    ".bz2": (bz2.decompress, lambda content: bz2.compress(content, 1)),
    ".xz": (lzma.decompress, lambda content: lzma.compress(content, preset=0)),
}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
MANIFEST = "manifest.json"


def opened(files: Files) -> Files:
    """The files with the members of good archives in place of the archives, as archive!member."""
    found: dict[str, bytes] = {}
    for name, content in files.items():
        if name.endswith(_ZIPS):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                members = {f"{name}{_INSIDE}{member}": archive.read(member) for member in archive.namelist()}
            found |= members or {name: content}
        elif (suffix := PurePosixPath(name).suffix) in _ALONE:
            found[f"{name}{_INSIDE}"] = _ALONE[suffix][0](content)
        else:
            found[name] = content
    return found


def closed(files: Files, drawn: random.Random) -> Files:
    """The files with archives of the members; a .zip is compressed by any method."""
    found = {name: content for name, content in files.items() if _INSIDE not in name}
    inside: dict[str, dict[str, bytes]] = {}
    for name, content in files.items():
        if _INSIDE in name:
            archive, _, member = name.partition(_INSIDE)
            inside.setdefault(archive, {})[member] = content
    for name, members in inside.items():
        if (suffix := PurePosixPath(name).suffix) in _ALONE:
            found[name] = _ALONE[suffix][1](members[""])
        elif suffix in _STORED:
            found[name] = _zipped(members, zipfile.ZIP_STORED)
        else:
            found[name] = _zipped(members, drawn.choice(_METHODS) if suffix == ".zip" else _METHODS[1])
    return found


def _zipped(members: Files, method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)  # which has a fixed date
            member.compress_type = method
            archive.writestr(member, content, compresslevel=1)
    return stream.getvalue()


def sealed(files: Files) -> Files:
    """The files with the checksums in each manifest made to match, where it still is one."""
    found = dict(files)
    for name in files:
        if PurePosixPath(name).name != MANIFEST:
            continue
        try:
            manifest = json.loads(files[name])
            checksums = {
                key: _checksum(found, PurePosixPath(name).parent, key) for key in manifest["checksums"]
            }
        except (ValueError, TypeError, LookupError, RecursionError):
            continue
        manifest["checksums"] = {key: value for key, value in checksums.items() if value is not None}
        found[name] = json.dumps(manifest, indent=2).encode()
    return found


def _checksum(files: Files, folder: PurePosixPath, name: str) -> str | None:
    content = files.get((folder / name).as_posix())
    return None if content is None else hashlib.sha256(content).hexdigest()


def unpacked_size(files: Files) -> int:
    """The bytes of the files once unpacked, of broken archives those they take."""
    try:
        return max(sum(map(len, opened(files).values())), sum(map(len, files.values())))
    except Exception:  # noqa: BLE001  # a damaged archive raises one of many errors
        return sum(map(len, files.values()))
