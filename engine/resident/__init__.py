"""The tools whose schemas are always loaded, because nearly every run uses them."""

from ...namespaces.tool import Tool
from .ask_user import ask_user
from .calculate import calculate
from .delegate import delegate
from .files import read, write_file
from .link_records import link_records
from .load_skill import load_skill
from .search import search
from .tasks import tasks

RESIDENT: tuple[Tool, ...] = (
    ask_user,
    calculate,
    delegate,
    link_records,
    load_skill,
    read,
    search,
    tasks,
    write_file,
)
"""All resident tools."""

__all__ = ["RESIDENT"]
