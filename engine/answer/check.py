"""The check of an answer before it is delivered: each figure against the records it cites."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from ...namespaces.arguments import nearest
from ...namespaces.tool import Record
from ...skills.structure import Structure
from ..state import State
from ..steps import Check
from ..store.facts import Checked, Figure
from .agreement import Agreement
from .figures import Found, Parsed, parse
from .index import CitedIndex, NumberIndex
from .sources import Sources
from .typed import unfit

_HINTED = 2_000
"""The newest records among which a misspelt id is looked for."""


def check(state: State, wanted: Check) -> Checked:
    """The verdict on the answer of the session's current run."""
    if wanted.schema is not None:
        return Checked(unfit(wanted.answer, wanted.schema))
    run, asked = state.current, [each.text for each in state.conversation.messages if each.role == "user"]
    sourced = bool(state.records) or run.began.check == "required"
    figures = check_figures(wanted.answer, asked, state.records, state.links) if sourced else ()
    return Checked("", figures, Structure(run.sections).missing(wanted.answer))


def check_figures(
    answer: str, asked: Sequence[str], records: Mapping[str, Record], links: Mapping[str, Sequence[str]]
) -> tuple[Figure, ...]:
    """Every figure of an answer with its sources, or with what is wrong with it.

    A figure agrees when a record right behind it says the same; without one behind it, when a record
    does that the answer cites elsewhere or that was linked to the figure.

    Args:
        answer: Markdown, with `[[record id]]` behind figures.
        asked: What the user said: numbers in it need no source.
        records: All that the session has read or worked out.
        links: Figures as written, and the records that `link_records` tied to each.
    """
    parsed, sources = parse(answer), Sources(records)
    given = NumberIndex(number for text in asked for number in parse(text).numbers)
    judge = _Judge(parsed, sources, given, links)
    figures = [figure for found in parsed.figures if (figure := judge.figure(found)) is not None]
    figures += judge.invented(figures)
    return tuple(sorted(figures, key=lambda figure: figure.start))


class _Judge:
    def __init__(
        self, parsed: Parsed, sources: Sources, given: NumberIndex, links: Mapping[str, Sequence[str]]
    ) -> None:
        self._parsed, self._sources, self._given = parsed, sources, given
        self._agreement = Agreement(parsed, sources)
        linked = {number: ids for figure, ids in links.items() for number in parse(figure).numbers[:1]}
        self._links, self._linked = NumberIndex(linked), linked
        cited = [mention.id for mention in parsed.mentions]
        self._cited = CitedIndex(sources.behind(cited).values(), sources)

    def figure(self, found: Found) -> Figure | None:
        """The figure with its sources or its problem; None for a number that the user gave."""
        found = self._agreement.in_its_column(found)
        if found.around.cited:
            return self._with_sources(found, found.around.cited)
        if any(self._agreement.may_be(found, record) for record in self._known(found.around.near)):
            return self._with_sources(found, found.around.near)
        if sources := self._elsewhere(found):
            return _made(found, sources)
        if any(self._given.same(found)):
            return None
        return _made(found, (), f"has no source{self._agreement.hint(found)}")

    def invented(self, reported: Sequence[Figure]) -> Iterator[Figure]:
        """Citations of records that nobody read, behind no figure that says so already."""
        told = {each for figure in reported if figure.problem for each in figure.records}
        for mention in self._parsed.mentions:
            if mention.id not in told and self._sources.get(mention.id) is None:
                text = self._parsed.answer[mention.start : mention.end]
                yield Figure(text, mention.start, mention.end, (mention.id,), self._unknown(mention.id))

    def _with_sources(self, found: Found, cited: Sequence[str]) -> Figure:
        unknown = next((each for each in cited if self._sources.get(each) is None), None)
        if unknown is not None:
            return _made(found, cited, self._unknown(unknown))
        return _made(found, cited, self._agreement.disagreement(found, self._known(cited)))

    def _unknown(self, identity: str) -> str:
        meant = nearest(identity, list(self._sources.records)[-_HINTED:])
        return f"there is no record {identity}{f'; did you mean {meant}?' if meant else ''}"

    def _elsewhere(self, found: Found) -> Sequence[str]:
        """The records that bear a figure out which has none right behind it; none when there are none."""
        linked = [each for same in self._links.same(found) for each in self._known(self._linked[same])]
        fitting = (record.id for record in (*linked, *self._cited.like(found)) if self._agrees(found, record))
        if first := next(fitting, None):
            return (first,)
        near = self._known(found.around.near)
        if near and self._agreement.together(found, near):
            return found.around.near
        return self._counted(found)

    def _agrees(self, found: Found, record: Record) -> bool:
        return not self._agreement.problem(found, record)

    def _known(self, ids: Sequence[str]) -> list[Record]:
        records = (self._sources.get(each) for each in dict.fromkeys(ids))
        return [record for record in records if record is not None]

    def _counted(self, found: Found) -> Sequence[str]:
        """The records that a count is of: as many as the paragraph, or the list behind it, cites."""
        if found.kind != "count":
            return ()
        answer = self._parsed.answer
        end = answer.find("\n\n", found.end)
        listed = answer.find("\n\n", end + 2) if end >= 0 else -1
        for last in (end if end >= 0 else len(answer), listed if listed >= 0 else len(answer)):
            ids = tuple(dict.fromkeys(each.id for each in self._parsed.mentions_within(found.end, last)))
            if ids and found.readings[0].value == Decimal(len(ids)):
                return ids
        return ()


def _made(found: Found, records: Sequence[str], problem: str = "") -> Figure:
    return Figure(found.text, found.start, found.end, tuple(records), problem)
