"""SKILL.md files as people write them: read where the meaning is plain, else reported by name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.skills import Document, DocumentError, read_document

GOOD = "---\nname: reconcile\ndescription: Reconciles accounts.\n---\n# Steps\n\nLook first.\n"
BOM = "a byte-order mark was left out"
ENDS = "line ends were made plain"
COLON = "unquoted text with a colon was read as it stands"


def document(path: Path, text: str | bytes) -> Document:
    place = path / "SKILL.md"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_document(place)


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (GOOD, ()),
        ("\ufeff" + GOOD, (BOM,)),
        (GOOD.replace("\n", "\r\n"), (ENDS,)),
        (GOOD.replace("\n", "\r"), (ENDS,)),
        ("\ufeff" + GOOD.replace("\n", "\r\n"), (BOM, ENDS)),
        (GOOD.replace("---\n", "---  \n"), ()),
        (GOOD.replace("Reconciles accounts.", '"Reconciles accounts."'), ()),
        (GOOD.replace("Reconciles accounts.", "|\n  Reconciles accounts."), ()),
        (GOOD.replace("name:", "license: MIT\nversion: 3\nmetadata:\n  a: b\nname:"), ()),
    ],
)
def test_a_document_whose_meaning_is_plain_is_read(
    tmp_path: Path, text: str, findings: tuple[str, ...]
) -> None:
    assert document(tmp_path, text) == Document(
        tmp_path / "SKILL.md", "reconcile", "Reconciles accounts.", "# Steps\n\nLook first.", findings
    )


def test_an_unquoted_colon_in_a_description_is_read_as_it_stands_and_said_to_be(tmp_path: Path) -> None:
    text = GOOD.replace("Reconciles accounts.", "Reconcile: banks and ledgers")
    found = document(tmp_path, text)
    assert (found.description, found.findings) == ("Reconcile: banks and ledgers", (COLON,))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no frontmatter: its first line has to be '---'"),
        ("# Steps\n", "has no frontmatter: its first line has to be '---'"),
        ("\n" + GOOD, "has no frontmatter: its first line has to be '---'"),
        (GOOD.replace(".\n---", "."), "its frontmatter never ends: close it with a line '---'"),
        ("---\nname: a\ndescription: b\n---\n", "nothing stands after the frontmatter"),
        ("---\nname: a\ndescription: b\n---\n \n\t\n", "nothing stands after the frontmatter"),
        ("---\n---\nBody.", "its frontmatter has to be a mapping, such as `name: ...`"),
        ("---\n- name\n---\nBody.", "its frontmatter has to be a mapping, such as `name: ...`"),
        ("---\nname: a\n---\nBody.", "description is None; it has to be a text"),
        ("---\ndescription: a\n---\nBody.", "name is None; it has to be a text"),
        ("---\nname: 3\ndescription: a\n---\nBody.", "name is 3; it has to be a text"),
        ("---\nname: yes\ndescription: a\n---\nBody.", "name is True; it has to be a text"),
        ("---\nname: a\ndescription: ' '\n---\nBody.", "description is ' '; it has to be a text"),
        ("---\nname: [a\ndescription\n---\nBody.", "its frontmatter is no YAML: "),
        ("---\nname: !!python/name:os.system\n\ta: b\n---\nBody.", "its frontmatter is no YAML: "),
        (
            "---\nname: a\ndescription: b\nmore: " + "[" * 5000 + "\n ]\n---\nBody.",
            "its frontmatter is no YAML: ",
        ),
        (b"---\nname: \xff\n", "is not UTF-8: "),
    ],
)
def test_a_document_without_a_plain_meaning_is_reported_by_name_with_the_reason(
    tmp_path: Path, text: str | bytes, told: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        document(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'SKILL.md'}: {told}")


def test_a_date_that_yaml_cannot_hold_does_not_hide_the_document(tmp_path: Path) -> None:
    found = document(tmp_path, GOOD.replace("name:", "when: 2026-99-99\nname:"))
    assert (found.name, found.findings) == ("reconcile", (COLON,))


def test_a_missing_document_and_a_folder_are_reported(tmp_path: Path) -> None:
    for place, told in ((tmp_path / "no.md", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(DocumentError, match=told):
            read_document(place)


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode), st.booleans())
def test_any_bytes_are_a_document_or_a_reported_error(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    framed: bool,  # noqa: FBT001
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = b"---\n" + data + b"\n---\nBody.\n" if framed else data
    try:
        found = document(folder, text)
    except DocumentError as error:
        told = [str(error).removeprefix(f"{folder / 'SKILL.md'}: ")]
    else:
        told = [found.name, found.description, found.body]
    assert all(told)
