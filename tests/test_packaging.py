"""What is installed: pinned versions, a wheel without a checkout, and what installs the rest."""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from email import message_from_string
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from muse.installation import DISTRIBUTION, EXTRAS, __version__, install_extra, install_packages
from tests.conftest import ROOT
from tests.support.command import Ended, python, refused

NAME = f"{DISTRIBUTION.replace('-', '_')}-{__version__}"
UNPINNED = {"faiss-gpu"}  # beside faiss-cpu it cannot be installed for the tests
LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "*.egg-info", "build", "dist", "site", "aligned", "raw", "gold", "induced"
)


def packages_of(text: str) -> set[str]:
    """The packages of a list of requirements, one a line, but for muse itself."""
    return set(re.findall(r"^[\w-]+", text.strip(), re.MULTILINE)) - {DISTRIBUTION}


def test_every_package_that_is_asked_for_is_pinned_to_one_version() -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    asked = packages_of(setup["options"]["install_requires"])
    asked |= set().union(*map(packages_of, setup["options.extras_require"].values()))
    written = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    lines = [line for line in written if line and not line.startswith("#")]
    pinned = [line.partition("==")[0] for line in lines]
    assert asked - UNPINNED <= set(pinned)
    assert len(pinned) == len(set(pinned))
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in lines)


