"""Numpy's archives: arrays come back, and whatever is damaged is one kind of error without a warning."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from muse.files.archive import open_archive, strictly


def archive(path: Path, header: bytes) -> Path:
    """An .npz with one array of this header, and nothing after it."""
    stream = io.BytesIO()
    stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with zipfile.ZipFile(path, "w") as members:
        members.writestr("a.npy", stream.getvalue())
    return path


def test_arrays_are_read_by_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.array("text"))
    with open_archive(tmp_path / "x.npz") as arrays:
        assert list(arrays) == ["a", "b"]
        assert arrays["a"].tolist() == [0, 1, 2]
        with pytest.raises(KeyError):
            arrays["c"]


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }\n",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1024), }\n",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, ), }\n",
        b"{'descr': '<f4\\<', 'fortran_order': False, 'shape': (3,), }\n",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        b"{" * 300,
    ],
)
def test_headers_that_lie(tmp_path: Path, header: bytes) -> None:
    # Warnings are errors in tests: none of these may be one.
    with pytest.raises(ValueError), open_archive(archive(tmp_path / "x.npz", header)) as arrays:  # noqa: PT011
        dict(arrays)


def test_other_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    for content in (b"", b"PK\3\4", (tmp_path / "x.npy").read_bytes()):
        (tmp_path / "x.npz").write_bytes(content)
        with pytest.raises(ValueError), open_archive(tmp_path / "x.npz") as arrays:  # noqa: PT011
            dict(arrays)


def test_what_numpy_warns_of_is_an_error() -> None:
    with pytest.raises(ArithmeticError), strictly():
        np.float64(1e308) * np.float64(10)
    with pytest.raises(ValueError, match="odd"), strictly():
        import warnings

        warnings.warn("odd", DeprecationWarning, stacklevel=1)
