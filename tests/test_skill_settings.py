"""Which skills a session has and how they are for one customer."""

from pathlib import Path

import pytest

from offing.skills import (
    Catalogue,
    Override,
    SettingsError,
    SkillFolders,
    SkillSettings,
    Structure,
    catalogue_of,
)
from skill_files import write

CONFIG = 'metadata:\n  config.limit: "100.00"\n  config.who: Ann\n'


def having(folder: Path, settings: SkillSettings) -> Catalogue:
    return catalogue_of(SkillFolders([folder], shipped=False).read(), settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "close-books", "Close up to ${limit}, ask ${who}; ${other} and $who stay.", CONFIG)
    write(tmp_path / "audit", "Audit.", "metadata:\n  feature: beta\n")
    write(tmp_path / "pay", "Pay.")
    return tmp_path


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        (SkillSettings(), ["close-books", "pay"]),
        (SkillSettings(features=["beta"]), ["audit", "close-books", "pay"]),
        (SkillSettings(features=["alpha"]), ["close-books", "pay"]),
        (SkillSettings(disabled=["pay"]), ["close-books"]),
        (SkillSettings(enabled=["pay"]), ["pay"]),
        (SkillSettings(enabled=["pay", "audit"]), ["pay"]),
        (SkillSettings(enabled=[]), []),
        (SkillSettings(enabled=["pay"], disabled=["pay"]), []),
    ],
)
def test_a_session_has_the_skills_that_its_settings_leave(
    folder: Path, settings: SkillSettings, names: list[str]
) -> None:
    assert list(having(folder, settings).skills) == names


def test_values_stand_for_declared_placeholders_and_all_others_stay(folder: Path) -> None:
    settings = SkillSettings(values={"close-books": {"limit": "5 ${who}"}})
    body = having(folder, settings).skills["close-books"].body
    assert body == "Close up to 5 ${who}, ask Ann; ${other} and $who stay."


def test_values_stand_in_description_output_and_markdown_resources_too(tmp_path: Path) -> None:
    head = "metadata:\n  output: out.md\n  config.currency: GBP\n"
    write(tmp_path / "close", "In ${currency}.", head, out_md="## Sum in ${currency}\n", x_py="${currency}")
    document = tmp_path / "close" / "SKILL.md"
    document.write_text(document.read_text().replace("Does close.", "Closes in ${currency}."))
    (tmp_path / "close" / "x.py").write_text("${currency}")
    skill = having(tmp_path, SkillSettings(values={"close": {"currency": "EUR"}})).skills["close"]
    assert (skill.body, skill.description) == ("In EUR.", "Closes in EUR.")
    assert skill.structure == Structure(("Sum in EUR",))
    assert (skill.resource("out.md"), skill.resource("x.py")) == (b"## Sum in EUR\n", b"${currency}")


