"""The Agent Skills standard (agentskills.io): what it asks of a SKILL.md's fields.

`problems` is all of it. What of that keeps a skill from being used is decided in `document.py`: a name
with a capital letter does not, a description that is missing does.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from .frontmatter import shown

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""All that the standard knows."""
NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
COMPATIBILITY_CHARS = 500


def problems(fields: Mapping[str, object], folder: str) -> list[str]:
    """What is not as the standard wants it, one sentence each. `folder` is the name of the skill's."""
    return [
        *_unknown(fields),
        *_name(fields.get("name"), folder),
        *_text("description", fields.get("description"), DESCRIPTION_CHARS, needed=True),
        *_text("compatibility", fields.get("compatibility"), COMPATIBILITY_CHARS),
        *_text("license", fields.get("license")),
        *_text("allowed-tools", fields.get("allowed-tools")),
        *_metadata(fields.get("metadata")),
    ]


def _unknown(fields: Mapping[str, object]) -> Iterator[str]:
    for name in fields:
        if name not in FIELDS:
            yield f"{shown(name)} is no field of the standard, and is not used: put it into metadata"


def _name(value: object, folder: str) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip():
        yield f"name is {shown(value)}; it has to be a text"
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > NAME_CHARS:
        yield f"name is {len(name)} characters long; at most {NAME_CHARS} are allowed"
    if name != name.lower() or not all(each.isalnum() or each == "-" for each in name):
        yield f"name is {shown(name)}; only lower-case letters, digits and '-' are allowed"
    if name.strip("-") != name or "--" in name:
        yield f"name is {shown(name)}; '-' stands between words, one at a time"
    if name != unicodedata.normalize("NFKC", folder):
        yield f"name is {shown(name)}; it has to be that of the folder, {shown(folder)}"


def _text(name: str, value: object, most: int | None = None, *, needed: bool = False) -> Iterator[str]:
    if value is None and not needed:
        return
    if not isinstance(value, str) or (needed and not value.strip()):
        yield f"{name} is {shown(value)}; it has to be a text"
    elif most is not None and len(value) > most:
        yield f"{name} is {len(value)} characters long; at most {most} are allowed"


def _metadata(value: object) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, dict):
        yield f"metadata is {shown(value)}; it has to be a mapping of texts"
        return
    for key, each in cast("Mapping[object, object]", value).items():
        if not isinstance(each, str):
            yield f"metadata.{key} is {shown(each)}, and is not used; it has to be a text"
