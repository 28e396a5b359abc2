"""What a person is told of a run that has stopped: its answer, or what it waits for and how to say it."""

import re

from ...answer import Result
from ..exits import DONE, FAILED, SHORT, ExitCode
from ..ground import Ground

_HEADING = re.compile(r"^#{1,2} ", re.MULTILINE)


def exit_code(result: Result) -> ExitCode:
    """What a run's stop comes to."""
    if result.answered or result.why == "waiting":
        return DONE
    return FAILED if result.why == "fault" else SHORT


def tell(result: Result, ground: Ground, *, in_report: bool) -> None:
    """Shows the answer, up to its second heading where the whole is in a report, and what is left to do."""
    screen = ground.screen
    text = _first_section(result.text()) if in_report else result.text()
    if text.strip():
        screen.line()
        screen.line(text)
    for call in result.unknown:
        screen.line(f"Call {call}: nobody knows whether it took effect. Look before you repeat it.")
    if result.answered:
        return
    _tell_open(result, ground)
    if result.why != "waiting":
        screen.line(f"The run stopped ({result.why}): {result.detail}")
    more = " --budget-usd AMOUNT, or --max-calls N" if result.why == "budget" else ""
    screen.line(f"Go on with: offing resume {result.run}{ground.again}{more}")


def _first_section(text: str) -> str:
    """An answer up to its second heading: the whole, with its sources, is in the report."""
    later = _HEADING.search(text, text.find("\n") + 1)
    if later is None:
        return text
    return f"{text[: later.start()].rstrip()}\n\nThe rest of the answer, and all sources, are in the report."


def _tell_open(result: Result, ground: Ground) -> None:
    """What waits for a person, and how to say it."""
    screen, where = ground.screen, ground.again
    for request in result.approvals:
        screen.line()
        screen.line(f"Call {request.call} waits for approval: {request.why}.")
        screen.line(request.preview)
        screen.line(f"offing approve {result.run} {request.call}{where}")
        screen.line(f"offing deny {result.run} {request.call} --reason '...'{where}")
    for question in result.questions:
        screen.line()
        screen.line(f"Call {question.call} asks: {question.question}")
        for option in question.options:
            screen.line(f"  - {option}")
        screen.line(f"offing answer {result.run} '...' --call {question.call}{where}")
