"""The commands that install what is missing: right for a checkout, a wheel, and a folder that is neither."""

import re
import shlex
import sys
from importlib import metadata
from pathlib import Path

import pytest

from muse.installation import DISTRIBUTION, EXTRAS, install_extra, install_packages
from tests.conftest import ROOT
from tests.support.command import Ended, python, refused

# The form of a command that installs muse itself by a name on PyPI, whatever the extras.
BY_NAME = re.compile(r"pip3? install\s+(?:-\S+\s+)*['\"]?muse(?![\w-])")
TEXTS = (".cfg", ".html", ".js", ".md", ".py", ".toml", ".txt", ".yml", "")


@pytest.fixture
def own_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pip` on the path is the pip of the Python that runs the tests."""
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).with_name(name)))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder like a checkout, with a blank in its name."""
    folder = tmp_path / "my muse"
    (folder / "muse").mkdir(parents=True)
    for name in ("setup.cfg", "pyproject.toml", "constraints.txt"):
        (folder / name).touch()
    return folder


def install(folder: Path, name: str) -> Path:
    """The package in a site-packages with the metadata of a wheel of that name."""
    (folder / "muse").mkdir(parents=True)
    info = folder / f"{name.replace('-', '_')}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 0.1.0\n", encoding="utf-8")
    return folder / "muse"


@pytest.mark.usefixtures("own_pip")
def test_in_a_checkout_the_checkout_is_installed(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    assert install_extra("eval", clone / "muse") == "pip install -c constraints.txt -e '.[eval]'"
    packages = install_packages("fasttext-community", package=clone / "muse")
    assert packages == "pip install -c constraints.txt fasttext-community"


@pytest.mark.usefixtures("own_pip")
def test_from_elsewhere_the_checkout_is_named(clone: Path, here: Path) -> None:
    asked = shlex.split(install_extra("eval", clone / "muse"))
    assert asked == ["pip", "install", "-c", f"{clone}/constraints.txt", "-e", f"{clone}[eval]"]
    (clone / "constraints.txt").unlink()
    asked = shlex.split(install_extra("eval", clone / "muse"))
    assert asked == ["pip", "install", "-e", f"{clone}[eval]"]


@pytest.mark.usefixtures("own_pip")
def test_a_wheel_is_installed_by_the_name_of_the_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = install(tmp_path / "site-packages", DISTRIBUTION)
    monkeypatch.syspath_prepend(package.parent)
    assert install_extra("eval", package) == "pip install 'muse-align[eval]'"


@pytest.mark.usefixtures("own_pip")
@pytest.mark.parametrize("name", ["muse", "other"])
def test_of_what_is_not_installed_the_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    package = install(tmp_path / "somewhere", name)
    monkeypatch.syspath_prepend(package.parent)
    assert install_extra("eval", package) == "pip install sacrebleu"


@pytest.mark.usefixtures("own_pip")
def test_another_installed_muse_is_not_the_one_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path / "site-packages", DISTRIBUTION).parent)
    (tmp_path / "copy" / "muse").mkdir(parents=True)
    assert metadata.version(DISTRIBUTION) == "0.1.0"
    assert install_extra("web", tmp_path / "copy" / "muse") == "pip install fastapi starlette uvicorn"


@pytest.mark.parametrize("pip", [None, "/usr/bin/pip"])
def test_the_python_that_runs_muse_is_named_where_pip_is_that_of_another(
    monkeypatch: pytest.MonkeyPatch, pip: str | None
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: pip)
    assert install_packages("jinja2").startswith(f"{sys.executable} -m pip install ")


@pytest.mark.parametrize(
    ("module", "package"), [("torch", "torch"), pytest.param("faiss", "faiss-cpu", marks=pytest.mark.slow)]
)
def test_without_a_package_help_works_and_the_rest_names_it(module: str, package: str) -> None:
    def ended(argument: str) -> Ended:
        code = f"import sys; sys.modules[{module!r}] = None; sys.argv = ['muse', {argument!r}]"
        return python("-c", f"{code}; from muse.cli import main; main()")

    assert ended("--help").code == ended("--version").code == 0
    refused(ended("doctor"), f"error: muse needs {package}, found none; run {install_packages(package)}")


def test_every_extra_has_a_command() -> None:
    assert all(f"[{extra}]" in install_extra(extra) for extra in EXTRAS)


def test_no_text_tells_to_install_the_foreign_package_muse() -> None:
    folders = ("benchmarks", "docs/pages", "muse", "scripts")
    paths = [*ROOT.iterdir(), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    texts = {
        path: path.read_text(encoding="utf-8") for path in paths if path.suffix in TEXTS and path.is_file()
    }
    assert {"README.md", "install", "setup.cfg", "doctor.py"} <= {path.name for path in texts}
    told = [
        f"{path.relative_to(ROOT)}: {found[0]!r}"
        for path, text in texts.items()
        for found in BY_NAME.finditer(text)
    ]
    assert not told
