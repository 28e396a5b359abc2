"""`offing init`: a configuration to begin with, and its schema for editors."""

import argparse
import json
from pathlib import Path

from ...configuration import FILE, schema
from ...errors import ConfigurationError
from ..command import Command
from ..exits import DONE, ExitCode
from ..ground import Ground

TEMPLATE = Path(__file__).with_name("offing.yaml")
"""The commented file."""
_SCHEMA = Path(".offing") / "offing.schema.json"
"""Where the file's first line says that its schema is."""


def init(ground: Ground) -> ExitCode:
    """Writes the configuration and its schema, and says what is next.

    Raises:
        ConfigurationError: there is one already, or it cannot be written.
    """
    try:
        with Path(FILE).open("x", encoding="utf-8") as out:
            out.write(TEMPLATE.read_text("utf-8"))
        _SCHEMA.parent.mkdir(exist_ok=True)
        _SCHEMA.write_text(_schema(), "utf-8")
    except FileExistsError:
        raise ConfigurationError(f"{FILE} is there already: it is left as it is") from None
    except OSError as error:
        raise ConfigurationError(f"cannot write {FILE}: {error.strerror}") from error
    say = ground.screen.line
    say(f"written: {FILE}, and {_SCHEMA} for editors that know YAML schemas")
    say("next:")
    say("  1. name your systems in it, under `namespaces`")
    say("  2. offing namespaces list      connects them, and says what is wrong where one is not")
    say("  3. offing models               says which key the model needs, and whether it is set")
    say("  4. offing chat                 begins")
    return DONE


def _schema() -> str:
    return f"{json.dumps(schema(), ensure_ascii=False, indent=2)}\n"


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--schema", action="store_true", help="print the JSON Schema of the file instead")


def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    if not given.schema:
        return init(ground)
    ground.screen.line(_schema().rstrip())
    return DONE


INIT = Command("init", "write a commented offing.yaml to begin with", _arguments, _work, on_store=False)
