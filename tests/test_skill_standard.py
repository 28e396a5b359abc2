"""What the standard's own reader says of a SKILL.md, ours says too, on documents right and wrong."""

from pathlib import Path

import pytest
import skills_ref  # pyright: ignore[reportMissingTypeStubs]
from hypothesis import given
from hypothesis import strategies as st

from offing.skills import DocumentError, read_document, validate

ROOT = Path(__file__).parents[1]
OURS = sorted((*ROOT.glob("skills/shipped/*/SKILL.md"), *ROOT.glob("namespaces/*/SKILL.md")))

FIELDS: dict[str, tuple[str, ...]] = {
    "name": (
        "name: close-books",
        "name: 'close-books'",
        "name: close-books2",
        "name: close-buchführung",
        "name: Close-books",
        "name: close--books",
        "name: -close-books",
        "name: close-books-",
        "name: close_books",
        "name: close books",
        "name: 3",
        "name: 'on'",
        f"name: {'a' * 64}",
        f"name: {'a' * 65}",
        "name: ''",
        "",
    ),
    "description": (
        "description: Closes books.",
        "description: 2026-09-30",
        "description: >\n  Closes books,\n  each month.",
        "description: |\n  Closes books,\n  each month.",
        f"description: {'a' * 1024}",
        f"description: {'a' * 1025}",
        "description: ''",
        "description: Closes: books",
        "description:\n  nested: text",
        "",
    ),
    "license": ("", "license: Apache-2.0"),
    "compatibility": (
        "",
        "compatibility: Needs Python 3.11",
        f"compatibility: {'a' * 500}",
        f"compatibility: {'a' * 501}",
        "compatibility:\n  - git",
    ),
    "metadata": ("", 'metadata:\n  version: "1.0"\n  author: us', "metadata:\n  version: 1.0"),
    "allowed-tools": ("", "allowed-tools: Read Grep Bash(git:*)"),
    "other": ("", "version: 1", "tags: a b"),
}
"""For each field, ways in which people write it; the first of each is right."""
DOCUMENTS = st.fixed_dictionaries({name: st.sampled_from(ways) for name, ways in FIELDS.items()})


def folder_of(base: Path, fields: dict[str, str]) -> Path:
    """A skill's folder, named as its name asks for where a folder can be named so."""
    name = fields["name"].removeprefix("name: ").strip("'")
    folder = base / (name or "close-books")
    folder.mkdir(exist_ok=True)
    head = "\n".join(filter(None, fields.values()))
    (folder / "SKILL.md").write_text(f"---\n{head}\n---\n# Steps\n\nLook.\n", "utf-8")
    return folder


def is_right(folder: Path) -> bool:
    return skills_ref.validate(folder) == []


RIGHT = {name: ways[0] for name, ways in FIELDS.items()}
EACH_ALONE = [(name, place) for name, ways in FIELDS.items() for place in range(len(ways))]
"""A right document, and every one that differs from it in one field."""


@pytest.mark.parametrize(("name", "way"), EACH_ALONE)
def test_each_violation_is_seen_and_nothing_else_is(tmp_path: Path, name: str, way: int) -> None:
    folder = folder_of(tmp_path, {**RIGHT, name: FIELDS[name][way]})
    assert (validate(folder) == []) == is_right(folder), validate(folder)


@given(DOCUMENTS)
def test_any_mixture_is_judged_alike(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, str]
) -> None:
    folder = folder_of(tmp_path_factory.getbasetemp(), fields)
    assert (validate(folder) == []) == is_right(folder), validate(folder)


@given(DOCUMENTS)
def test_what_is_right_is_read_alike(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, str]
) -> None:
    folder = folder_of(tmp_path_factory.getbasetemp(), fields)
    if not is_right(folder):
        return
    read, wanted = read_document(folder / "SKILL.md"), skills_ref.read_properties(folder)
    assert (read.name, read.description) == (wanted.name, wanted.description)
    assert (read.license or None, read.compatibility or None) == (wanted.license, wanted.compatibility)
    assert (read.metadata or None) == (wanted.metadata or None)
    assert " ".join(read.allowed_tools or ()) == (wanted.allowed_tools or "")
    assert read.findings == ()


def test_the_name_has_to_be_that_of_the_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"name": "name: close-books", "description": "description: Closes."})
    moved = folder.rename(tmp_path / "other")
    assert not is_right(moved)
    assert validate(moved) == ["name is 'close-books'; it has to be that of the folder, 'other'"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Steps", "has no frontmatter: its first line has to be '---'"),
        ("---\nname: a\ndescription: b\n", "its frontmatter never ends: close it with a line '---'"),
        ("---\n- a\n---\nBody.", "its frontmatter has to be a mapping, such as `name: ...`"),
        ("---\nname: a\nname: a\ndescription: b\n---\nBody.", "'name' is there twice: keep one"),
    ],
)
def test_a_document_of_no_form_is_refused_by_both(tmp_path: Path, text: str, told: str) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "SKILL.md").write_text(text, "utf-8")
    assert not is_right(folder)
    assert validate(folder) == [told]


def test_a_missing_document_is_refused_by_both(tmp_path: Path) -> None:
    assert not is_right(tmp_path)
    assert validate(tmp_path) == ["cannot be read: No such file or directory"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.parent.name)
def test_every_skill_and_guide_that_is_shipped_is_right(path: Path) -> None:
    assert (skills_ref.validate(path.parent), validate(path.parent)) == ([], [])


def test_a_name_that_is_not_as_it_should_be_is_a_finding_and_the_skill_is_used(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"name": "name: Close_Books", "description": "description: Closes."})
    found = read_document(folder / "SKILL.md")
    assert (found.name, found.findings) == (
        "Close_Books",
        ("name is 'Close_Books'; only lower-case letters, digits and '-' are allowed",),
    )


def test_a_description_that_is_missing_keeps_a_skill_from_being_used(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"name": "name: close-books"})
    with pytest.raises(DocumentError, match="description is None; it has to be a text"):
        read_document(folder / "SKILL.md")
