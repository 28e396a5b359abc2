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


def document(folder: Path, text: str | bytes) -> Document:
    """The document that the text is, in a folder of the name that it should have."""
    place = folder / "reconcile" / "SKILL.md"
    place.parent.mkdir(exist_ok=True)
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
    ],
)
def test_a_document_whose_meaning_is_plain_is_read(
    tmp_path: Path, text: str, findings: tuple[str, ...]
) -> None:
    assert document(tmp_path, text) == Document(
        tmp_path / "reconcile" / "SKILL.md",
        "reconcile",
        "Reconciles accounts.",
        "# Steps\n\nLook first.",
        findings=findings,
    )


def test_every_field_of_the_standard_is_read_and_all_scalars_are_texts(tmp_path: Path) -> None:
    head = (
        "license: MIT\ncompatibility: Needs git\nallowed-tools: Read Bash(git add:*)\n"
        "metadata:\n  version: 1.0\n  when: 2026-99-99\n  on: yes\n  deep:\n    - a\nversion: 3\nname:"
    )
    assert document(tmp_path, GOOD.replace("name:", head)) == Document(
        tmp_path / "reconcile" / "SKILL.md",
        "reconcile",
        "Reconciles accounts.",
        "# Steps\n\nLook first.",
        license="MIT",
        compatibility="Needs git",
        metadata={"version": "1.0", "when": "2026-99-99", "on": "yes"},
        allowed_tools=("Read", "Bash(git add:*)"),
        findings=(
            "'version' is no field of the standard, and is not used: put it into metadata",
            "metadata.deep is ['a'], and is not used; it has to be a text",
        ),
    )


@pytest.mark.parametrize(
    "description",
    ["Reconcile: banks and ledgers", "It's: here", "*bold* words", "100 %: all", "ends with:", "@home: x"],
)
def test_one_unquoted_line_costs_neither_the_skill_nor_its_limits(tmp_path: Path, description: str) -> None:
    text = (
        f"---\nname: reconcile\ndescription: {description}\nallowed-tools: Read Grep\n"
        "metadata:\n  feature: beta\n---\nBody."
    )
    found = document(tmp_path, text)
    assert (found.description, found.allowed_tools) == (description, ("Read", "Grep"))
    assert (found.metadata, found.findings) == ({"feature": "beta"}, (COLON,))


@pytest.mark.parametrize(
    ("limits", "tools"),
    [
        ("allowed-tools: Read, Write", ("Read", "Write")),
        ("allowed-tools: 'Bash(git add:*)  Read'", ("Bash(git add:*)", "Read")),
        ("allowed-tools: [Read, Write]", ("Read", "Write")),
        ("allowed-tools:\n  - Read\n  - Bash(ls)", ("Read", "Bash(ls)")),
    ],
)
def test_limits_that_can_be_read_are_read(tmp_path: Path, limits: str, tools: tuple[str, ...]) -> None:
    found = document(tmp_path, GOOD.replace("name:", f"{limits}\nname:"))
    is_list = "[" in limits or "\n" in limits
    told = ("allowed-tools is a list; the standard wants one text, separated by spaces",)
    assert (found.allowed_tools, found.findings) == (tools, told if is_list else ())


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ("allowed-tools:", "allowed-tools is ''; it has to name tools"),
        ("allowed-tools: []", "allowed-tools is []; it has to name tools"),
        ("allowed-tools: Bash(git", "allowed-tools is 'Bash(git'; it has to name tools"),
        ("allowed-tools: {Read: yes}", "allowed-tools is {'Read': 'yes'}; it has to name tools"),
        ("allowed-tools:\n  - [Read]", "allowed-tools is [['Read']]; it has to name tools"),
        ("allowed-tools: Read\nallowed-tools: Write", "'allowed-tools' is there twice: keep one"),
        ("allowed_tools: Read", "'allowed_tools' is no field of the standard; did you mean allowed-tools?"),
        ("allowedTools: Read", "'allowedTools' is no field of the standard; did you mean allowed-tools?"),
        ("feature: beta", "'feature' is no field of the standard; did you mean metadata.feature?"),
        ("metadata: beta", "metadata is 'beta'; it has to be a mapping of texts"),
        ("metadata:\n  feature: [beta]", "metadata.feature is ['beta']; metadata.feature has to name a flag"),
        ("metadata:\n  Feature: beta", "metadata.Feature is 'beta'; metadata.feature has to name a flag"),
        ("metadata:\n  feature:", "metadata.feature is ''; metadata.feature has to name a flag"),
    ],
)
def test_limits_that_cannot_be_read_close(tmp_path: Path, limits: str, told: str) -> None:
    with pytest.raises(DocumentError) as caught:
        document(tmp_path, GOOD.replace("name:", f"{limits}\nname:"))
    assert str(caught.value).startswith(f"{tmp_path / 'reconcile' / 'SKILL.md'}: {told}")


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
        ("---\nname: [a]\ndescription: a\n---\nBody.", "name is ['a']; it has to be a text"),
        ("---\nname: a\ndescription: ' '\n---\nBody.", "description is ' '; it has to be a text"),
        ("---\nname: a\nname: b\ndescription: c\n---\nBody.", "'name' is there twice: keep one"),
        ("---\nname: [a\ndescription\n---\nBody.", "its frontmatter is no YAML: "),
        ("---\nname: !!python/name:os.system\n\ta: b\n---\nBody.", "its frontmatter is no YAML: "),
        (
            "---\nname: a\ndescription: b\nmore: " + "[" * 5000 + "\n ]\n---\nBody.",
            "its frontmatter is no YAML: ",
        ),
        (GOOD.replace("name:", f"# {'x' * 32_000}\nname:"), "its frontmatter has more than 32000 characters"),
        (b"---\nname: \xff\n", "is not UTF-8: "),
        (GOOD + "x" * 100_000, "is larger than 100000 bytes: put details into references"),
    ],
)
def test_a_document_without_a_plain_meaning_is_reported_by_name_with_the_reason(
    tmp_path: Path, text: str | bytes, told: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        document(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'reconcile' / 'SKILL.md'}: {told}")


def test_values_that_are_nested_without_end_are_told_in_short(tmp_path: Path) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    with pytest.raises(DocumentError) as caught:
        document(tmp_path, f"---\na0: &a0 [x]\n{levels}\nname: *a29\ndescription: a\n---\nBody.")
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("x\n" * 500, ()),
        ("x\n" * 501, ("its body has 501 lines and 1001 characters",)),
        ("x" * 20_001, ("its body has 1 lines and 20001 characters",)),
    ],
)
def test_a_body_longer_than_advised_is_read_and_told(
    tmp_path: Path, body: str, told: tuple[str, ...]
) -> None:
    found = document(tmp_path, GOOD.replace("# Steps\n\nLook first.\n", body))
    assert tuple(each.partition(";")[0] for each in found.findings) == told


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
        told = [str(error).removeprefix(f"{folder / 'reconcile' / 'SKILL.md'}: ")]
    else:
        told = [found.name, found.description, found.body]
    assert all(told)
