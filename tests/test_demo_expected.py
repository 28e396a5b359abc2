"""The independent expectation: worked out from the demo's files alone, by other means than the library's."""

import ast
import sys
from pathlib import Path

from demo_expected.work_out import HERE, expectation

TESTS = Path(__file__).parent


def imported(folder: str) -> set[str]:
    """The top names of all that the modules of a folder import, by statement or by name."""
    names: set[str] = set()
    for path in (TESTS / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import():
                    names |= {each.name for each in node.names}
                case ast.ImportFrom(module=str(name)):
                    names.add(name)
                case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name))]):
                    names.add(name)
                case _:
                    pass
    return {name.partition(".")[0] for name in names}


def test_working_it_out_again_gives_what_is_committed() -> None:
    committed = {int(path.stem[-2:]): path.read_text() for path in HERE.glob("*.txt")}
    assert expectation() == committed


def test_it_shares_no_code_with_the_library_nor_with_what_made_the_files() -> None:
    others = imported("demo_expected") - sys.stdlib_module_names
    assert others == {"demo_expected", "bai2", "lxml", "mt940", "ofxparse", "openpyxl"}
    assert imported("demo_company") - sys.stdlib_module_names == {"demo_company", "openpyxl"}
