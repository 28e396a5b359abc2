"""The skills of one session: those that its settings let it see."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from .errors import SettingsError
from .folders import Finding, Gathered
from .skill import Override, Skill, skill_of
from .written import Written

_WORD = re.compile(r"(?<![\w./-])(/?)(\w[\w-]*)(?![\w/-]|\.\w)")
"""A word that stands by itself, not as a part of a path or of a file's name."""


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """Which skills a session has, and how they are for this customer."""

    start: Sequence[str] = ()
    """Skills that are active from the first run on: their text is part of the session's context."""
    enabled: Collection[str] | None = None
    """The only skills that are there; None for all."""
    disabled: Collection[str] = ()
    """Skills that are not there."""
    features: Collection[str] = ()
    """Flags that are on. A skill with a flag (`feature` in its metadata) is there only when it is."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """Per skill, what stands for the placeholders it declares (`config.NAME` in its metadata)."""
    overrides: Mapping[str, Override] = field(default_factory=dict[str, Override])
    """Per skill, what it says differently here."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills that a session has. One that is hidden by its settings is as if it did not exist."""

    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    findings: tuple[Finding, ...] = ()
    """For the host: what is odd about skills, and which are not there because of it."""

    def nearest(self, text: str, most: int) -> tuple[str, ...]:
        """The names that were probably meant, best first: close in writing, else with words in common."""
        close = get_close_matches(text.casefold(), self.skills, n=most, cutoff=0.6)
        words = set(re.findall(r"\w{3,}", text.casefold()))
        scores = {
            name: len(words & set(re.findall(r"\w{3,}", f"{name} {skill.description}".casefold())))
            for name, skill in sorted(self.skills.items())
        }
        by_words = sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])
        return tuple(dict.fromkeys([*close, *by_words]))[:most]

    def named_in(self, text: str, most: int) -> tuple[Skill, ...]:
        """The skills that a message names, in its order: `/name` anywhere, or a name with a hyphen as it is.

        A name that is one word is meant only behind a slash: `reconcile` is also a word of its own.
        """
        by_name = {name.casefold(): skill for name, skill in self.skills.items()}
        words = ((found[1], found[2].casefold()) for found in _WORD.finditer(text))
        meant = dict.fromkeys(word for slash, word in words if word in by_name and (slash or "-" in word))
        return tuple(by_name[word] for word in meant)[:most]


def catalogue_of(gathered: Gathered, settings: SkillSettings) -> Catalogue:
    """The skills that the settings leave, as they are for this session.

    Raises:
        SettingsError: a name is that of no skill, a skill that is to be active from the start is not
            there, a value or an override does not fit its skill, or the features are one text.
    """
    if isinstance(settings.features, str):  # a text has parts, and each would be a flag
        raise SettingsError(f"features is {settings.features!r}; it has to be a set of names")
    for named in (settings.enabled or (), settings.disabled, settings.values, settings.overrides):
        for name in named:
            _check_known(name, gathered)
    skills = {
        name: skill_of(written, settings.values.get(name), settings.overrides.get(name))
        for name, written in sorted(gathered.skills.items())
        if not _hidden(written, settings)
    }
    for name in settings.start:
        _check_known(name, gathered)
        if name not in skills:
            raise SettingsError(
                f"skill {name!r} cannot be active: {_hidden(gathered.skills[name], settings)}"
            )
    return Catalogue(skills, gathered.findings)


def _hidden(written: Written, settings: SkillSettings) -> str:
    """Why a session does not have a skill; empty when it has."""
    name = written.document.name
    if name in settings.disabled:
        return "it is disabled"
    if settings.enabled is not None and name not in settings.enabled:
        return "it is not among those that are enabled"
    if written.feature and written.feature not in settings.features:
        return f"its flag {written.feature!r} is not on"
    return ""


def _check_known(name: str, gathered: Gathered) -> None:
    if name in gathered.skills:
        return
    unused = [each for each in gathered.findings if not each.used and Path(each.skill).name == name]
    if unused:
        raise SettingsError(f"skill {name!r} is not there: {unused[0].text}")
    close = get_close_matches(name, gathered.skills, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    known = ", ".join(sorted(gathered.skills)) or "none"
    raise SettingsError(f"there is no skill {name!r}.{hint} There are: {known}")
