"""A skill as one session has it: what its author wrote, with the session's values and changes in it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .document import read_text
from .errors import DocumentError, SettingsError
from .resources import Resource, read_resource
from .structure import Structure, structure_in
from .written import Written

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_VERSION_CHARS = 12
_RESOURCES = ".md"
"""The ending of resources whose placeholders are filled in too."""


@dataclass(frozen=True, slots=True)
class Override:
    """What one customer's skill says differently."""

    text: str | Path
    """Markdown, or the file that it is in."""
    replaces: bool = False
    """True puts it in the place of the skill's body; False puts it behind the body."""

    def read(self) -> str:
        """The Markdown.

        Raises:
            DocumentError: the file cannot be read.
        """
        if isinstance(self.text, str):
            return self.text.strip()
        try:
            return read_text(self.text).text.strip()
        except DocumentError as error:
            raise DocumentError(f"{self.text}: {error}") from error


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill, ready to be used. Made by `skill_of`."""

    name: str
    description: str
    """What it does and when to use it: what the model chooses by."""
    body: str
    version: str
    """The author's version where there is one, then a digest of all that a model can be shown of it:
    skills of the same version say the same."""
    folder: Path
    resources: tuple[Resource, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    structure: Structure = field(default_factory=Structure)
    """What an answer has to consist of; without sections when the skill does not ask for any."""
    namespaces: tuple[str, ...] = ()
    """The systems it cannot do without."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """What stands for each placeholder that it declares."""

    def resource(self, path: str) -> bytes:
        """The bytes of a resource, the placeholders of a Markdown file filled in.

        Raises:
            ResourceError: it cannot be read, or is not what it was when the skill was read.
            KeyError: the skill has no such resource.
        """
        found = {each.path: each for each in self.resources}[path]
        data = read_resource(self.folder, found)
        if not path.endswith(_RESOURCES):
            return data
        return _filled(data.decode("utf-8", "surrogateescape"), self.values).encode(
            "utf-8", "surrogateescape"
        )


def skill_of(
    written: Written, values: Mapping[str, str] | None = None, override: Override | None = None
) -> Skill:
    """The skill with a session's values and changes in it.

    Raises:
        SettingsError: a value is for no placeholder that the skill declares, or one without a default is
            missing, or the override cannot be read.
    """
    document = written.document
    settled = _values(written, values or {})
    structure = structure_in(_filled(written.output, settled))
    description = " ".join(_filled(document.description, settled).split())
    body = _filled(_body(document.body, document.name, override), settled)
    shown = {
        "description": description,
        "body": body,
        "tools": document.allowed_tools,
        "structure": structure.sections,
        "values": settled,
        "resources": [each.digest + each.path for each in written.resources],
    }
    digest = hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:_VERSION_CHARS]
    said = document.metadata.get("version", "").strip()
    return Skill(
        name=document.name,
        description=description,
        body=body,
        version=f"{said}+{digest}" if said else digest,
        folder=written.folder,
        resources=written.resources,
        allowed_tools=document.allowed_tools or (),
        structure=structure,
        namespaces=written.namespaces,
        values=settled,
    )


def _values(written: Written, given: Mapping[str, str]) -> Mapping[str, str]:
    name, config = written.document.name, written.config
    for key in given:
        if key not in config:
            known = ", ".join(sorted(config)) or "none"
            raise SettingsError(f"skill {name!r} has no setting {key!r}. Its settings: {known}")
    settled = {key: str(value) for key, value in {**config, **given}.items()}
    for key, value in settled.items():
        if not value:
            raise SettingsError(
                f"skill {name!r} needs a value for {key!r}: values={{{name!r}: {{{key!r}: ...}}}}"
            )
    return settled


def _body(body: str, name: str, override: Override | None) -> str:
    if override is None:
        return body
    try:
        text = override.read()
    except DocumentError as error:
        raise SettingsError(f"the override of skill {name!r} cannot be used: {error}") from error
    if not text:
        raise SettingsError(f"the override of skill {name!r} is empty: disable the skill, or leave it out")
    return text if override.replaces else f"{body}\n\n{text}"


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with what stands for each declared placeholder; all others stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
