"""`offing report RUN`: what a run came to, as Markdown, or as one page with where its time and money went."""

import argparse
import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from ....tracing.drawn import duration
from ....tracing.page import Head, Section, page
from ....tracing.span import Span
from ...answer import Citation, Result, result_of
from ...answer.render import source_line
from ...errors import ConfigurationError
from ...scrub import scrub
from ...state import State
from ...traced.recalled import Recalled
from .. import command
from ..command import Command, completes_files
from ..exits import DONE, ExitCode
from ..ground import Ground
from .show import Shown, read_run
from .summary import RunSummary, money, time_of
from .trace import found_trace


async def report(run: str, ground: Ground, out: Path | None, *, as_html: bool) -> ExitCode:
    """Writes the report of a run; Markdown goes to the screen where no file is named.

    Raises:
        ConfigurationError: there is no store, or the file cannot be written.
        NotFound: there is no such run.
        OffingError: as `found_trace` says.
    """
    traced = await found_trace(run, ground)
    kept = ground.existing()
    try:
        shown = await read_run(kept.scoped(ground.tenant), run)
    finally:
        await kept.close()
    if not as_html and out is None:
        ground.screen.line(_markdown(shown))
        return DONE
    text = _page(shown, traced, ground) if as_html else f"{_markdown(shown)}\n"
    file = out or Path(f"{traced.run}.html")
    try:
        await asyncio.to_thread(file.write_text, text, "utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {str(file)!r}: {error.strerror or error}") from error
    ground.screen.line(f"written: {file}")
    return DONE


def _markdown(shown: Shown) -> str:
    result = _result(shown.state)
    if result is None:
        return f"Run {shown.run} has not stopped."
    if result.answered:
        return result.markdown()
    return f"Run {shown.run} stopped ({result.why}): {result.detail}\n\n{result.markdown()}".rstrip()


def _result(state: State | None) -> Result | None:
    return None if state is None or state.current.stopped is None else result_of(state)


def _page(shown: Shown, traced: Recalled, ground: Ground) -> str:
    summary = RunSummary(shown.run)
    for row in shown.rows:
        summary.take(row)
    result = _result(shown.state)
    fork = f"offing fork {traced.run} --at {{}}{ground.again}"
    head = Head(f"Run {shown.run}", scrub(summary.text), dict(_figures(summary, traced, result)), fork)
    return page(traced.spans, head, [] if result is None else list(_sections(result)))


def _figures(summary: RunSummary, traced: Recalled, result: Result | None) -> Iterator[tuple[str, str]]:
    yield "status", summary.state
    if result is not None and result.detail:
        yield "why", result.detail
    yield "begun", f"{time_of(summary.began_at)}{f' by {summary.by}' if summary.by else ''}"
    yield "took", duration(max(0, summary.last_at - summary.began_at))
    yield "iterations", f"{summary.iterations:,}"
    yield "calls", f"{summary.calls:,}"
    if result is not None:
        usage = result.usage
        yield (
            "tokens",
            f"{usage.prompt:,} read, {usage.cache_read:,} of them cached; {usage.output:,} written",
        )
        yield "cost", money(result.cost)
    yield from _told_of(traced.spans[-1] if traced.spans else None)
    yield "trace", traced.trace


def _told_of(span: Span | None) -> Iterator[tuple[str, str]]:
    """What its last stretch worked with."""
    for what, key in _WORKED_WITH.items():
        value = None if span is None else span.attributes.get(key)
        if value:
            yield what, ", ".join(value) if isinstance(value, tuple) else str(value)


_WORKED_WITH: Mapping[str, str] = {
    "model": "offing.model_asked",
    "skills": "offing.skills",
    "prompt": "offing.version.prompt",
}


def _sections(result: Result) -> Iterator[Section]:
    yield Section("Answer", (), (), result.text())
    if result.figures:
        by_id = {one.id: one for one in result.citations}
        rows = [
            (one.text, "\n".join(_source(each, by_id) for each in one.records), one.problem)
            for one in result.figures
        ]
        yield Section("Figures and their sources", ("figure", "rests on", "problem"), rows)
    waiting = [(one.call, one.tool) for one in result.approvals]
    waiting += [(one.call, one.question) for one in result.questions]
    if waiting:
        yield Section("Waits for people", ("call", "what"), waiting)


def _source(record: str, cited: Mapping[str, Citation]) -> str:
    return source_line(cited[record]) if record in cited else record


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("run", help=command.RUN)
    made.add_argument("--html", action="store_true", help="one page: answer, sources, timeline, tokens, cost")
    completes_files(
        made.add_argument("--out", metavar="FILE", help="where to (default: RUN.html, or the screen)")
    )


REPORT = Command(
    "report",
    "what a run came to, as Markdown, or with --html as one page with its timeline",
    _arguments,
    lambda given, ground: report(
        given.run, ground, Path(given.out) if given.out else None, as_html=given.html
    ),
)
