"""One run as a trace: what each of its facts means for its spans."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from ...compaction.conversation import Message, Text
from ...tracing.bounded import DOCUMENT, Json, newest, text
from ...tracing.span import Attribute, Link, Span
from ..store.facts import (
    Began,
    Checked,
    Faulted,
    Linked,
    Noted,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    Started,
    Stopped,
    TasksSet,
    Waited,
)
from ..store.people import Answered, CancelAsked, Decided, Expired, Questioned, Refused, Requested, Said
from . import parts
from .content import messages_of
from .parts import Asking
from .stretch import Place, Stretch

_MESSAGES = 200
"""The newest messages, of which as many are told as fit."""

RunFact = (
    Began
    | Resumed
    | Noted
    | Replied
    | Faulted
    | Waited
    | Started
    | Settled
    | TasksSet
    | Linked
    | Checked
    | SkillActivated
    | Requested
    | Questioned
    | Expired
    | Decided
    | Answered
    | Said
    | CancelAsked
    | Refused
    | Stopped
)
"""The facts of one run; the others are about its stream."""


@dataclass(frozen=True, slots=True)
class About:
    """What a trace tells beside its rows."""

    model: str = ""
    """As configured, such as `anthropic:claude-opus-5-5`."""
    window: int | None = None
    """Tokens that the model takes; None when unknown."""
    content: bool = False
    """Whether what was said is told."""
    versions: tuple[tuple[str, str], ...] = ()
    """Of the prompt and of this library, by what they are of."""


class _Waiting(NamedTuple):
    asked: Requested | Questioned
    since: int


@dataclass(slots=True)
class _Mark:
    """What was seen of the newest model call while it went on; 0 for what was not."""

    asked_us: int = 0
    first_chunk_us: int = 0
    effort: str | None = None


@dataclass(slots=True)
class RunTrace:
    """The fold of one run's rows and marks: each gives the spans that it ends.

    It grows with what is open, never with what was said and done.
    """

    run: str
    place: Place
    about: About
    links: tuple[Link, ...] = ()
    _stretch: Stretch | None = None
    """None while nobody works on it."""
    _stretches: int = 0
    _replies: int = 0
    _replied_at: int = 0
    _at: int = 0
    """Time of the run's newest row."""
    _mark: _Mark = field(default_factory=_Mark)
    _waiting: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    _skills: dict[str, str] = field(default_factory=dict[str, str])
    _user: str = ""
    _asked: str = ""
    _answer: str = ""
    _said: deque[Message] = field(default_factory=lambda: deque[Message](maxlen=_MESSAGES))

    def asks(self, at_us: int, effort: str | None) -> list[Span]:
        """Mark: the model is asked."""
        self._mark = _Mark(at_us, effort=effort)
        return [] if self._stretch is None else self._stretch.asks(at_us, self._replies + 1)

    def chunk(self, at_us: int) -> list[Span]:
        """Mark: a piece of the reply came. The first one counts."""
        self._mark.first_chunk_us = self._mark.first_chunk_us or at_us
        return []

    def begins(self, call: str, at_us: int) -> list[Span]:
        """Mark: a call of a tool begins."""
        if self._stretch is not None:
            self._stretch.begins(call, at_us)
        return []

    def kept(self, took_us: int) -> list[Span]:
        """Mark: so long was waited for the journal."""
        if self._stretch is not None:
            self._stretch.kept(took_us)
        return []

    def take(self, fact: RunFact, at_us: int) -> list[Span]:
        """Takes a fact in; gives the spans that it ends."""
        before, self._at = self._at or at_us, at_us
        self._hear(fact)
        match fact:
            case Began():
                self._user, self._asked = fact.by, fact.message.text
            case Resumed():
                return self._go_on(before, at_us)
            case SkillActivated():
                self._skills[fact.name] = fact.version
            case Requested() | Questioned():
                self._waiting[fact.call] = _Waiting(fact, at_us)
            case TasksSet() | Linked() | Said() | CancelAsked() | Refused():
                pass
            case _:
                if self._stretch is not None:
                    return self._at_work(self._stretch, fact, before, at_us)
        return []

    def _at_work(  # noqa: C901, PLR0911, PLR0912  it only routes
        self,
        here: Stretch,
        fact: Replied
        | Faulted
        | Waited
        | Started
        | Settled
        | Noted
        | Checked
        | Expired
        | Decided
        | Answered
        | Stopped,
        before: int,
        at_us: int,
    ) -> list[Span]:
        match fact:
            case Replied():
                return self._replied(here, fact, before, at_us)
            case Faulted():
                spans = here.asks(before, self._replies + 1)
                return [*spans, here.faulted(fact, self._asking(here, before), at_us)]
            case Waited():
                return [*here.asks(before, self._replies + 1), here.waited(at_us)]
            case Started():
                here.begins(fact.call, at_us)
            case Settled():
                return [here.settled(fact, self._replied_at, at_us)]
            case Noted():
                here.noted(fact, at_us)
            case Checked():
                part = parts.check(self._replies, fact, content=self.place.content)
                return [here.did(part, before, at_us)]
            case Expired() | Decided() | Answered():
                waiting = self._waiting.pop(fact.call, None)
                return [here.heard(*waiting, fact, at_us)] if waiting else []
            case Stopped():
                return self._end(at_us, fact)
            case _ as never:
                assert_never(never)
        return []

    def _replied(self, here: Stretch, replied: Replied, before: int, at_us: int) -> list[Span]:
        spans = here.asks(before, self._replies + 1)
        asking = self._asking(here, before)
        self._replies, self._replied_at = self._replies + 1, at_us
        self._said.append(replied.reply.message)
        return [*spans, here.replied(replied, asking, at_us)]

    def _asking(self, here: Stretch, before: int) -> Asking:
        mark, self._mark = self._mark, _Mark()
        return Asking(
            model=self.about.model,
            turn=self._replies + 1,
            start_us=mark.asked_us or before,
            attempt=here.attempt,
            window=self.about.window,
            effort=mark.effort,
            first_chunk_us=mark.first_chunk_us or None,
            said=self._told() if self.place.content else None,
        )

    def _told(self) -> list[Json]:
        """The newest of what the model is sent that fits, with a word on what does not."""
        each = (said for message in reversed(self._said) for said in reversed(messages_of(message)))
        return newest(each, DOCUMENT // 2)

    def _hear(self, fact: RunFact) -> None:
        """Keeps what the model is sent, where that is to be told."""
        if isinstance(fact, Replied) and fact.reply.message.text.strip():
            self._answer = fact.reply.message.text
        if not self.place.content:
            return
        match fact:
            case Began(message) | Said(_, message):
                self._said.append(message)
            case Noted(_, said) | SkillActivated(text=said) if said:
                self._said.append(Message("note", (Text(said),)))
            case Settled(result):
                self._said.append(Message("tool", (result,)))
            case _:
                pass

    def _go_on(self, before: int, at_us: int) -> list[Span]:
        """A stretch that has not stopped by now has ended with its process."""
        done = [] if self._stretch is None else self._end(before, None)
        number, self._stretches = self._stretches, self._stretches + 1
        self._stretch = Stretch(self.run, self.place, number, at_us, max(1, self._replies))
        return done

    def _end(self, at_us: int, stopped: Stopped | None) -> list[Span]:
        here, self._stretch = self._stretch, None
        if here is None:
            return []
        told: dict[str, Attribute | None] = {
            "user": self._user or None,
            "model_asked": self.about.model or None,
            "skills": tuple(f"{name}@{version}" for name, version in sorted(self._skills.items())) or None,
            **{f"version.{what}": version for what, version in self.about.versions},
        }
        if self.place.content:
            said = {"input": text(self._asked), "input_type": "text/plain"}
            answer = {"output": text(self._answer) or None, "output_type": "text/plain"}
            told = {**said, **answer, **told}
        return here.ends(at_us, stopped, told, self.links)
