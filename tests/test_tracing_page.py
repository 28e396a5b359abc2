"""The page of a run stands alone, shows what went wrong, and lets nothing that was said become markup."""

from html.parser import HTMLParser

import pytest

from offing.engine.traced import About, Tree
from offing.tracing.page import Head, Section, page
from offing.tracing.page.axis import Axis
from offing.tracing.span import Span
from test_traced import HISTORY, NINE, family, reply, settled, traced

HEAD = Head("september.1", "Why?", {"status": "answered"}, "offing fork september.1 --at {}")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x'"


class Read(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_page_needs_nothing_else_and_is_well_formed() -> None:
    read = Read(page(traced(HISTORY), HEAD, [Section("Figures", ("figure",), [("12.50 GBP",)])]))
    assert read.open == []
    assert {"script", "link", "img", "iframe"} & set(read.tags) == set()
    assert [
        value for name, value in read.attributes if name in {"src", "href"} and not str(value).startswith("#")
    ] == []


def test_it_says_what_failed_where_and_how_to_go_on_another_way() -> None:
    text = " ".join(Read(page(traced(HISTORY, About(content=True)), HEAD)).text)
    for told in (
        "(overloaded) come back",
        "the server hung up",
        "suspect",
        "offing fork september.1 --at 1",
        "model 9.0 s",
        "tools 1.7 s",
        "waiting 1.0 s",
    ):
        assert told in text


def test_every_span_is_in_the_timeline_once() -> None:
    spans = traced(HISTORY)
    ids = [value for name, value in Read(page(spans, HEAD)).attributes if name == "id"]
    assert sorted(map(str, ids)) == sorted(span.id for span in spans)


def test_nothing_that_was_said_becomes_markup() -> None:
    history = [
        *HISTORY[:6],
        (5_300, settled("1.2", HOSTILE, HOSTILE, error=True)),
        (6_000, reply(text=HOSTILE)),
    ]
    spans = traced([*history, HISTORY[-1]], About(content=True))
    read = Read(
        page(
            spans,
            Head(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}),
            [Section(HOSTILE, (HOSTILE,), [(HOSTILE,)], HOSTILE)],
        )
    )
    assert {"script", "img"} & set(read.tags) == set()
    assert {name for name, _ in read.attributes if name.startswith("on")} == set()
    assert HOSTILE in read.text


def test_strands_stand_side_by_side() -> None:
    tree = Tree("september", About())
    spans = [span for row in family() for span in tree.take(row)]
    read = Read(page(spans, HEAD))
    classes = [value for name, value in read.attributes if name == "class"]
    assert classes.count("strand") == 2
    text = " ".join(read.text)
    assert "september.1.1.1.1: answered" in text
    assert "september.1.1.1.2: limit" in text
    assert "tools 1 min 00 s" in text  # its parent's: what passes in children passes within the call


def test_a_page_of_nothing_is_a_page() -> None:
    assert Read(page([], HEAD)).open == []


def span(start_s: int, end_s: int) -> Span:
    return Span("t", f"{start_s}", "", "work", NINE + start_s * 1_000_000, NINE + end_s * 1_000_000, {})


def test_time_in_which_nobody_worked_takes_no_room() -> None:
    axis = Axis([span(0, 10), span(1_000, 1_030), span(1_005, 1_010)])
    assert axis.worked_us == 40_000_000
    assert axis.breaks == [25.0]
    moments = [-5, 0, 5, 10, 500, 1_000, 1_010, 1_030, 9_999]
    assert [axis.at(NINE + each * 1_000_000) for each in moments] == [0, 0, 12.5, 25, 25, 25, 50, 100, 100]


@pytest.mark.parametrize("count", [1, 399, 401, 900])
def test_a_long_run_has_no_more_bars_than_can_be_seen(count: int) -> None:
    steps = [(1_000 * place, reply(text="x")) for place in range(1, count + 1)]
    read = Read(page(traced([*HISTORY[:3], *steps]), HEAD))
    assert count / 4 <= read.tags.count("rect") / 2 <= 400
    assert read.tags.count("rect") <= 2 * 400