@pytest.mark.parametrize(
    ("replaces", "body"), [(False, "Pay.\n\nAsk ${who} first."), (True, "Ask ${who} first.")]
)
@pytest.mark.parametrize("in_file", [False, True])
def test_an_override_is_put_behind_the_body_or_in_its_place(
    folder: Path,
    replaces: bool,  # noqa: FBT001
    body: str,
    in_file: bool,  # noqa: FBT001
) -> None:
    file = folder / "ours.md"
    file.write_text("\ufeffAsk ${who} first.\r\n", "utf-8")
    override = Override(file if in_file else "Ask ${who} first.\n", replaces=replaces)
    assert having(folder, SkillSettings(overrides={"pay": override})).skills["pay"].body == body


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            SkillSettings(start=["close-book"]),
            "there is no skill 'close-book'. Did you mean 'close-books'? There are: audit, close-books, pay",
        ),
        (SkillSettings(enabled=["x"]), "there is no skill 'x'. There are: audit, close-books, pay"),
        (SkillSettings(disabled=["x"]), "there is no skill 'x'. There are: audit, close-books, pay"),
        (SkillSettings(values={"x": {}}), "there is no skill 'x'. There are: audit, close-books, pay"),
        (SkillSettings(overrides={"x": Override("")}), "there is no skill 'x'. There are: audit"),
        (SkillSettings(features="beta"), "features is 'beta'; it has to be a set of names"),
        (SkillSettings(start=["audit"]), "skill 'audit' cannot be active: its flag 'beta' is not on"),
        (SkillSettings(start=["pay"], disabled=["pay"]), "skill 'pay' cannot be active: it is disabled"),
        (
            SkillSettings(start=["pay"], enabled=["audit"]),
            "skill 'pay' cannot be active: it is not among those that are enabled",
        ),
        (
            SkillSettings(values={"close-books": {"limits": "1"}}),
            "skill 'close-books' has no setting 'limits'. Its settings: limit, who",
        ),
        (SkillSettings(values={"pay": {"a": "1"}}), "skill 'pay' has no setting 'a'. Its settings: none"),
        (
            SkillSettings(values={"close-books": {"who": ""}}),
            "skill 'close-books' needs a value for 'who': values={'close-books': {'who': ...}}",
        ),
        (
            SkillSettings(overrides={"pay": Override(" ")}),
            "the override of skill 'pay' is empty: disable the skill, or leave it out",
        ),
        (
            SkillSettings(overrides={"pay": Override(Path("/no/where.md"))}),
            "the override of skill 'pay' cannot be used: /no/where.md: cannot be read: No such file",
        ),
    ],
)
def test_settings_that_cannot_work_are_named(folder: Path, settings: SkillSettings, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        having(folder, settings)
    assert str(caught.value).startswith(told)


def test_a_placeholder_without_a_default_has_to_be_given(tmp_path: Path) -> None:
    write(tmp_path / "close", "${who}", "metadata:\n  config.who:\n")
    with pytest.raises(SettingsError, match="skill 'close' needs a value for 'who'"):
        having(tmp_path, SkillSettings())
    settings = SkillSettings(values={"close": {"who": "Ann"}})
    assert having(tmp_path, settings).skills["close"].body == "Ann"
    assert having(tmp_path, SkillSettings(disabled=["close"])).skills == {}


def test_a_skill_that_could_not_be_read_is_named_with_the_reason_where_it_is_wanted(tmp_path: Path) -> None:
    bad = tmp_path / "bad" / "SKILL.md"
    bad.parent.mkdir()
    bad.write_text("---\nname: bad\n---\nBody.")
    with pytest.raises(SettingsError) as caught:
        having(tmp_path, SkillSettings(start=["bad"]))
    assert str(caught.value) == f"skill 'bad' is not there: {bad}: description is None; it has to be a text"


def version(folder: Path, settings: SkillSettings | None = None) -> str:
    return having(folder, settings or SkillSettings()).skills["close-books"].version


def test_skills_of_one_version_say_the_same_and_whatever_changes_one_changes_its_version(
    folder: Path,
) -> None:
    first = version(folder)
    assert version(folder) == first
    skill = folder / "close-books"
    changed = [
        version(folder, SkillSettings(values={"close-books": {"limit": "1"}})),
        version(folder, SkillSettings(overrides={"close-books": Override("More.")})),
        version(folder, SkillSettings(overrides={"close-books": Override("More.", replaces=True)})),
    ]
    (skill / "a.md").write_text("a")
    changed.append(version(folder))
    (skill / "a.md").write_text("b")
    changed.append(version(folder))
    (skill / "a.md").rename(skill / "b.md")
    changed.append(version(folder))
    (skill / "b.md").unlink()
    assert version(folder) == first
    document = skill / "SKILL.md"
    for old, new in (
        ("Close up", "Go up"),
        ("Does close-books.", "Does it."),
        (CONFIG, f"{CONFIG}allowed-tools: a\n"),
    ):
        document.write_text(document.read_text().replace(old, new))
        changed.append(version(folder))
    assert len({first, *changed}) == 10
    assert all(len(each) == 12 for each in changed)


def test_the_authors_version_stands_before_the_digest(tmp_path: Path) -> None:
    write(tmp_path / "close", head='metadata:\n  version: "2.1"\n')
    assert having(tmp_path, SkillSettings()).skills["close"].version.startswith("2.1+")


# Which skills a message names.


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/close-books September", ["close-books"]),
        ("please run /close-books", ["close-books"]),
        ("Do the close-books for September.", ["close-books"]),
        ("use `close-books`, then /pay", ["close-books", "pay"]),
        ("/PAY now", ["pay"]),
        ("/pay /close-books /pay", ["pay", "close-books"]),
        ("pay the bill", []),
        ("close books", []),
        ("see skills/close-books/SKILL.md", []),
        ("see close-books.md", []),
        ("re-close-books, close-books-2", []),
        ("https://host/pay", []),
        ("and/pay", []),
        ("/payment", []),
        ("/audit", []),
        ("/pay. Then /close-books!", ["pay", "close-books"]),
        ("(/pay)", ["pay"]),
        ("/CLO\u017fE-BOOKS /\u0130\u0131", ["close-books"]),
        ("", []),
    ],
)
def test_a_message_names_a_skill_behind_a_slash_or_by_a_name_with_a_hyphen(
    folder: Path, text: str, names: list[str]
) -> None:
    found = having(folder, SkillSettings()).named_in(text, 3)
    assert [each.name for each in found] == names


def test_a_long_message_is_read_in_one_go(folder: Path) -> None:
    catalogue = having(folder, SkillSettings())
    for part in ("close-", "/", "a.b", "close-books.md ", "-"):
        assert catalogue.named_in(part * 200_000, 3) == ()


def test_a_message_names_no_more_skills_than_it_may(folder: Path) -> None:
    found = having(folder, SkillSettings()).named_in("/pay /close-books", 1)
    assert [each.name for each in found] == ["pay"]
    assert Catalogue().named_in("/pay", 3) == ()
