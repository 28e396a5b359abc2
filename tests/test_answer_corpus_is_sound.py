"""Each part of the corpus of answers agrees with itself; what a checker makes of it is tested elsewhere."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest

from answers.cases import CORPUS, HELD_OUT, AnswerCase, Kind, load
from offing.engine.resident.calculate import Quantity, Value, evaluate
from offing.namespaces.tool import Record

LEAST = {CORPUS: 80, HELD_OUT: 80}
"""Cases that a folder has to hold."""
KINDS: tuple[str, ...] = get_args(Kind)
SOURCE_IDS = (
    r"bank:txn/{day}/.+",
    r"bank:balance/.+/{day}/(opening|closing)",
    r"ledger:line/{day}/.+-\d",
    r"ledger:balance/.+/{day}/opening",
)
DERIVED_IDS = (
    r"(bank|ledger):total/.+/\w+",
    r"ledger:balance/.+/{day}/computed",
    r"matching:.+/.+/{day}\.\.{day}\..+/\w+",
    r"calc:\d+\.\d+",
)

Json = Any


@pytest.fixture(scope="module", params=LEAST, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def cases(folder: Path) -> list[AnswerCase]:
    return load(folder)


def plain(cases: list[AnswerCase]) -> list[AnswerCase]:
    return [case for case in cases if not case.hard]


def names_of(kind: str, cases: list[AnswerCase]) -> set[str]:
    return {case.name for case in cases if case.why == kind}


def records_of(case: AnswerCase) -> dict[str, Record]:
    return {record.id: record for record in case.records}


def inputs_of(record: Record) -> dict[str, list[str]]:
    """Ids by the name of the input; empty for a source record and for what a tool gave."""
    derivation: Json = json.loads(record.derivation or "{}")
    given: Json = derivation.get("inputs", {})
    return {name: [each] if isinstance(each, str) else each for name, each in given.items()}


def worked_out(record: Record, known: dict[str, Record]) -> Decimal | None:
    """The record anew from the amounts that its inputs have; its own when it is no calculation."""
    derivation: Json = json.loads(record.derivation or "{}")
    if "expression" not in derivation:
        return record.amount
    values: dict[str, Value] = {}
    for name, ids in inputs_of(record).items():
        amounts = tuple(Quantity(known[each].amount or Decimal(0), known[each].currency) for each in ids)
        values[name] = amounts[0] if isinstance(derivation["inputs"][name], str) else amounts
    return evaluate(derivation["expression"], values).value


def behind(ids: Iterable[str], known: dict[str, Record]) -> set[str]:
    """These records and all that they are worked out from."""
    found: set[str] = set()
    waiting = [each for each in ids if each in known]
    while waiting:
        record = known[waiting.pop()]
        found.add(record.id)
        waiting += [each for part in inputs_of(record).values() for each in part if each not in found]
    return found


def out_of_date(case: AnswerCase) -> list[str]:
    """Ids behind the answer's citations whose inputs now give another amount."""
    known = records_of(case)
    found = sorted(behind(case.cited, known))
    return [each for each in found if worked_out(known[each], known) != known[each].amount]


def test_there_are_enough_cases_and_about_half_of_them_are_wrong(
    folder: Path, cases: list[AnswerCase]
) -> None:
    wrong = sum(bool(case.wrong) for case in plain(cases))
    assert len(cases) >= LEAST[folder]
    assert 0.4 <= wrong / len(plain(cases)) <= 0.6
    assert len(plain(cases)) / len(cases) >= 0.8


def test_every_kind_of_wrong_figure_is_there_several_times(cases: list[AnswerCase]) -> None:
    counts = Counter(case.why for case in plain(cases) if case.wrong)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 4
    assert max(counts.values()) <= sum(counts.values()) / 4


def test_names_are_unique_over_both_parts() -> None:
    names = Counter(case.name for each in LEAST for case in load(each))
    assert [name for name, count in names.items() if count > 1] == []


def test_a_case_is_right_or_wrong_in_one_figure_that_stands_there_once(cases: list[AnswerCase]) -> None:
    for case in cases:
        assert (len(case.wrong), case.why in KINDS) in {(0, False), (1, True)}, case.name
        for figure in case.wrong:
            start, end = case.span(figure)
            assert case.answer[start:end] == figure
            in_words = re.fullmatch(r"[A-Za-z]+(?:[ -][a-z]+)*", figure)
            assert in_words or (figure[0].isdigit() and figure[-1].isdigit()), case.name


def test_each_answer_cites_records_and_only_an_invented_one_is_unknown(cases: list[AnswerCase]) -> None:
    assert [case.name for case in cases if not case.cited] == []
    unknown = {case.name: [each for each in case.cited if each not in records_of(case)] for case in cases}
    assert {name for name, ids in unknown.items() if ids} == names_of("invented_record", cases)
    assert max(len(ids) for ids in unknown.values()) == 1


def test_each_calculation_behind_an_answer_holds_unless_the_case_is_about_a_stale_one(
    cases: list[AnswerCase],
) -> None:
    assert {case.name for case in cases if out_of_date(case)} == names_of("stale", cases)


def test_every_calculation_of_a_file_gives_its_amount(folder: Path, cases: list[AnswerCase]) -> None:
    """Cited or not, as the last case has them that is not about newer readings."""
    files = {case.name.partition(":")[0]: case for case in cases if case.why != "stale"}
    assert set(files) == {path.stem for path in folder.glob("*.yaml")}
    for case in files.values():
        known = records_of(case)
        assert {each: worked_out(known[each], known) for each in known} == {
            each: record.amount for each, record in known.items()
        }


def test_no_citation_follows_an_uncited_figure(cases: list[AnswerCase]) -> None:
    for case in cases:
        if case.why == "uncited":
            behind_it = case.answer[case.span(case.wrong[0]).end :]
            assert re.match(r"\W*[A-Z]*\W*\[\[", behind_it) is None, case.name


def test_a_figure_with_a_wrong_record_is_the_amount_of_another_one(cases: list[AnswerCase]) -> None:
    for case in cases:
        if case.why == "wrong_record":
            amounts = {abs(record.amount) for record in case.records if record.amount is not None}
            assert Decimal(case.wrong[0].replace(",", "")) in amounts, case.name


def test_records_have_the_ids_and_derivations_that_the_tools_give(cases: list[AnswerCase]) -> None:
    records = {record.id: record for case in cases for record in case.records}.values()
    sources = [each for each in records if each.derivation is None]
    derived = [each for each in records if each.derivation is not None]
    assert [each.id for each in sources if not fits(SOURCE_IDS, each)] == []
    assert [each.id for each in derived if not fits(DERIVED_IDS, each)] == []
    assert [each.id for each in sources if each.date is None or str(each.date) not in each.id] == []


def fits(patterns: Iterable[str], record: Record) -> bool:
    day = r"\d{4}-\d\d-\d\d"
    return any(re.fullmatch(pattern.replace("{day}", day), record.id) for pattern in patterns)
