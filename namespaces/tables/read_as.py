"""The tool by which a person's word decides how a file is read."""

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from ..errors import NamespaceError
from ..functions import tool
from ..tool import Effect, Tool, ToolOutput
from .decision import Decision
from .identity import Identity
from .source import Finding, shown_findings

_File = Annotated[str, Field(description="Its name, as findings have it")]
_DayFirst = Annotated[bool | None, Field(description="True: 03/04 is the third of April")]
_Decimal = Annotated[Literal[".", ","] | None, Field(description="The decimal mark: is 1,234 a thousand?")]
_Currency = Annotated[
    str | None, Field(pattern="^[A-Z]{3}$", description="ISO 4217 code, for a file that names none")
]
_Columns = Annotated[
    dict[str, str] | None,
    Field(
        max_length=40,
        description="Column of each role, by its name or, without a header, its number from 1:"
        ' {"date": "Data operacji", "amount": "Kwota"}',
    ),
]
_Forget = Annotated[bool, Field(description="True: forget what was decided before")]


class Decides(Protocol):
    """Files about which a person can decide."""

    def decide(self, file: str, decision: Decision) -> Identity:
        """Keeps a decision; raises NamespaceError when the file cannot be read like that."""
        ...

    def forget(self, file: str) -> Identity:
        """Forgets what was decided; raises NamespaceError when there is no such file."""
        ...

    def told(self, file: str) -> Sequence[Finding]:
        """What is odd about a file as it is read now."""
        ...


def read_as_tool(files: Decides) -> Tool:
    """The tool that asks for nothing but what the user said: it never decides by itself."""

    def read_as(
        *,
        file: _File,
        day_first: _DayFirst = None,
        decimal: _Decimal = None,
        currency: _Currency = None,
        columns: _Columns = None,
        forget: _Forget = False,
    ) -> ToolOutput:
        """Reads a file as the user decided, and keeps that for its account or layout. Ask the user first."""
        decision = Decision(day_first, decimal, currency, columns or {})
        if forget == (decision != Decision()):
            raise NamespaceError(
                "say one of day_first, decimal, currency and columns; or forget=true, and nothing else"
            )
        identity = files.forget(file) if forget else files.decide(file, decision)
        content: dict[str, JsonValue] = {
            "file": file,
            "forgotten_for" if forget else "kept_for": identity.label,
            "findings": shown_findings(files.told(file)),
        }
        return ToolOutput(content)

    return tool(effect=Effect.REPEATABLE)(read_as)
