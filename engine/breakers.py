"""What stops a run that could go on: used up limits and budgets, calls that repeat, and a sum of bad signs.

Pure functions of state. A breaker is looked at before each model call, and before a failed one is tried
again; what is used up of tool calls and questions ends those, not the run (`dispatch.py`, `gate.py`).
"""

from collections.abc import Iterator, Sequence

from .budget import Budget, Kind, Share, Spent, over, shares
from .intervention import Concern
from .prompts import prompt
from .run_state import RunState
from .state import State
from .store.facts import Noted, Stopped

_SHARES = ((10, 0.1), (25, 0.25), (50, 0.5))
"""Shares of what was granted at which the model is told what is left, in percent."""
_WORTH_TELLING = 20
"""Granted iterations below which their shares say nothing useful."""
_BEFORE_A_CALL: Sequence[Kind] = ("tokens", "cost", "model_calls", "wall_s")
_HIDDEN: Sequence[Kind] = ("retries",)
"""What the model is not told, since it can do nothing about it."""


def spent_of(state: State) -> Spent:
    """What the current run has spent up to its newest row.

    A second counts when the run was driven in it: what lies between a stop, or a kill, and the resume after
    it does not. Time is that of the newest row, so a call at work counts once it has its result.
    """
    run = state.current
    return Spent(
        tokens=run.usage.prompt + run.usage.output,
        cost=run.known_cost,
        model_calls=run.iterations + run.retries + run.digest_calls,
        tool_calls=run.tool_calls,
        wall_s=max(0, state.at - run.at - run.idle_us) / 1_000_000,
        retries=run.retried,
        questions=run.questions,
        unpriced=run.unpriced,
    )


def tripped(state: State) -> Stopped | None:
    """Why the model may not be asked; None when it may."""
    run = state.current
    return _repeating(run) or _limit(run) or _over_budget(state, *_BEFORE_A_CALL) or _concern(state)


def not_again(state: State) -> Stopped | None:
    """Why a failed model call is not tried again; None when it may be."""
    return _over_budget(state, *_BEFORE_A_CALL, "retries")


def left(state: State) -> Iterator[Noted]:
    """What the model should know of what is left, a note for each thing that is limited."""
    run = state.current
    if run.granted >= _WORTH_TELLING:
        steps = (f"{run.granted - run.iterations}", f"{run.granted}", "steps")
        yield from _told("iterations", run, (run.granted - run.iterations) / run.granted, steps)
    for each in shares(run.budget, spent_of(state)):
        if each.kind not in _HIDDEN:
            part = float(each.left) / float(each.granted) if each.granted else 0.0
            words = (each.told(each.left), each.told(each.granted), each.unit)
            yield from _told(each.kind, run, part, words)


def _told(what: str, run: RunState, part: float, words: tuple[str, str, str]) -> Iterator[Noted]:
    """The note for the smallest share that is reached. Another amount granted is told anew."""
    for percent, share in _SHARES:
        if part <= share:
            amount, granted, unit = words
            text = prompt("note_left", left=amount, granted=granted, what=unit)
            yield Noted(f"{what}:{run.id}:{granted}:{percent}", text)
            return


def _repeating(run: RunState) -> Stopped | None:
    if run.repeated is None or run.repeated.times < _most_failures(run):
        return None
    return Stopped(
        "repeating",
        f"{run.repeated.tool} was called {run.repeated.times} times with the same arguments and "
        "failed each time in the same way",
    )


def _most_failures(run: RunState) -> int:
    return 2 * run.began.limits.same_failures


def _limit(run: RunState) -> Stopped | None:
    if run.iterations < run.granted:
        return None
    return Stopped("limit", f"all {run.granted} iterations are used; a resume grants as many again")


def _over_budget(state: State, *kinds: Kind) -> Stopped | None:
    budget, spent = state.current.budget, spent_of(state)
    used = over(budget, spent, *kinds)
    if used is not None:
        return Stopped("budget", _used(used))
    return _unpriced(budget, spent)


def _used(share: Share) -> str:
    spent, granted = share.told(share.spent), share.told(share.granted)
    return (
        f"the budget of {granted} {share.unit} is used up ({spent} spent): "
        f"resume with more, such as Budget({share.kind}=...)"
    )


def _unpriced(budget: Budget, spent: Spent) -> Stopped | None:
    """A limit that cannot be checked is not passed in silence."""
    if budget.cost is None or not spent.unpriced:
        return None
    return Stopped(
        "budget",
        f"the cost of {spent.unpriced} model calls is not known, so the budget of {budget.cost:,f} US dollars"
        " cannot be kept: limit tokens instead; or resume with more, Budget(cost=...), which lets pass what"
        " is not known so far",
    )


def concern_of(state: State) -> Concern:
    """The signs that a person should look at the current run."""
    run = state.current
    loops = 0.0 if run.repeated is None else run.repeated.times / max(1, _most_failures(run))
    limit = run.budget.cost
    cost = None if not limit or run.unpriced else float(run.known_cost / limit)
    return Concern(loops, cost, None if state.confidence is None else 1 - state.confidence)


def _concern(state: State) -> Stopped | None:
    """After somebody let it go on, the run has one reply at least before it is stopped again."""
    run = state.current
    freeze_at = run.began.limits.freeze_at
    if freeze_at is None or not run.unsupervised:
        return None
    concern = concern_of(state)
    if concern.score < freeze_at:
        return None
    return Stopped(
        "intervention",
        f"somebody should look at this run: {concern.score:.2f} of at most {freeze_at:.2f} ({concern.told}); "
        "resume it with guidance, or roll it back first",
    )
