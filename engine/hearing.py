"""Taking in what was posted: each item becomes one fact, in the transaction that takes it.

It is done between two steps, by the driver alone, so that a message never stands before a reply that did
not know of it. What can change nothing is recorded too, with the reason.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import assert_never

from ..namespaces.tool import Attachment
from .errors import ConfigurationError, NotFound
from .files import receive
from .lineage import lineage, maker_of, top_of
from .run import Run
from .scrub import scrub, scrub_fields
from .state import State
from .store.inbox import Answer, Cancel, Decide, Item, Say, Word, word_of
from .store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    Posted,
    Questioned,
    Refused,
    Requested,
    Said,
    Taken,
)
from .waiting import Waiting


async def take_in(run: Run) -> None:
    """Turns what is in the inbox into facts.

    Raises:
        StoreError: the store failed; what was not recorded is still in the inbox.
    """
    if run.mail.is_empty:
        return
    async with run.mail.taking:
        for item in await run.mail.items():
            owner = addressee(run.session, item.run, word_of(item))
            if _takes(run, owner, word_of(item)):
                await _take(run, owner, item)


async def _take(run: Run, owner: str, item: Item) -> None:
    heard = next((each for each in _upwards(run) if each.id == owner), None) or run.descendant(owner)
    fact = await _taken(heard, item)
    await heard.record(fact)
    run.mail.taken(item)
    if isinstance(fact, CancelAsked):
        run.mail.ring()  # what is at work below, and has read the inbox, is to look at its state


def _upwards(run: Run) -> Iterator[Run]:
    above: Run | None = run
    while above is not None:
        yield above
        above = above.parent


def _takes(run: Run, owner: str, word: Word | str) -> bool:
    """Whether it is for this driver to take in what is for a run: the owner, else who drives next above.

    That somebody wants a run to stop is taken in by whichever of its children comes first.
    """
    if isinstance(word, Cancel) and owner in lineage(run.id):
        return True
    driven = (each for each in reversed(lineage(owner)) if each in run.mail.drivers)
    nearest = next(driven, None)
    return owner == run.id or (run.parent is None if nearest is None else nearest == run.id)


def addressee(session: State, run: str, word: Word | str) -> str:
    """The run that a word is for: whose call it names, else the one it was posted to, as long as it works."""
    top = "" if session.run is None else session.run.id
    maker = maker_of(top, word.call) if isinstance(word, Decide | Answer) else run
    return next((each for each in (maker, run) if top_of(each) == top and _works(session, each)), top)


def _works(session: State, run: str) -> bool:
    """Whether it is the top run, or a child of it that has not stopped."""
    found = session.of(run)
    if found is None or found.run is None or found.run.id != run:
        return False
    return found is session or found.run.stopped is None


async def _taken(run: Run, item: Item) -> Taken:
    posted = Posted(item.id, scrub(item.who), item.at)
    word = word_of(item)
    why = word if isinstance(word, str) else refusal(run.session, item.run, word, posted)
    if isinstance(word, str) or why:
        return Refused(posted, scrub(item.kind), scrub(why))
    match word:
        case Decide(call, approved, reason):
            return scrub_fields(Decided(posted, call, approved, reason))
        case Answer(call, text):
            return scrub_fields(Answered(posted, call, text))
        case Cancel(reason, hard):
            return scrub_fields(CancelAsked(posted, reason, hard))
        case Say():
            return await _said(run, posted, word)
        case _ as never:
            assert_never(never)


async def _said(run: Run, posted: Posted, say: Say) -> Taken:
    """The message with its files, under handles that are still free."""
    artifacts, limits = run.store.artifacts, run.state.current.began.limits
    try:
        files = [Attachment(file.name, await artifacts.get(file.ref), file.mime) for file in say.files]
        received = await receive(say.text, files, artifacts, limits, run.state.artifacts)
    except (ConfigurationError, NotFound) as error:
        return Refused(posted, "say", scrub(str(error)))
    return scrub_fields(Said(posted, received.message, received.files))


def refusal(state: State, run: str, word: Word, posted: Posted) -> str:
    """Why the word, meant for a run, can change nothing as the session's state is; empty when it can.

    A message for a run that has ended meanwhile is not refused: the next run reads it, or a child's parent.
    """
    owner = addressee(state, run, word)
    state = state.of(owner) or state
    match word:
        case Decide():
            return _undecided(state, word, posted)
        case Answer():
            return _unanswered(state, word)
        case Cancel():
            current = "" if state.run is None else state.run.id
            return "" if run == current else f"run {run!r} is not at work any more"
        case Say():
            return ""
        case _ as never:
            assert_never(never)


def _unanswered(state: State, answer: Answer) -> str:
    waiting = _waiting(state).get(answer.call)
    if waiting is None or not isinstance(waiting.asked, Questioned):
        return f"call {answer.call!r} asks nothing. {_open(state)}"
    return _settled(waiting)


def _undecided(state: State, decide: Decide, posted: Posted) -> str:
    waiting = _waiting(state).get(decide.call)
    if waiting is None or not isinstance(waiting.asked, Requested):
        return f"call {decide.call!r} waits for no approval. {_open(state)}"
    asked = waiting.asked
    if not waiting.is_open:
        return _settled(waiting)
    if decide.digest and decide.digest != asked.digest:
        return f"what is asked for call {decide.call} is not what was decided on: look at it again"
    return _unfit(asked, posted) if decide.approved else ""


def _unfit(asked: Requested, posted: Posted) -> str:
    """Why this person, or at this time, may not approve."""
    if asked.expires_at is not None and posted.at >= asked.expires_at:
        return f"it could be approved until {time_of(asked.expires_at)} only"
    if asked.other_than is None:
        return ""
    if not asked.other_than.strip():
        return "it needs another person than who asked for the work, and who that was is not known"
    if not posted.who.strip():
        return f"it needs another person than {asked.other_than}: say who approves"
    if _same(posted.who, asked.other_than):
        return f"{posted.who} asked for the work and may not approve it"
    return ""


def _same(one: str, other: str) -> bool:
    """Whether two names are one person's, as far as writing goes."""
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _waiting(state: State) -> dict[str, Waiting]:
    """What the run waits for; a run that is cancelled waits for nobody."""
    return {} if state.run is None or state.run.cancel is not None else state.run.waiting


def _settled(waiting: Waiting) -> str:
    """What was said already; empty when nothing was."""
    call = waiting.asked.call
    match waiting.said:
        case None:
            return ""
        case Answered(posted):
            return f"call {call} was answered already{_by(posted)}"
        case Expired():
            return f"the request of call {call} has expired"
        case Decided(posted, _, approved):
            return f"call {call} was {'approved' if approved else 'denied'} already{_by(posted)}"
        case _ as never:
            assert_never(never)


def _by(posted: Posted) -> str:
    return f" by {posted.who}" if posted.who else ""


def _open(state: State) -> str:
    calls = [] if state.run is None or state.run.cancel else [each.asked.call for each in state.waitings()]
    return f"Open are: {', '.join(calls) or 'none'}"


def time_of(at_us: int) -> str:
    """A time as a person reads it."""
    return datetime.fromtimestamp(at_us / 1_000_000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
