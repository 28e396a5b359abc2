"""Each cell of the table in docs/faults.md is what really happens."""

import pytest

from fault_matrix import COLUMNS, PAGE, ROWS, cells_of, outcome
from litellm_client import QUIET

CELLS = cells_of(PAGE.read_text())
pytestmark = QUIET


def test_the_table_has_a_cell_for_each_fault_on_each_wire() -> None:
    assert CELLS.keys() == {(row, column) for row in ROWS for column in COLUMNS}


@pytest.mark.parametrize(("row", "column"), sorted(CELLS))
async def test_a_cell_of_the_table_is_what_happens(row: str, column: str) -> None:
    assert await outcome(row, column) == CELLS[row, column]
