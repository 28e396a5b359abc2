"""State changes in one place: `Run.record` appends and applies, `fold` applies, nothing else does.

Reported is every use in `engine/`, a call or a mere reference, of

- `append` on a journal: on a name or attribute called `journal` or `_journal`, or on one that the
  same file annotates as a `Journal` or assigns a journal to (`engine/store/`, where journals are
  made, is free to);
- the function `apply` of `engine/state.py`, under whatever name it was imported.

It reads names, not types: a journal that arrives through an unannotated name is not seen.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

APPENDS = "Run.record"
APPLIES = ("Run.record", "fold")


class Use(NamedTuple):
    """One place that appends to a journal or applies a fact; `scope` is a qualified name."""

    path: Path
    line: int
    scope: str
    verb: str


def problems(root: Path) -> list[str]:
    """What breaks the rule below `root`, as `file:line: what`."""
    uses = [
        use
        for path in sorted((root / "engine").rglob("*.py"))
        for use in uses_in(path.relative_to(root), path.read_text())
    ]
    found = [_say(use) for use in uses if not _allowed(use)]
    homes = sorted({use.path.as_posix() for use in uses if _records(use)})
    if len(homes) != 1:
        found.append(f"engine: one file is to have a {APPENDS} that appends, found {homes!r}")
    return found


def uses_in(path: Path, source: str) -> list[Use]:
    """Every use in one file of `engine/`; `path` is relative to the repository."""
    tree = ast.parse(source, filename=str(path))
    journals = _journals(tree)
    appliers = _appliers(path, tree)
    uses: list[Use] = []
    for scope, node in _scoped(tree, ""):
        if _appends(node, journals) and "store" not in path.parent.parts:
            uses.append(Use(path, node.lineno, scope, "journal.append"))
        if _dotted(node) in appliers:
            uses.append(Use(path, node.lineno, scope, "apply"))
    return uses


def _allowed(use: Use) -> bool:
    scopes = APPLIES if use.verb == "apply" else (APPENDS,)
    return any(_within(use.scope, scope) for scope in scopes)


def _records(use: Use) -> bool:
    return use.verb == "journal.append" and _within(use.scope, APPENDS)


def _within(scope: str, outer: str) -> bool:
    return scope == outer or scope.startswith(f"{outer}.")


def _say(use: Use) -> str:
    where = use.scope or "the module"
    return f"{use.path.as_posix()}:{use.line}: {use.verb} in {where}: only Run.record may"


def _scoped(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.expr]]:
    """Each expression below `node` that is read, with the qualified name of where it stands."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _scoped(child, f"{scope}.{child.name}".lstrip("."))
            continue
        if isinstance(child, ast.expr):
            yield scope, child
        yield from _scoped(child, scope)


def _appends(node: ast.expr, journals: set[str]) -> bool:
    match node:
        case ast.Attribute(value=value, attr="append"):
            return _last_name(value) in journals
        case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value="append"), *_]):
            return _last_name(value) in journals
        case _:
            return False


def _journals(tree: ast.Module) -> set[str]:
    """The names that stand for a journal in this file."""
    names = {"journal", "_journal"}
    for node in ast.walk(tree):
        match node:
            case ast.arg(arg=name, annotation=ast.expr() as kind) if _is_journal(kind):
                names.add(name)
            case ast.AnnAssign(target=target, annotation=kind) if _is_journal(kind):
                names.add(_last_name(target))
            case ast.Assign(targets=targets, value=value) if _last_name(value) in names:
                names.update(_last_name(target) for target in targets)
            case ast.NamedExpr(target=ast.Name(id=name), value=value) if _last_name(value) in names:
                names.add(name)
            case _:
                pass
    return names - {""}


def _is_journal(annotation: ast.expr) -> bool:
    """Whether an annotation is `Journal`, in a union, qualified or in quotes too."""
    words = ast.unparse(annotation).replace(".", " ").replace("|", " ").strip("'\"").split()
    return "Journal" in words


def _appliers(path: Path, tree: ast.Module) -> set[str]:
    """The dotted names under which this file reaches `apply` of `engine/state.py`."""
    if path.as_posix() == "engine/state.py":
        return {"apply"}
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module.split(".")[-1] == "state":
                names |= {a.asname or a.name for a in node.names if a.name == "apply"}
            case ast.ImportFrom():
                names |= {f"{a.asname or a.name}.apply" for a in node.names if a.name == "state"}
            case ast.Import():
                names |= {
                    f"{a.asname or a.name}.apply" for a in node.names if a.name == "offing.engine.state"
                }
            case _:
                pass
    return names


def _last_name(node: ast.expr) -> str:
    """The last name of a chain: `journal` for `self.run.journal` and for `store.journal()`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=value) | ast.Await(value=value) | ast.Subscript(value=value):
            return _last_name(value)
        case _:
            return ""


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            return name
        case ast.Attribute(value=value, attr=attr) if head := _dotted(value):
            return f"{head}.{attr}"
        case _:
            return ""


if __name__ == "__main__":
    raise SystemExit("\n".join(problems(Path(__file__).parents[2])) or None)
