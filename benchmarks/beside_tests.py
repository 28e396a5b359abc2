"""Makes the servers of the tests importable for a benchmark: import this before them."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The repository."""

sys.path.insert(0, str(ROOT / "tests"))
