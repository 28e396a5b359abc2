"""`kind: functions`: Python functions of one's own."""

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from pydantic import JsonValue, field_validator

from ....namespaces.errors import ToolDefinitionError
from ....namespaces.functions import FunctionNamespace
from ....namespaces.functions import tool as tool_of
from ....namespaces.tool import Effect, Namespace, Tool
from ..systems import BadSetting, Kind, Site, SystemSettings, guide_of
from ..values import Shape, Text


class FunctionPolicy(Shape):
    """What holds for one function, where its `@tool` does not say it already."""

    effect: Effect | None = None
    """read: changes nothing. repeatable: twice is as once. once: never twice."""
    destructive: bool | None = None
    """Whether a person has to approve each call."""


class FunctionsSettings(SystemSettings):
    """Functions, each as `module:function`; a module beside the configuration is found too."""

    tools: dict[str, FunctionPolicy]
    """A list of them, or a mapping with what holds for each. One that is no `@tool` becomes one, never run
    twice unless it is said."""
    guide: Text = ""
    """A SKILL.md that says which tool to use when."""

    @field_validator(
        "tools", mode="before", json_schema_input_type=list[str] | dict[str, FunctionPolicy | None]
    )
    @classmethod
    def _listed(cls, value: JsonValue) -> JsonValue:
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return {str(each): {} for each in value}
        if isinstance(value, dict):
            return {where: {} if policy is None else policy for where, policy in value.items()}
        return value


def _make(name: str, settings: FunctionsSettings, site: Site) -> Namespace:
    tools = [_tool(where, policy, site.folder) for where, policy in settings.tools.items()]
    return FunctionNamespace(name, tools, guide_of(settings.guide, site))


def _tool(where: str, policy: FunctionPolicy, folder: Path) -> Tool:
    found = function_at(where, folder)
    try:
        made = found if isinstance(found, Tool) else tool_of()(cast("Callable[..., object]", found))
    except ToolDefinitionError as error:
        raise BadSetting(f"{where!r} cannot be a tool: {error}", "tools") from None
    if policy.effect is not None:
        made = replace(made, effect=policy.effect)
    return made if policy.destructive is None else replace(made, destructive=policy.destructive)


def function_at(where: str, folder: Path) -> object:
    """What is at `module:function`; modules beside the configuration are found too.

    Raises:
        BadSetting: there is no such module or function, or it cannot be imported.
    """
    module, colon, name = where.partition(":")
    if not module or not colon or not name:
        raise BadSetting(f"cannot be {where!r}: a module and a function, such as `shop.orders:find`", "tools")
    try:
        found = getattr(_imported(module, folder), name, None)
    except Exception as error:  # noqa: BLE001  whatever a user's module does when it is imported
        told = f"the module {module!r} cannot be imported: {type(error).__name__}: {error}"
        raise BadSetting(told, "tools") from None
    if not callable(found) and not isinstance(found, Tool):
        raise BadSetting(f"the module {module!r} has no function {name!r}", "tools")
    return found


def _imported(module: str, folder: Path) -> object:
    beside = str(folder)
    if beside in sys.path:
        return importlib.import_module(module)
    sys.path.insert(0, beside)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(beside)


KIND = Kind(FunctionsSettings, _make, "Python functions of one's own, as `module:function`")
