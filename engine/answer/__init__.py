"""What a run delivers: its answer, and how each figure of it links to records.

`figures.py` finds the figures of an answer, `agreement.py` compares one with a record, `check.py` judges
the whole before it is delivered, `result.py` is what the host gets and `render.py` how it looks.
"""

from .citations import Citation
from .result import Result, result_of

__all__ = ["Citation", "Result", "result_of"]
