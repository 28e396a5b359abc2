"""A skill as its author wrote it: SKILL.md and what lies beside it, before anybody's settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .document import FILE, Document, read_document, read_text
from .errors import DocumentError
from .resources import Resource, is_inside, resources_in
from .structure import structure_in

_CONFIG = "config."
_NAME = re.compile(r"[A-Za-z_]\w*")
_FLAG = re.compile(r"[\w.-]{1,64}")


@dataclass(frozen=True, slots=True)
class Written:
    """One skill as it lies in its folder."""

    document: Document
    folder: Path
    resources: tuple[Resource, ...] = ()
    output: str = ""
    """The text that describes the answer's sections; empty when the skill asks for none."""
    findings: tuple[str, ...] = ()

    @property
    def feature(self) -> str:
        """The flag that has to be on for it; empty when none has to."""
        return self.document.metadata.get("feature", "").strip()

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The systems it cannot do without."""
        return tuple(self.document.metadata.get("namespaces", "").replace(",", " ").split())

    @property
    def config(self) -> Mapping[str, str]:
        """The placeholders it declares, each with its default; an empty one has to be given."""
        return {
            name.removeprefix(_CONFIG): value
            for name, value in self.document.metadata.items()
            if name.startswith(_CONFIG)
        }


def read_skill(folder: Path) -> Written:
    """Reads the skill in a folder.

    Raises:
        DocumentError: its SKILL.md leads out of the folder or cannot be used, as `read_document` says;
            what it says of its flag or settings cannot be used; or the file that it names for the
            structure of answers is not there or has no sections.
    """
    path = folder / FILE
    if not is_inside(path, folder.resolve()):
        raise DocumentError(f"{path}: leads out of its folder")
    document = read_document(path)
    offered = resources_in(folder)
    output = _output(document, folder, offered.resources)
    written = Written(document, folder, offered.resources, output, (*document.findings, *offered.findings))
    for name in written.config:
        if not _NAME.fullmatch(name):
            raise DocumentError(
                f"{path}: metadata.config.{name}: {name!r} can be no placeholder, as in ${{limit}}"
            )
    if written.feature and not _FLAG.fullmatch(written.feature):
        raise DocumentError(f"{path}: metadata.feature is {written.feature[:80]!r}; it has to name one flag")
    return written


def _output(document: Document, folder: Path, resources: tuple[Resource, ...]) -> str:
    named = document.metadata.get("output", "").strip()
    if not named:
        return ""
    if not any(each.path == named for each in resources):
        raise DocumentError(
            f"{document.path}: metadata.output names {named!r}, which is none of its resources"
        )
    try:
        text = read_text(folder / named).text
    except DocumentError as error:
        raise DocumentError(f"{folder / named}: {error}") from error
    if not structure_in(text).sections:
        raise DocumentError(
            f"{folder / named}: names no section: write one heading, as `## Conclusion`, for each"
        )
    return text
