"""From a file to a configuration: read, then checked part by part, so that every problem is told at once."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue, ValidationError

from ..errors import ConfigurationError
from .configuration import Configuration
from .problems import problems_of, unknown
from .settings import Settings
from .source import Problem, Source, Unusable, read_source
from .systems import Kind, SystemSettings, kinds

FILE = "offing.yaml"
"""What a configuration is called unless another file is named."""


def load(path: str | Path = FILE) -> Configuration:
    """Reads and checks a configuration. Nothing is opened, imported or connected.

    Raises:
        Unusable: something is wrong with it; each problem with its line, its key and what would be right.
        ConfigurationError: the file cannot be read.
    """
    place = Path(path)
    if not place.is_file():
        raise ConfigurationError(f"there is no file {str(path)!r}: `offing init` writes one")
    return configuration_of(read_source(place))


def empty(path: Path) -> Configuration:
    """What holds where there is no file: `path` is where it would be."""
    return configuration_of(Source(path))


def configuration_of(source: Source) -> Configuration:
    """What a source says, checked.

    Raises:
        Unusable: something is wrong with it.
    """
    problems: list[Problem] = []
    settings = Settings()
    try:
        settings = Settings.model_validate(source.values)
    except ValidationError as error:
        problems += problems_of(error, Settings, source)
    systems = dict(_systems(source, problems))
    if problems:
        raise Unusable(source.file, tuple(sorted(problems)))
    return Configuration(source, settings, _in_order(systems))


def _systems(source: Source, problems: list[Problem]) -> Iterator[tuple[str, SystemSettings]]:
    """What is said of each namespace, as its kind has it."""
    written = source.values.get("namespaces")
    for name, said in written.items() if isinstance(written, dict) else ():
        key = ("namespaces", name)
        values = {} if said is None else said
        if not isinstance(values, dict):
            continue  # told already: it is no mapping
        kind = _kind(name, values, source, problems)
        if kind is None:
            continue
        try:
            settings = kind.settings.model_validate({**values, "kind": values.get("kind", name)})
            yield name, settings
        except ValidationError as error:
            problems += problems_of(error, kind.settings, source, key)


def _kind(
    name: str, values: Mapping[str, JsonValue], source: Source, problems: list[Problem]
) -> "Kind[SystemSettings] | None":
    known = kinds()
    said = values.get("kind", name)
    if isinstance(said, str) and said in known:
        return known[said]
    key = ("namespaces", name, *(["kind"] if "kind" in values else []))
    if "kind" in values:
        text = f"cannot be {said!r}: it {unknown(str(said), list(known), 'kind')}"
    else:
        text = f"needs a `kind`: one of {', '.join(known)}"
    problems.append(source.problem(key, text))
    return None


def _in_order(systems: Mapping[str, SystemSettings]) -> Mapping[str, SystemSettings]:
    """Those first that others rest on."""
    known = kinds()
    return dict(sorted(systems.items(), key=lambda each: bool(known[each[1].kind].after)))
