"""What systems over a user's files have in common: the files, and how they are to be read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

from pydantic import Field, JsonValue, field_validator

from ....namespaces.tables.readings import Readings
from ..systems import BadSetting, Site, SystemSettings
from ..values import Text


class FileSettings(SystemSettings):
    """Files, and what they leave open."""

    files: tuple[Text, ...] = ()
    """Paths and patterns, such as `statements/*.ofx`; relative ones begin beside the configuration."""
    day_first: bool | None = None
    """Whether 03/04 is the third of April, for files that leave it open."""
    decimal: Literal[".", ","] | None = None
    """The decimal mark, for files that leave it open."""
    currency: str | None = None
    """ISO 4217 code, for files that name none."""
    columns: dict[str, str] = Field(default_factory=dict[str, str])
    """The column of each role, for tables whose header is not known: `date: Kiedy`."""

    @field_validator("files", mode="before", json_schema_input_type=str | list[str])
    @classmethod
    def _one(cls, value: JsonValue) -> JsonValue:
        return [value] if isinstance(value, str) else value

    @field_validator("columns", mode="before", json_schema_input_type=dict[str, str | int])
    @classmethod
    def _numbered(cls, value: JsonValue) -> JsonValue:
        """A column by its number is one too."""
        if isinstance(value, dict):
            return {role: str(name) if isinstance(name, int) else name for role, name in value.items()}
        return value


class Reading(TypedDict):
    """As the namespaces over files take it."""

    day_first: bool | None
    decimal: Literal[".", ","] | None
    currency: str | None
    columns: Mapping[str, str]
    readings: Readings | None


def reading_of(settings: FileSettings, site: Site) -> Reading:
    """How the files are to be read."""
    return Reading(
        day_first=settings.day_first,
        decimal=settings.decimal,
        currency=settings.currency,
        columns=settings.columns,
        readings=site.readings,
    )


def files_of(settings: FileSettings, site: Site) -> Sequence[Path]:
    """The files, those of a pattern in the order of their names.

    Raises:
        BadSetting: none is named, there is no such file, or a pattern fits none.
    """
    if not settings.files:
        raise BadSetting("is missing: name at least one file", "files")
    found: list[Path] = []
    for place, each in enumerate(settings.files):
        fitting = _fitting(site.folder / Path(each).expanduser())
        if not fitting:
            what = "no file fits" if set("*?[") & set(each) else "there is no file"
            raise BadSetting(f"{what} {str(site.folder / each)!r}", "files", place)
        found += fitting
    return list(dict.fromkeys(found))


def _fitting(pattern: Path) -> list[Path]:
    if pattern.is_file():  # whatever characters its name has
        return [pattern]
    root = Path(pattern.anchor)
    return sorted(path for path in root.glob(str(pattern.relative_to(root))) if path.is_file())
