"""What the strands of a call are to do, and what they may use: reserved from the run before any begins.

A limit that counts is shared out in equal parts, one for each strand and one for the run itself, which has
to read what they came to and to answer. Time is not shared out: they work at the same time. So a tree of
runs never takes more than its top run was granted, however its calls fail and are tried again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from typing import Any, NamedTuple

from .breakers import iterations_of, spent_of
from .budget import Amount, Budget, Kind, shares
from .limits import Limits
from .lineage import lineage
from .prompts import prompt
from .resident.delegate import Part
from .run import Run
from .scrub import scrub
from .state import State
from .store.strands import Strand

_LEAST = 2
"""Model calls with which a strand can do anything: one to call a tool, one to answer."""
_CENT = Decimal("0.000001")
"""The least money that is shared out, in US dollars."""


_LEAST_OF: Mapping[Kind, Decimal | int] = {"model_calls": _LEAST, "tokens": 1, "cost": _CENT}


class Beyond(NamedTuple):
    """What there is too little of for so many strands."""

    left: str
    what: str
    least: str


def planned(run: Run, parts: Sequence[Part]) -> tuple[Strand, ...] | str:
    """The strands with what is reserved for each; or, for the model, why they cannot be."""
    depth = run.state.current.began.limits.depth
    if len(lineage(run.id)) > depth:
        return prompt("strand_depth", depth=f"{depth}")
    limits = reserved(run.state, len(parts))
    if isinstance(limits, Beyond):
        return prompt("strand_beyond", strands=f"{len(parts)}", **limits._asdict())
    strands: list[Strand] = []
    for part in parts:
        strand = _strand(run, part, limits)
        if isinstance(strand, str):
            return f"Nothing was handed on: {part.title!r}: {strand}"
        strands.append(strand)
    return tuple(strands)


def _strand(run: Run, part: Part, limits: Limits) -> Strand | str:
    allowed = None if run.state.strand is None else run.state.strand.namespaces
    there = [each for each in run.means.toolbox.namespaces if allowed is None or each in allowed]
    unknown = [each for each in part.namespaces or () if each not in there]
    if unknown:
        return f"there is no system {unknown[0]!r} for it. There are: {', '.join(there) or 'none'}"
    systems = allowed if part.namespaces is None else tuple(dict.fromkeys(part.namespaces))
    skills, skill = run.means.skills, ""
    if part.skill:
        named = skills.find(part.skill)
        if named is None:
            return skills.unknown(part.skill)
        skill = named.name
    else:
        skill = skills.relevant(f"{part.title} {part.task}", systems)
    is_there = skill in skills.start  # its text is in the frame, which the strand has too
    return Strand(scrub(part.title), scrub(part.task), limits, systems, "" if is_there else skill)


def reserved(state: State, strands: int) -> Limits | Beyond:
    """What each of so many strands may use; what there is too little of, when they cannot do anything."""
    run, parts = state.current, strands + 1
    iterations = (run.granted - iterations_of(state)) // parts
    if iterations < _LEAST:
        return Beyond(f"{run.granted - iterations_of(state)}", "steps", f"{_LEAST * parts}")
    given: dict[str, Any] = {}
    for each in shares(run.budget, spent_of(state)):
        given[each.kind] = each.left if each.kind == "wall_s" else _part(each.left, parts)
        least = _LEAST_OF.get(each.kind, 0)
        if given[each.kind] < least:
            return Beyond(each.told(each.left), each.unit, f"{least * parts}")
    return replace(run.began.limits, iterations=iterations, budget=Budget(**given))


def _part(left: Amount, parts: int) -> Amount:
    if isinstance(left, Decimal):
        return (left / parts).quantize(_CENT, ROUND_DOWN)
    return int(left) // parts
