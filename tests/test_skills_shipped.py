"""The shipped workflow skills: what they name is there, and they fit where they are loaded."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import pytest

from offing.engine import Limits
from offing.engine.cli.demo import SEPTEMBER
from offing.engine.session_skills import session_skills
from offing.namespaces import Namespace, Tool
from offing.namespaces.bank import Bank
from offing.namespaces.entries import Entries
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching import Matching
from offing.skills import SHIPPED, Skill, SkillFolders, SkillSettings

NAMES = sorted(path.name for path in SHIPPED.iterdir())
SYSTEMS = ("bank", "ledger", "matching", "entries")
TOOL = re.compile(rf"\b((?:{'|'.join(SYSTEMS)})__[a-z_]+)(?:\(([^()]*)\))?")
RESOURCE = re.compile(r"\breferences/[\w./-]+")

SKILLS = session_skills(SkillFolders(), SkillSettings(), SYSTEMS)


def skill(name: str) -> Skill:
    return SKILLS.catalogue.skills[name]


def texts(name: str) -> dict[str, str]:
    """All that a model can be shown of a skill, by where it stands."""
    of = skill(name)
    return {"SKILL.md": of.body, **{each.path: of.resource(each.path).decode() for each in of.resources}}


@pytest.fixture(scope="module")
def tools() -> Mapping[str, Tool]:
    """The tools of the shipped systems, by the name that a model calls them by."""
    bank, ledger = Bank(SEPTEMBER.bank), Ledger(SEPTEMBER.ledger)
    systems: list[Namespace] = [bank, ledger, Matching(bank, ledger), Entries(ledger)]

    async def connect() -> dict[str, Tool]:
        found: dict[str, Tool] = {}
        for system in systems:
            async with system.connect({}) as its:
                found |= {f"{system.name}__{each.name}": each for each in its}
        return found

    return asyncio.run(connect())


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_and_argument_that_a_skill_names_is_there(name: str, tools: Mapping[str, Tool]) -> None:
    for text in texts(name).values():
        for called, arguments in TOOL.findall(text):
            assert called in tools, called
            schema: Mapping[str, Any] = tools[called].schema
            given = [each.partition("=")[0].strip(" `") for each in arguments.split(",") if each.strip()]
            assert set(given) <= set(schema["properties"]), (called, given)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_a_skill_names_is_there_and_every_file_is_named(name: str) -> None:
    of = texts(name)
    body = of.pop("SKILL.md")
    assert {each.rstrip(".") for each in RESOURCE.findall(body)} == set(of)
    assert [path for path, text in of.items() if RESOURCE.search(text)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_other_skill_that_a_skill_names_is_there(name: str) -> None:
    for text in texts(name).values():
        named = re.findall(r"\*\*([a-z]+(?:-[a-z]+)+)\*\*", text)
        assert set(named) <= set(NAMES), named


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_loaded_whole_and_within_what_the_standard_advises(name: str) -> None:
    content = SKILLS.content(skill(name))
    assert len(content) < Limits().result_chars
    assert skill(name).body.count("\n") < 500
    assert all(len(text) < Limits().result_chars for text in texts(name).values())


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_needs_the_systems_that_its_steps_call(name: str) -> None:
    """But for entries, which each skill does without: it says so."""
    called = {each.partition("__")[0] for each, _ in TOOL.findall(skill(name).body)} - {"entries"}
    assert set(skill(name).namespaces) <= set(SYSTEMS)
    assert called - set(skill(name).namespaces) <= {"matching"}


def test_a_general_investigation_needs_no_system_at_all() -> None:
    assert skill("general-investigation").namespaces == ()
    assert TOOL.findall("".join(texts("general-investigation").values())) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_of_the_sections_that_a_skill_asks_for_lacks_none(name: str) -> None:
    structure = skill(name).structure
    assert len(structure.sections) >= 3
    assert structure.missing(texts(name)["references/output.md"]) == ()
    assert structure.missing("It ties.") == structure.sections


def test_no_placeholder_is_left_over() -> None:
    assert [name for name in NAMES if "${" in "".join(texts(name).values())] == []


def test_each_skill_is_in_a_folder_of_its_own_without_code() -> None:
    assert {path.suffix for path in SHIPPED.rglob("*") if path.is_file()} == {".md"}
    assert sorted(SKILLS.catalogue.skills) == NAMES
    assert SKILLS.catalogue.findings == ()
