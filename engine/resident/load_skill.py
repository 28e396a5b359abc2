"""Loads a skill, or a file that belongs to one."""

import mimetypes
from typing import Annotated

from pydantic import Field

from ...namespaces.arguments import nearest
from ...namespaces.functions import tool
from ...namespaces.tool import Attachment, Effect, ToolContext, ToolOutput
from ...skills import ResourceError, Skill
from ..prompts import prompt
from ..results import SHOWN_AS_MEDIA
from ..run_state import ActiveSkill
from ..session_skills import is_active
from ..store.facts import SkillActivated
from .desk import Desk, desk


@tool(effect=Effect.READ)
async def load_skill(
    name: Annotated[str, Field(min_length=1, description="As the list of skills has it.")],
    context: ToolContext,
    resource: Annotated[
        str | None, Field(min_length=1, description="A file that the skill lists, to read it instead.")
    ] = None,
) -> ToolOutput:
    """Loads a skill, the guide to one kind of work, or reads a file that it lists."""
    at = desk(context)
    skill = at.skills.find(name)
    if skill is None:
        return ToolOutput(at.skills.unknown(name), error=True)
    if resource is not None:
        return _resource(skill, resource)
    sections = skill.structure.sections
    if is_active(skill, at.state.skills):
        at.also.append(SkillActivated(skill.name, skill.version, "model", sections))
        return ToolOutput(_active(skill, _place(at.state.skills[skill.name])))
    if _is_asked_for_already(skill, at):
        return ToolOutput(_active(skill, "the result of another call of this reply"))
    at.also.append(SkillActivated(skill.name, skill.version, "model", sections, call=at.call))
    return ToolOutput(at.skills.content(skill))


def _is_asked_for_already(skill: Skill, at: Desk) -> bool:
    """Whether an earlier call of the same reply loads it: calls of one reply run at the same time."""
    for identity, call in at.state.current.calls.items():
        if identity == at.call:
            return False
        name = call.arguments.get("name")
        whole = call.name == "load_skill" and call.arguments.get("resource") is None
        if whole and isinstance(name, str) and at.skills.find(name) is skill:
            return True
    return False


def _active(skill: Skill, where: str) -> str:
    return prompt("skill_active", skill=skill.name, version=skill.version, where=where)


def _place(active: ActiveSkill) -> str:
    if active.call:
        return "the result of an earlier call of `load_skill`"
    return "the session's context" if active.message is None else "a note above"


def _resource(skill: Skill, path: str) -> ToolOutput:
    """A resource as a model can read it. The path is looked up among those listed, never followed."""
    known = [each.path for each in skill.resources]
    plain = path.strip().removeprefix("./")
    if plain not in known:
        same_name = (each for each in known if each.endswith(f"/{plain}"))
        meant = next(same_name, None) or nearest(plain, known)
        hint = f" Did you mean {meant!r}?" if meant else ""
        listed = ", ".join(known) or "none"
        return ToolOutput(f"skill {skill.name} has no file {path!r}.{hint} It has: {listed}", error=True)
    try:
        data = skill.resource(plain)
    except ResourceError as error:
        return ToolOutput(str(error), error=True)
    mime = mimetypes.guess_type(plain)[0] or "application/octet-stream"
    if mime in SHOWN_AS_MEDIA:
        return ToolOutput(plain, attachments=(Attachment(plain, data, mime),))
    try:
        return ToolOutput(data.decode("utf-8"))
    except UnicodeDecodeError:
        return ToolOutput(f"{plain} is no UTF-8 text ({len(data):,} bytes) and cannot be shown", error=True)
