"""A folder is a noun of the domain, holds no file that is too long, and is shipped.

Reported is, in the working tree,

- a folder with a name that says nothing, such as `utils`;
- a file of the library that is longer than a person reads at once;
- a folder of the library with modules but without `__init__.py` (the layer contract does not see
  it), without `py.typed` (a user's type checker does not) or missing from the packages in
  `pyproject.toml` (a wheel does not), and a package named there that has no folder.
"""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

LIBRARY = ("engine", "namespaces", "skills", "compaction", "tracing")
ELSEWHERE = ("tests", "examples", "benchmarks", "docs")
SAYS_NOTHING = frozenset({"utils", "internal", "helpers", "common", "v2"})
LONGEST_LINES = 400


def problems(root: Path) -> list[str]:
    """What breaks the rules below `root`, one sentence each."""
    return [*_names(root), *_lengths(root), *_packages(root)]


def _names(root: Path) -> Iterator[str]:
    for folder in _folders(root, *LIBRARY, *ELSEWHERE):
        if folder.name.strip("_") in SAYS_NOTHING:
            yield f"{_show(folder, root)}: the name says nothing of what is in it"


def _lengths(root: Path) -> Iterator[str]:
    for folder in _folders(root, *LIBRARY):
        for path in sorted(folder.glob("*.py")):
            lines = len(path.read_text().splitlines())
            if lines > LONGEST_LINES:
                yield f"{_show(path, root)}:{LONGEST_LINES}: {lines} lines, over {LONGEST_LINES}"


def _packages(root: Path) -> Iterator[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    packages: list[str] = project["tool"]["setuptools"]["packages"]
    listed = {root.joinpath(*name.split(".")[1:]): name for name in packages}
    for folder, name in listed.items():
        if not folder.is_dir():
            yield f"pyproject.toml: {name} is listed but has no folder"
    for folder in _folders(root, *LIBRARY):
        modules = any(folder.glob("*.py"))
        if modules and folder not in listed:
            yield f"{_show(folder, root)}: not among the packages in pyproject.toml"
        if modules and not (folder / "__init__.py").exists():
            yield f"{_show(folder, root)}: no __init__.py"
        if (modules or folder in listed) and not (folder / "py.typed").exists():
            yield f"{_show(folder, root)}: no py.typed"


def _folders(root: Path, *tops: str) -> Iterator[Path]:
    for top in tops:
        for folder, below, _ in os.walk(root / top):
            below[:] = sorted(name for name in below if name != "__pycache__" and name[0] != ".")
            yield Path(folder)


def _show(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


if __name__ == "__main__":
    raise SystemExit("\n".join(problems(Path(__file__).parents[2])) or None)
