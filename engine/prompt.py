"""The prompt's first two layers, built once a session: pure functions of what the host said.

Layer 1 is the static system prompt and the tool definitions: the same bytes for every session with
the same namespaces. Layer 2 is the stable context of one session. History and the newest results are
layers 3 and 4; they only grow, and `wire.py` keeps them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .models.model import Context, Frame, Static, ToolDefinition
from .prompts import prompt
from .scrub import scrub, scrub_fields


@dataclass(frozen=True, slots=True)
class About:
    """What a session is about, as the host knows it. Empty fields are left out of the prompt."""

    company: str = ""
    entities: Sequence[str] = ()
    """The company's entities and accounts, one line each."""
    user: str = ""
    """Who asks, and in what role."""
    period: str = ""
    """The period in question, such as `September 2026`."""
    more: str = ""
    """Anything else that holds for the whole session."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A namespace that is not there in this session."""

    name: str
    reason: str


def build_frame(
    definitions: Sequence[ToolDefinition],
    about: About,
    date: str,
    guides: Mapping[str, str],
    disconnected: Sequence[Disconnected] = (),
    skills: Sequence[str] = (),
) -> Frame:
    """The frame of a session.

    `guides` maps a namespace to the text of its guide; `skills` is what the model is told of skills.
    """
    in_order = tuple(sorted(map(scrub_fields, definitions), key=lambda definition: definition.name))
    parts = [
        prompt("context", about=_about(about), date=date),
        *(_guide(name, guides[name]) for name in sorted(guides)),
        *(f"The system {one.name} is not connected: {one.reason}" for one in disconnected),
        *skills,
    ]
    return Frame(Static(prompt("system"), in_order), Context(scrub("\n\n".join(parts))))


def _about(about: About) -> str:
    lines = [
        f"{label}: {value}"
        for label, value in (
            ("Company", about.company),
            ("Entities and accounts", "".join(f"\n- {entity}" for entity in about.entities)),
            ("User", about.user),
            ("Period", about.period),
        )
        if value
    ]
    return "\n".join([*lines, about.more] if about.more else lines)


def _guide(name: str, text: str) -> str:
    return f'<guide namespace="{name}">\n{text.strip()}\n</guide>'
