"""A built wheel holds the whole package, runs on its own and is typed for its users.

The wheel is built from a copy (a `build/` folder left in the tree would slip old files into it) and
without an isolated environment, so nothing is downloaded. It goes into a fresh environment that
sees this one's libraries through a `.pth` line: installing them again would need the registry and
a minute, and what is to be shown is that *our* files are all there. Python does not read `.pth`
files behind such a line, so the editable install of this tree stays out of sight.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ("engine", "namespaces", "skills", "compaction", "tracing")
FOR_THE_BUILD = ("pyproject.toml", "README.md", "LICENSE")


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command to its end; its output is shown when it fails."""
    done = subprocess.run(
        command, cwd=cwd, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def package_files() -> set[str]:
    """Every file of the library that git tracks or would track."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", *LIBRARY, cwd=ROOT)
    return {path for path in listed.splitlines() if (ROOT / path).exists()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for path in (*FOR_THE_BUILD, *package_files()):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", cwd=source)
    (built,) = source.glob("dist/*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment in which the wheel, not the tree, is `offing`."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    made = home / "bin" / "python"
    install = ("-m", "pip", "--python", made, "install", "--quiet", "--no-deps", "--no-index")
    run(sys.executable, *install, wheel, cwd=home)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return made


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {f"offing/{path}" for path in package_files()}


def test_the_demo_runs_from_the_wheel_in_an_empty_folder(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import offing.engine as e; print(e.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1])
    assert run(python.with_name("offing"), "demo", cwd=tmp_path) != ""


def test_a_users_code_is_typed_against_the_wheel(python: Path, tmp_path: Path) -> None:
    shutil.copyfile(ROOT / "tests" / "user_code.py", tmp_path / "user_code.py")
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable", python)
    told = run(*mypy, "--cache-dir", os.devnull, "user_code.py", cwd=tmp_path)
    assert told == "Success: no issues found in 1 source file\n"
