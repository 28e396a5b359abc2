"""One run as a trace: what each of its facts means for its spans."""

from collections import deque
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from ...compaction.conversation import Message, Text
from ...tracing.bounded import DOCUMENT, document, newest, text
from ...tracing.span import Attribute, Link, Moment, Span
from ..store.cached import Warmed
from ..store.facts import (
    Began,
    Checked,
    Compacted,
    Faulted,
    Linked,
    Noted,
    Remembered,
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
from . import calls, chats
from .chats import Asking
from .content import messages_of
from .host import span_of
from .parts import AGENT, KILLED, STRAND, End, Interval, Place, Work
from .stretch import Stretch

_MESSAGES = 200
"""The newest messages, of which as many are told as fit."""

RunFact = (
    Began
    | Resumed
    | Noted
    | Replied
    | Faulted
    | Waited
    | Compacted
    | Started
    | Settled
    | TasksSet
    | Linked
    | Checked
    | SkillActivated
    | Remembered
    | Requested
    | Questioned
    | Expired
    | Decided
    | Answered
    | Said
    | CancelAsked
    | Refused
    | Stopped
    | Warmed
)
"""The facts of one run; the others are about its stream."""

_Work = (
    Replied
    | Faulted
    | Waited
    | Compacted
    | Started
    | Settled
    | Noted
    | Said
    | CancelAsked
    | Checked
    | Expired
    | Decided
    | Answered
    | Stopped
)
"""Those that mean something while somebody works on it."""


@dataclass(frozen=True, slots=True)
class About:
    """What a trace tells beside its rows."""

    model: str = ""
    """As configured, such as `anthropic:claude-opus-5-5`; the one that the rows name counts first."""
    window: int | None = None
    """Tokens that it takes; None when unknown."""
    content: bool = False
    """Whether what was said is told."""
    versions: tuple[tuple[str, str], ...] = ()
    """Of the prompt and of this library, by what they are of."""


@dataclass(frozen=True, slots=True)
class Strand:
    """What a child run is to its parent."""

    number: int
    """Which strand of its call, from 1."""
    title: str
    above: "RunTrace"


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

    place: Place
    about: About
    links: tuple[Link, ...] = ()
    strand: Strand | None = None
    """None for a top run."""
    copied_until_us: int = 0
    """Of a fork: what was recorded before that was copied."""
    is_compacted: bool = False
    """Whether the model is sent less than all that was said."""
    titles: dict[str, str] = field(default_factory=dict[str, str])
    """Of its children, by their runs."""
    at: int = 0
    """Time of its newest row."""
    has_stopped: bool = False
    _stretch: Stretch | None = None
    """None while nobody works on it."""
    _stretches: int = 0
    _replies: int = 0
    _replied_at: int = 0
    _warmed: int = 0
    _mark: _Mark = field(default_factory=_Mark)
    _waiting: dict[str, _Waiting] = field(default_factory=dict[str, _Waiting])
    _skills: dict[str, str] = field(default_factory=dict[str, str])
    _user: str = ""
    _asked: str = ""
    _answer: str = ""
    _said: deque[str] = field(default_factory=lambda: deque[str](maxlen=_MESSAGES))
    """What the model is sent, each message as JSON: it is told with every call, and written once."""

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
        self.adds(Work(journal_us=took_us))
        return []

    def adds(self, work: Work) -> None:
        """Work that is done elsewhere for it."""
        if self._stretch is not None:
            self._stretch.adds(work)

    def take(self, fact: RunFact, at_us: int) -> list[Span]:
        """Takes a fact in; gives the spans that it ends."""
        before, self.at = self.at or at_us, at_us
        self._hear(fact)
        match fact:
            case Began():
                self._user, self._asked = fact.by, fact.message.text
            case Resumed():
                return self._driven(fact, before, at_us)
            case SkillActivated():
                self._skills[fact.name] = fact.version
            case Requested() | Questioned():
                self._waiting[fact.call] = _Waiting(fact, at_us)
            case Warmed():
                return [self._kept_warm(fact, at_us)]
            case TasksSet() | Linked() | Refused() | Remembered():
                pass
            case _:
                if self._stretch is not None:
                    return self._at_work(self._stretch, fact, before, at_us)
        return []

    def goes_on(self, at_us: int) -> None:
        """Somebody works on it from here on."""
        number, self._stretches = self._stretches, self._stretches + 1
        self._stretch = Stretch(self.place, number, at_us, max(1, self._replies))

    def killed(self, at_us: int) -> list[Span]:
        """Whoever worked on it until then ended with the process; or worked on what a fork has copied."""
        if at_us < self.copied_until_us:
            return self.ends(at_us, End("copied", "a fork goes on from here"))
        return self.ends(at_us, KILLED)

    def ends(self, at_us: int, end: End) -> list[Span]:
        """The work on it ends, for now; no spans when nobody was at work."""
        here, self._stretch = self._stretch, None
        if here is None:
            return []
        told: dict[str, Attribute | None] = {
            "user": self._user or None,
            "model_asked": self.about.model or None,
            "skills": tuple(f"{name}@{version}" for name, version in sorted(self._skills.items())) or None,
            **{f"version.{what}": version for what, version in self.about.versions},
            **self._node(),
        }
        if self.place.content:
            said = {"input": text(self._asked), "input_type": "text/plain"}
            answer = {"output": text(self._answer) or None, "output_type": "text/plain"}
            told = {**said, **answer, **told}
        spans = here.ends(at_us, end, told, self.links, AGENT if self.strand is None else STRAND)
        if self.strand is not None:
            self.strand.above.adds(here.work.taken)
        return spans

    def _node(self) -> dict[str, Attribute | None]:
        """Its place in the graph of agents; of a child also which strand it is."""
        if self.strand is None:
            return {"node": self.place.run, "node_name": AGENT}
        return {
            "node": self.place.run,
            "node_name": STRAND,
            "node_parent": self.strand.above.place.run,
            "strand": self.strand.number,
            "title": text(self.strand.title, 200) if self.place.content else None,
        }

    def _driven(self, resumed: Resumed, before: int, at_us: int) -> list[Span]:
        """A stretch that has not stopped by now has ended with its process."""
        host = span_of(resumed.host)
        if resumed.trace:
            is_joined = self.place.is_joined or (host is not None and host.trace == resumed.trace)
            self.place = self.place._replace(trace=resumed.trace, is_joined=is_joined)
            if is_joined and not self._stretches and host is not None:
                self.place = self.place._replace(parent=host.span)
        if resumed.model:
            room = None if resumed.room is None else resumed.room.window
            self.about = replace(self.about, model=resumed.model, window=room)
        if self._stretch is not None:
            self._stretch.place = self.place
        done = self.killed(before)
        if self._stretches:
            self.links = () if host is None else (Link(host.trace, host.span, {"offing.link": "resumed in"}),)
        self.goes_on(at_us)
        return done

    def _kept_warm(self, fact: Warmed, at_us: int) -> Span:
        """Nobody works on the run meanwhile, so it is part of its first stretch."""
        self._warmed += 1
        part = chats.warmed(self._warmed, self.about.model, fact)
        return self.place.span(part, self.place.id("stretch", 0), Interval(at_us, at_us))

    def _at_work(  # noqa: C901, PLR0911, PLR0912  it only routes
        self, here: Stretch, fact: _Work, before: int, at_us: int
    ) -> list[Span]:
        match fact:
            case Replied():
                return self._replied(here, fact, before, at_us)
            case Faulted():
                spans = here.asks(before, self._replies + 1)
                return [*spans, here.faulted(fact, self._asking(here, before), at_us)]
            case Waited():
                return [*here.asks(before, self._replies + 1), here.waited(at_us)]
            case Compacted():
                self.is_compacted = self.is_compacted or fact.done.is_felt
                return [*here.asks(before, self._replies + 1), here.compacted(fact, before, at_us)]
            case Started():
                here.begins(fact.call, at_us)
            case Settled():
                return [here.settled(fact, self._replied_at, at_us)]
            case Noted():
                here.marked(Moment("note", at_us, {"offing.note": fact.key[:200]}))
            case Said() | CancelAsked():
                what = "cancel asked" if isinstance(fact, CancelAsked) else "message"
                here.marked(Moment(what, at_us, {"offing.who": fact.posted.who}))
            case Checked():
                part = calls.check(self._replies, fact, content=self.place.content)
                return [here.did(part, before, at_us)]
            case Expired() | Decided() | Answered():
                waiting = self._waiting.pop(fact.call, None)
                return [here.heard(*waiting, fact, at_us)] if waiting else []
            case Stopped():
                self.has_stopped = True
                return self.ends(at_us, End(fact.why, fact.detail))
            case _ as never:
                assert_never(never)
        return []

    def _replied(self, here: Stretch, replied: Replied, before: int, at_us: int) -> list[Span]:
        spans = here.asks(before, self._replies + 1)
        asking = self._asking(here, before)
        self._replies, self._replied_at = self._replies + 1, at_us
        if self.place.content:
            self._say(replied.reply.message)
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
            compacted=self.is_compacted,
            said=newest(reversed(self._said), DOCUMENT // 2) if self.place.content else None,
        )

    def _say(self, message: Message) -> None:
        self._said.extend(document(each, DOCUMENT // 2) for each in messages_of(message))

    def _hear(self, fact: RunFact) -> None:
        """Keeps what the model is sent, where that is to be told."""
        if not self.place.content:
            return
        match fact:
            case Replied(reply) if reply.message.text.strip():
                self._answer = reply.message.text
            case Began(message) | Said(_, message):
                self._say(message)
            case Noted(_, said) | SkillActivated(text=said) if said:
                self._say(Message("note", (Text(said),)))
            case Settled(result):
                self._say(Message("tool", (result,)))
            case _:
                pass
