"""The tools whose schemas are always loaded, because nearly every run uses them."""

from ...namespaces.tool import Tool
from .ask_user import ask_user
from .calculate import calculate
from .files import read, write_file
from .link_records import link_records
from .load_skill import load_skill
from .remember import REMEMBERING
from .search import search
from .tasks import tasks

RESIDENT: tuple[Tool, ...] = (
    ask_user,
    calculate,
    link_records,
    load_skill,
    read,
    search,
    tasks,
    write_file,
)
"""Those of every session."""


def tools_of(*, memory: bool) -> tuple[Tool, ...]:
    """All resident tools of a session, those of memory only where there is one."""
    return (*RESIDENT, *(REMEMBERING if memory else ()))


__all__ = ["RESIDENT", "tools_of"]
