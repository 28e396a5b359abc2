"""Elements as text. Whatever is put between tags or into an attribute is escaped here, and nowhere else."""

import html
from collections.abc import Iterable

Html = str
"""Text that is HTML already."""


def escaped(text: object) -> Html:
    """A text as it can stand between tags and in attributes."""
    return html.escape(str(text), quote=True)


def tag(name: str, content: Html | Iterable[Html] = "", **attributes: object) -> Html:
    """An element. `content` is HTML; attributes are text. `class_` stands for `class`, `_` for `-`."""
    inner = content if isinstance(content, str) else "".join(content)
    told = "".join(f' {_attribute(key)}="{escaped(value)}"' for key, value in attributes.items())
    return f"<{name}{told}>{inner}</{name}>"


def _attribute(key: str) -> str:
    return key.removesuffix("_").replace("_", "-")


def table(headings: Iterable[str], rows: Iterable[Iterable[Html]]) -> Html:
    """A table of cells that are HTML already."""
    head = tag("tr", [tag("th", escaped(each)) for each in headings])
    return tag("table", [head, *(tag("tr", [tag("td", cell) for cell in row]) for row in rows)])
