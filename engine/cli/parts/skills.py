"""`offing skills`: which there are, what one says, and whether one is as the standard wants it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ....skills import Catalogue, SettingsError, catalogue_of, validate
from ...errors import ConfigurationError
from ..command import Command, completes_files
from ..exits import DONE, FAILED, ExitCode
from ..ground import Ground

_DESCRIPTION = 100
"""Characters of a description that the list shows."""


def catalogue(ground: Ground) -> Catalogue:
    """The skills as a session of the configuration has them.

    Raises:
        ConfigurationError: the settings do not fit the skills there are.
    """
    configuration = ground.configuration
    gathered = configuration.settings.skills.made_folders(configuration.folder).read()
    try:
        return catalogue_of(gathered, configuration.skills)
    except SettingsError as error:
        raise ConfigurationError(str(error)) from error


def listed(ground: Ground) -> ExitCode:
    """Lists the skills, and what is odd about them; 1 when one is not there because of it."""
    found = catalogue(ground)
    width = max((len(name) for name in found.skills), default=0) + 2
    for name, skill in found.skills.items():
        text = skill.description
        short = text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 3]}..."
        ground.screen.line(f"{name:<{width}}{short}")
    for finding in found.findings:
        ground.screen.line(f"! {finding.skill}{'' if finding.used else ' is not used'}: {finding.text}")
    return DONE if all(finding.used for finding in found.findings) else FAILED


def shown(ground: Ground, name: str) -> ExitCode:
    """Shows a skill as a model reads it.

    Raises:
        ConfigurationError: there is no such skill.
    """
    found = catalogue(ground)
    if name not in found.skills:
        close = found.nearest(name, 3)
        hint = f"nearest are {', '.join(close)}" if close else f"there are {', '.join(found.skills)}"
        raise ConfigurationError(f"there is no skill {name!r}: {hint}")
    skill = found.skills[name]
    ground.screen.line(f"{skill.name} {skill.version}, in {skill.folder}")
    ground.screen.line(skill.description)
    for each in skill.resources:
        ground.screen.line(f"  {each.path}, {each.size:,} bytes")
    ground.screen.line()
    ground.screen.line(skill.body)
    return DONE


def validated(ground: Ground, folders: Sequence[str]) -> ExitCode:
    """Says of each folder what is not as the standard wants it; 1 when something is."""
    wrong = 0
    for folder in folders:
        problems = validate(Path(folder))
        wrong += bool(problems)
        for line in problems or ["right"]:
            ground.screen.line(f"{folder}: {line}")
    return FAILED if wrong else DONE


def _arguments(made: argparse.ArgumentParser) -> None:
    below = made.add_subparsers(dest="what", required=True, metavar="list|show|validate")
    below.add_parser("list", help="which there are, and what is odd about them")
    one = below.add_parser("show", help="one as a model reads it")
    one.add_argument("name")
    checked = below.add_parser("validate", help="whether folders are skills as the standard wants them")
    completes_files(checked.add_argument("folders", nargs="+", metavar="FOLDER"))


def _work(given: argparse.Namespace, ground: Ground) -> ExitCode:
    match given.what:
        case "list":
            return listed(ground)
        case "show":
            return shown(ground, given.name)
        case _:
            return validated(ground, given.folders)


SKILLS = Command("skills", "guides to kinds of work: list, show, validate", _arguments, _work)
