"""What the file says of skills."""

from pathlib import Path

from pydantic import Field, model_validator

from ...skills import Override, SkillFolders, SkillSettings
from .values import Shape, Text


class OverrideSettings(Shape):
    """What a skill says differently here: a text, or the file that it is in."""

    text: str = ""
    """Markdown."""
    file: Text = ""
    """A file with Markdown."""
    replaces: bool = False
    """True puts it in the place of the skill's body; false puts it behind the body."""

    @model_validator(mode="after")
    def _one(self) -> "OverrideSettings":
        if bool(self.text) == bool(self.file):
            raise ValueError("has to have either `text` or `file`")
        return self

    def made(self, folder: Path) -> Override:
        """As a session takes it."""
        return Override(self.text or folder / self.file, self.replaces)


class SkillsSettings(Shape):
    """Guides to kinds of work. Their text goes to the model as it stands: give only what you trust."""

    folders: tuple[Text, ...] = ()
    """Folders of skills, beside the shipped ones; of two of one name, that of the later folder is used."""
    shipped: bool = True
    """Whether the workflow skills of the library are there too."""
    start: tuple[str, ...] = ()
    """Skills that are active from the first run on."""
    enabled: tuple[str, ...] | None = None
    """The only skills that are there; none for all."""
    disabled: tuple[str, ...] = ()
    """Skills that are not there."""
    features: tuple[str, ...] = ()
    """Flags that are on."""
    values: dict[str, dict[str, Text]] = Field(default_factory=dict[str, dict[str, Text]])
    """Per skill, what stands for the placeholders that it declares."""
    overrides: dict[str, OverrideSettings] = Field(default_factory=dict[str, OverrideSettings])
    """Per skill, what it says differently here."""

    def made_folders(self, folder: Path) -> SkillFolders:
        """Where skills are read from."""
        return SkillFolders(tuple(folder / each for each in self.folders), self.shipped)

    def made(self, folder: Path) -> SkillSettings:
        """Which ones a session has."""
        return SkillSettings(
            self.start,
            self.enabled,
            self.disabled,
            self.features,
            self.values,
            {name: each.made(folder) for name, each in self.overrides.items()},
        )
