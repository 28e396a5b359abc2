"""What the answer to a skill has to consist of, and what of it an answer lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.skills import Structure, structure_in

WANTED = Structure(("Conclusion", "Open items"), ("Method",))


def test_each_heading_below_the_first_level_is_a_section() -> None:
    text = (
        "# How the answer is built\n\nIn this order.\n\n## Conclusion\n\nFirst.\n\n### Open items ##\n\n"
        "```\n## Not a section\n```\n\n## Method (optional)\n\n## Conclusion\n"
    )
    assert structure_in(text) == WANTED


def test_a_text_without_headings_has_no_sections_and_nothing_is_missing() -> None:
    assert structure_in("Answer as you like.") == Structure()
    assert Structure().missing("") == ()


@pytest.mark.parametrize(
    "answer",
    [
        "## Conclusion\n\nIt ties.\n\n## Open items\n\nNone.",
        "# CONCLUSION\n\n###### open  items ######",
        "Conclusion\n==========\n\nIt ties.\n\nOpen items\n---\n",
        "**Conclusion**\n\nIt ties.\n\n**Open items:** none",
        "1. **Conclusion** it ties\n2. __Open items__ none",
        "- **Conclusion.** It ties.\n- **Open items** (none)",
        "## 1. Conclusion\n\n## 2) Open items (3)",
        "## Conclusion: it ties\n\n## Open-items\n",
        "## *Conclusion*\r\n\r\n## Open items\r\n",
        "## Open items\n\n## Conclusion\n",
        "## A. Conclusion\n## B. Open items\n",
    ],
)
def test_a_heading_counts_however_it_is_written(answer: str) -> None:
    assert WANTED.missing(answer) == ()


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("", ("Conclusion", "Open items")),
        ("In conclusion, there are no open items.", ("Conclusion", "Open items")),
        ("## Conclusions\n\n## Open items", ("Conclusion",)),
        ("## The conclusion\n\n## Open items", ("Conclusion",)),
        ("## Conclusion\n\n```\n## Open items\n```", ("Open items",)),
        ("## Conclusion\n\n~~~\n```\n## Open items\n~~~", ("Open items",)),
        ("#Conclusion\n\n## Open items", ("Conclusion",)),
        ("It ties, **Conclusion** or not\n\n## Open items", ("Conclusion",)),
    ],
)
def test_words_that_are_no_heading_do_not_count(answer: str, missing: tuple[str, ...]) -> None:
    assert WANTED.missing(answer) == missing


@given(
    st.lists(st.sampled_from(["Conclusion", "Open items", "Items (all)", "2. Basis"]), unique=True),
    st.sampled_from(["# {}", "###  {} ###", "**{}**", "**{}:** text", "{}\n----"]),
)
def test_an_answer_with_all_headings_lacks_none_and_each_other_is_named(titles: list[str], form: str) -> None:
    structure = Structure(("Conclusion", "Open items", "Items (all)", "2. Basis"))
    answer = "\n\nSome text.\n\n".join(form.format(title.upper()) for title in titles)
    assert structure.missing(answer) == tuple(each for each in structure.sections if each not in titles)


@given(st.text())
def test_any_text_is_an_answer(text: str) -> None:
    assert set(WANTED.missing(text)) <= set(WANTED.sections)
