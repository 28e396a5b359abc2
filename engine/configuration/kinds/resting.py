"""Systems that rest on others of the same file."""

from typing import TypeVar

from ....namespaces.tool import Namespace
from ..systems import BadSetting, Site

N = TypeVar("N", bound=Namespace)


def the_one(kind: type[N], name: str, site: Site) -> N:
    """The system of that kind.

    Raises:
        BadSetting: the file has none.
    """
    found = site.made.get(name)
    if not isinstance(found, kind):
        raise BadSetting(f"rests on the namespace {name!r}: add it, with its files")
    return found
