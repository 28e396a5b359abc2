"""The structure of a digest, whoever writes it: a few sections of short lines.

A model's digest is prose until it was read here: what it cites has to occur in what it was written from,
and handles are put in by the engine, so that what left the view can always be found.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

SECTIONS = ("Request", "Facts", "Decisions", "Failures", "Open questions", "Handles")
"""In this order. A status is in none of them: it comes from the journal (`note_state.md`)."""
_SAYING = ("Request", "Facts", "Decisions", "Failures", "Open questions")
_MOST_LINES = 60
"""Lines of a section; of more the newest are kept."""
_MOST_CHARS = 400
"""Characters of a line."""
_HEADING = re.compile(r"#{1,4}\s*\**([A-Za-z ]+?)\**\s*:?")
_LINK = re.compile(r"\[\[\s*([^\[\]]+?)\s*\]\]")

Sections = Mapping[str, Sequence[str]]
"""Lines by section."""


def parsed(text: str) -> Sections:
    """The lines of each section; what stands under no heading of ours is left out."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    names = {name.casefold(): name for name in SECTIONS}
    for line in text.splitlines():
        heading = _HEADING.fullmatch(line.strip())
        if heading is not None:
            name = names.get(heading[1].casefold())
            lines = None if name is None else found.setdefault(name, [])
        elif lines is not None and (said := line.strip().removeprefix("-").removeprefix("*").strip()):
            lines.append(said)
    return {name: _bounded(found[name]) for name in SECTIONS if name in found}


def useless(text: str) -> str:
    """Why a text is no digest; empty when it is one."""
    if not text.strip():
        return "it is empty"
    sections = parsed(text)
    if not any(sections.get(name) for name in _SAYING):
        return "it has none of the sections that were asked for"
    if not any(sections.get(name) for name in ("Facts", "Decisions", "Failures")):
        return "it says nothing of what was found, decided or failed"
    return ""


def merged(*parts: Sections) -> Sections:
    """The sections of several, each line once."""
    return {
        name: _bounded(
            dict.fromkeys(line for part in parts for line in part.get(name, ()) if line != NOTHING)
        )
        for name in SECTIONS
    }


def rendered(sections: Sections) -> str:
    """The digest as the model reads it: every section, also one that has nothing to say."""
    return "\n".join(
        f"## {name}\n" + "\n".join(f"- {line}" for line in sections.get(name) or (NOTHING,))
        for name in SECTIONS
    )


NOTHING = "(nothing)"
"""Stands in an empty section."""


def links(text: str) -> set[str]:
    """The records that a text cites."""
    return set(_LINK.findall(text))


def fitting(sections: Sections, most: int, tokens: Callable[[str], int]) -> Sections:
    """With as many lines a section as there is room for, the newest of each."""
    lines = _MOST_LINES
    while lines > 1 and tokens(rendered(sections)) > most:
        lines = lines * 2 // 3
        sections = {name: tuple(said)[-lines:] for name, said in sections.items()}
    return sections


def without_inventions(sections: Sections, is_known: Callable[[str], bool]) -> Sections:
    """Without links to records that do not occur in what the digest was written from."""

    def checked(line: str) -> str:
        return _LINK.sub(lambda found: found[0] if is_known(found[1]) else found[1], line)

    return {name: tuple(map(checked, lines)) for name, lines in sections.items()}


def with_links(sections: Sections, wanted: Iterable[str]) -> Sections:
    """With the links that it left out, in a line of their own."""
    there = {link for lines in sections.values() for line in lines for link in links(line)}
    missing = [f"[[{link}]]" for link in wanted if link not in there]
    if not missing:
        return sections
    lines = [" ".join(missing[at : at + 8]) for at in range(0, len(missing), 8)]
    facts = (*sections.get("Facts", ()), *(f"also cited: {line}" for line in lines))
    return {**sections, "Facts": _bounded(facts)}


def _bounded(lines: Iterable[str]) -> tuple[str, ...]:
    """The newest lines, each cut where a link cannot be parted."""
    return tuple(map(_short, list(lines)[-_MOST_LINES:]))


def _short(line: str) -> str:
    if len(line) <= _MOST_CHARS:
        return line
    cited = " ".join(f"[[{link}]]" for link in _LINK.findall(line[_MOST_CHARS - 20 :])[:4])
    head = line[: _MOST_CHARS - 20]
    head = head[: head.rfind("[[")] if head.rfind("[[") > head.rfind("]]") else head
    return f"{head.rstrip()} ... {cited}".rstrip()
