"""The skills of one session, and the words in which the model is told of them.

A skill becomes active in one of three ways. The host names it when it opens the session: its text is then
part of the frame. The user names it in a message: its text is a note right after that message. The model
loads it: its text is a result. Nothing of it is ever put into what was sent before.
"""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from ..skills import Catalogue, SettingsError, Skill, SkillFolders, SkillSettings, catalogue_of
from .errors import ConfigurationError
from .prompts import prompt
from .run_state import ActiveSkill
from .scrub import scrub
from .store.facts import SkillActivated

LISTED_CHARS = 20_000
"""Characters that the list of skills may have: some 5,000 tokens in every session's context."""
_DESCRIPTION = 1024
"""Characters of a description that are listed: what the standard allows."""
_SHORT = 120
"""The same where whole descriptions are too much."""
_AT_ONCE = 3
"""Skills that one message can activate."""
_NEAREST = 5
_RELEVANT = 3
"""Words that a task has to have in common with a skill that it did not name."""
_EVERYWHERE = frozenset(
    [
        "about",
        "after",
        "again",
        "against",
        "because",
        "before",
        "being",
        "between",
        "could",
        "every",
        "first",
        "other",
        "right",
        "should",
        "since",
        "their",
        "there",
        "these",
        "thing",
        "those",
        "through",
        "under",
        "until",
        "where",
        "which",
        "while",
        "whose",
        "would",
    ]
)
_NAMED = 50
"""Names that an answer lists."""

_log = logging.getLogger("offing")


@dataclass(frozen=True, slots=True)
class SessionSkills:
    """The skills that a session has."""

    catalogue: Catalogue = field(default_factory=Catalogue)
    start: tuple[str, ...] = ()
    """Those that are part of its frame."""
    systems: frozenset[str] = frozenset()
    """The namespaces that are connected."""

    def find(self, name: str) -> Skill | None:
        """The skill of that name; None when the session has none."""
        return self.catalogue.skills.get(name.strip().removeprefix("/").casefold()) or (
            self.catalogue.skills.get(name.strip())
        )

    def parts(self) -> tuple[str, ...]:
        """What the session's context says of skills: the list, then those that are active from the start.

        A skill that builds on a system which is not connected is not listed; it can still be loaded, and
        says then what it lacks.
        """
        listed = [
            skill
            for name, skill in self.catalogue.skills.items()
            if name not in self.start and not self._lacking(skill)
        ]
        text = listing(listed)
        return (
            *([prompt("skills", list=text)] if text else []),
            *(self.content(self.catalogue.skills[name]) for name in self.start),
        )

    def activations(self) -> tuple[SkillActivated, ...]:
        """The facts of the skills that are active from the start."""
        return tuple(
            SkillActivated(name, skill.version, "start", skill.structure.sections)
            for name, skill in self.catalogue.skills.items()
            if name in self.start
        )

    def requested(self, text: str, active: Mapping[str, ActiveSkill]) -> tuple[SkillActivated, ...]:
        """The facts of the skills that a user's message names. One that the model has is not told again."""
        return tuple(
            SkillActivated(
                skill.name,
                skill.version,
                "request",
                skill.structure.sections,
                text="" if is_active(skill, active) else scrub(self.content(skill)),
            )
            for skill in self.catalogue.named_in(text, _AT_ONCE)
            if skill.name not in self.start or skill.name in active
        )

    def content(self, skill: Skill) -> str:
        """A skill as the model reads it."""
        lacking = self._lacking(skill)
        resources = "\n".join(f"- {each.path} ({each.size:,} bytes)" for each in skill.resources)
        sections = ", ".join(f'"{each}"' for each in skill.structure.sections)
        about = [
            prompt("skill_systems", systems=", ".join(lacking)) if lacking else "",
            prompt("skill_sections", sections=sections) if sections else "",
            prompt("skill_tools", tools=" ".join(skill.allowed_tools)) if skill.allowed_tools else "",
            prompt("skill_resources", list=resources) if resources else "",
        ]
        return prompt(
            "skill_content",
            skill=escape(skill.name),
            version=escape(skill.version),
            body="\n\n".join([skill.body, *filter(None, about)]),
        )

    def relevant(self, text: str, systems: Collection[str] | None = None) -> str:
        """The skill that a strand works by when none is named; empty for none.

        It is the one whose name and description have the most words in common with the strand's title and
        task, three at least; of several the first by name. Words are compared by their first six letters,
        and those of less than five letters do not count, nor do those that every text has. A skill that
        builds on a system which the strand may not call is not asked.
        """
        wanted, best = _stems(text), ("", _RELEVANT - 1)
        for name, skill in self.catalogue.skills.items():
            usable = self.systems if systems is None else self.systems & set(systems)
            if usable.issuperset(skill.namespaces):
                common = len(wanted & _stems(f"{name} {skill.description}"))
                best = (name, common) if common > best[1] else best
        return best[0]

    def unknown(self, name: str) -> str:
        """The answer to the name of a skill that the session does not have."""
        names = list(self.catalogue.skills)
        if not names:
            return prompt("skill_unknown", skill=repr(name[:100]), there="It has no skills at all.")
        close = self.catalogue.nearest(name[:1_000], _NEAREST)
        more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        there = f"There are: {', '.join(names[:_NAMED])}{more}."
        if close:
            there = f"Nearest: {', '.join(close)}. {there}"
        return prompt("skill_unknown", skill=repr(name[:100]), there=there)

    def _lacking(self, skill: Skill) -> list[str]:
        return [each for each in skill.namespaces if each not in self.systems]


def session_skills(folders: SkillFolders, settings: SkillSettings, systems: Collection[str]) -> SessionSkills:
    """Reads a session's skills. It blocks.

    Raises:
        ConfigurationError: the settings do not fit the skills there are.
    """
    try:
        catalogue = catalogue_of(folders.read(), settings)
    except SettingsError as error:
        raise ConfigurationError(str(error)) from error
    for finding in catalogue.findings:
        _log.warning("skill %s%s: %s", finding.skill, "" if finding.used else " is not used", finding.text)
    return SessionSkills(catalogue, tuple(dict.fromkeys(settings.start)), frozenset(systems))


def listing(skills: Sequence[Skill]) -> str:
    """The list of skills, a line each, by name; empty when there are none.

    Up to `LISTED_CHARS` it is whole. Where it would be longer, descriptions are cut to their beginning;
    where that does not help, names stand alone, and those that do not fit are counted.
    """
    for shown in (_DESCRIPTION, _SHORT):
        text = "\n".join(f"- {skill.name}: {_cut(skill.description, shown)}" for skill in skills)
        if len(text) <= LISTED_CHARS:
            return text
    names = [f"- {skill.name}" for skill in skills]
    kept = 0
    while kept < len(names) and len("\n".join(names[: kept + 1])) <= LISTED_CHARS:
        kept += 1
    left = len(names) - kept
    told = [f"{left} more are not listed: `load_skill` with words of the work names the nearest."]
    return "\n".join([*names[:kept], *(told if left else [])])


def is_active(skill: Skill, active: Mapping[str, ActiveSkill]) -> bool:
    """Whether the model has this very version of a skill."""
    return skill.name in active and active[skill.name].version == skill.version


def _stems(text: str) -> set[str]:
    words = re.findall(r"[^\W\d_]{5,}", text.casefold())
    return {word[:6] for word in words if word not in _EVERYWHERE}


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."
