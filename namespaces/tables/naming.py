"""What files are called in findings and records."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path


def names_of(files: Iterable[Path]) -> Mapping[Path, str]:
    """The name of each file, with as many of its folders as tell it from the others: `2026-09/gl.csv`."""
    apart = list(dict.fromkeys(files))
    ends = Counter(path.parts[-depth:] for path in apart for depth in range(1, len(path.parts) + 1))
    return {path: "/".join(_shortest(path, ends)) for path in apart}


def _shortest(path: Path, ends: Counter[tuple[str, ...]]) -> tuple[str, ...]:
    depths = range(1, len(path.parts))
    return next((path.parts[-depth:] for depth in depths if ends[path.parts[-depth:]] == 1), path.parts)