def old_python(folder: Path) -> Path:
    """A Python that takes itself for 3.10."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "python"
    pretend = "import sys; sys.version_info = (3, 10, 13);"
    path.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] && exec {shlex.quote(sys.executable)} -c "{pretend} $2"\n'
        '[ "$1" = --version ] && echo Python 3.10.13\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
@pytest.mark.parametrize("made", [False, True], ids=["no environment yet", "an environment of 3.10"])
def test_an_old_python_is_refused_before_anything_is_installed(tmp_path: Path, made: bool) -> None:
    environment = tmp_path / "venv"
    python = old_python(environment / "bin" if made else tmp_path)
    if made:
        (environment / "bin" / "pip").touch(mode=0o755)
    before = sorted(tmp_path.rglob("*"))
    settings = {**os.environ, "VENV": str(environment), "PYTHON": sys.executable if made else str(python)}
    ended = subprocess.run(
        [ROOT / "scripts" / "install"], env=settings, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(
        f"error: muse needs Python 3.11 or later, found Python 3.10.13 in {python}"
    )
    assert (f"remove {environment}" in ended.stderr) == made
    assert sorted(tmp_path.rglob("*")) == before


@dataclass(frozen=True)
class Built:
    sdist: Path
    wheel: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The sdist of a copy of the checkout, and the wheel made from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "checkout", ignore=LEFT_OUT)
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(folder / "checkout"),
    ]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "eprecat" not in ended.stdout + ended.stderr
    return Built(folder / f"{NAME}.tar.gz", folder / f"{NAME}-py3-none-any.whl")


@pytest.mark.slow
def test_the_wheel_has_the_package_and_its_licence_alone(built: Built) -> None:
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "muse").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {
        "muse/py.typed", "muse/palette.css", "muse/report/templates/page.html", "muse/web/page/index.html",
        "muse/links/templates/page.html",
    } < package  # fmt: skip
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
        about = message_from_string(wheel.read(f"{NAME}.dist-info/METADATA").decode())
        scripts = wheel.read(f"{NAME}.dist-info/entry_points.txt").decode()
    assert {name for name in names if name.startswith("muse/")} == package
    beside = {name.removeprefix(f"{NAME}.dist-info/") for name in names - package}
    assert beside == {
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt")
    }
    assert (about["Name"], about["Version"]) == (DISTRIBUTION, __version__)
    assert about["Requires-Python"] == ">=3.11"
    assert set(about.get_all("Provides-Extra", [])) == {*EXTRAS, "all", "dev", "docs"}
    assert "muse = muse.__main__:main" in scripts


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_is_made_of(built: Built) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.removeprefix(f"{NAME}/") for name in sdist.getnames() if name != NAME}
    assert {name.partition("/")[0] for name in names} == {
        *(
            "LICENSE",
            "MANIFEST.in",
            "PKG-INFO",
            "README.md",
            "constraints.txt",
            "muse",
            "muse_align.egg-info",
        ),
        *("pyproject.toml", "setup.cfg"),
    }
    assert "muse/py.typed" in names


@dataclass(frozen=True)
class Installed:
    """A fresh environment with the wheel, and an empty folder to work in."""

    environment: Path
    work: Path

    def __call__(self, *command: object) -> Ended:
        """The command, found in the environment first and with no trace of the checkout."""
        path = f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        settings = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "MUSE_EMBEDDINGS", "VIRTUAL_ENV") and not name.startswith("PIP_")
        }
        settings |= {"PATH": path, "PIP_CONFIG_FILE": os.devnull}
        ended = subprocess.run(
            [*map(str, command)], cwd=self.work, env=settings, capture_output=True,
            text=True, encoding="utf-8", timeout=300, check=False,
        )  # fmt: skip
        return Ended(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment that borrows all other packages from that of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    environment, work = folder / "venv", folder / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    here = {"base": str(environment), "platbase": str(environment)}
    packages = Path(sysconfig.get_path("purelib", "venv", here))
    # A line of a .pth adds a folder, and nothing of an editable muse in it.
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    found = Installed(environment, work)
    found("pip", "uninstall", "--yes", "setuptools")  # an old one, where venv brings one at all
    ended = found("pip", "install", "--no-index", "--no-deps", built.wheel)
    assert ended.code == 0, ended.err
    where = found("python", "-c", "import muse; print(muse.__file__)").out.strip()
    assert Path(where) == packages / "muse" / "__init__.py"
    return found


@pytest.mark.slow
def test_the_wheel_works_without_a_checkout(installed: Installed) -> None:
    assert installed("muse", "--version").out == f"muse, version {__version__}\n"
    told = installed("muse", "doctor", "--json").json
    assert list(told["vectors"]) == ["embeddings", "embeddings/raw"]
    assert "site-packages" not in installed("muse", "doctor").out


@pytest.mark.slow
def test_the_wheel_aligns_given_files(installed: Installed) -> None:
    sample = ROOT / "embeddings" / "sample"
    files = ("--src-emb", sample / "fr.vec.gz", "--tgt-emb", sample / "en.vec.gz")
    ended = installed(
        "muse", "align", "--src", "fr", "--tgt", "en", *files, "--max-vocab", 1000, "--json", "-q"
    )
    assert ended.code in (0, 3), ended.err  # 3: so few words may not be enough for the verdict
    assert ended.json["words"] == {"fr": 1000, "en": 1000}
    manifest = installed.work / "embeddings" / "aligned" / "fr-en" / "manifest.json"
    assert json.loads(manifest.read_text(encoding="utf-8"))["verdict"]["label"] == ended.json["verdict"]


@pytest.mark.slow
def test_the_wheel_asks_for_files_and_speaks_of_no_sample(installed: Installed) -> None:
    ended = installed("muse", "align", "--src", "xx", "--tgt", "yy")
    assert (ended.code, len(ended.errors)) == (1, 1)
    assert "no vectors for 'xx'" in ended.errors[0]
    assert "site-packages" not in ended.err


@pytest.mark.slow
@pytest.mark.skipif(find_spec("uvicorn") is None, reason="needs the extra web")
def test_what_the_wheel_says_to_install_is_itself_and_needs_no_other_muse(installed: Installed) -> None:
    (installed.work / "x.parquet").write_bytes(b"PAR1xxxxPAR1")
    words = "muse align --src a --tgt b --src-emb x.parquet --tgt-emb x.parquet".split()
    code = f"import sys; sys.modules['pyarrow'] = None; sys.argv = {words}; import muse.cli"
    ended = installed("python", "-c", f"{code}; muse.cli.main()")
    (command,) = re.findall(r"run (pip install '.*')", ended.errors[0])
    assert command == "pip install 'muse-align[parquet]'"
    # All that it needs is here: done without an index, nothing foreign can have come.
    done = installed(*shlex.split(command), "--dry-run", "--no-index")
    assert done.code == 0, done.err
    assert "Would install" not in done.out


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
