"""Where skills are read from: what is there is read or reported, and nothing else is touched."""

import hashlib
from pathlib import Path

import pytest

from offing.skills import DocumentError, Finding, ResourceError, SkillFolders, read_skill, skill_of
from skill_files import write


def gathered(*folders: Path) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """The bodies of the skills by name, and the findings."""
    found = SkillFolders(folders, shipped=False).read()
    return {name: each.document.body for name, each in found.skills.items()}, found.findings


def test_one_level_of_folders_is_looked_at(tmp_path: Path) -> None:
    write(tmp_path / "close")
    write(tmp_path / "deep" / "hidden")
    (tmp_path / "notes.md").write_text("No skill.")
    (tmp_path / "empty").mkdir()
    assert gathered(tmp_path) == ({"close": "Do it."}, ())


def test_a_folder_that_is_a_skill_is_read_as_one(tmp_path: Path) -> None:
    assert gathered(write(tmp_path / "close")) == ({"close": "Do it."}, ())


def test_the_skill_of_the_later_folder_is_used_and_that_is_told(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path / "a" / "close", "Ours."), write(tmp_path / "b" / "close", "Theirs.")
    told = f"that of {theirs} is used instead of that of {ours}"
    assert gathered(tmp_path / "a", tmp_path / "b") == (
        {"close": "Theirs."},
        (Finding("close", told, used=True),),
    )


def test_the_shipped_skills_are_there_unless_they_are_turned_off() -> None:
    assert sorted(SkillFolders().read().skills) == [
        "batched-deposits",
        "general-investigation",
        "out-of-balance-investigation",
        "period-end-reconciliation",
    ]
    assert SkillFolders().read().findings == ()
    assert SkillFolders(shipped=False).read().skills == {}


def test_a_host_replaces_a_shipped_skill_by_one_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path / "general-investigation", "Ask Ann.")
    found = SkillFolders([tmp_path]).read()
    assert found.skills["general-investigation"].document.body == "Ask Ann."
    assert [(each.skill, each.used) for each in found.findings] == [("general-investigation", True)]


def test_a_skill_that_cannot_be_used_is_reported_by_name_and_the_others_are_there(tmp_path: Path) -> None:
    write(tmp_path / "good")
    bad = tmp_path / "bad" / "SKILL.md"
    bad.parent.mkdir()
    bad.write_text("---\nname: bad\n---\nBody.")
    lower = tmp_path / "lower" / "skill.md"
    lower.parent.mkdir()
    lower.write_text("---\nname: lower\ndescription: a\n---\nBody.")
    dangling = tmp_path / "dangling" / "SKILL.md"
    dangling.parent.mkdir()
    dangling.symlink_to(tmp_path / "nowhere.md")
    skills, findings = gathered(tmp_path, tmp_path / "gone")
    assert skills == {"good": "Do it."}
    assert findings == (
        Finding(str(lower.parent), "has a skill.md: a skill is in SKILL.md", used=False),
        Finding(str(bad.parent), f"{bad}: description is None; it has to be a text", used=False),
        Finding(str(dangling.parent), f"{dangling}: leads out of its folder", used=False),
        Finding(str(tmp_path / "gone"), "cannot be read: No such file or directory", used=False),
    )


def test_no_link_leads_out_of_the_folder_that_was_given(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "secret")
    (tmp_path / "secret.txt").write_text("secret")
    given = tmp_path / "given"
    skill = write(given / "close", file_md="text")
    (given / "linked").symlink_to(outside)
    (skill / "out.txt").symlink_to(tmp_path / "secret.txt")
    (skill / "circle").symlink_to(skill / "circle")
    (skill / "folder").symlink_to(outside)
    (skill / "self").symlink_to(skill, target_is_directory=True)
    (skill / "again.md").symlink_to(skill / "file.md")
    skills, findings = gathered(given)
    told = "leads out of the skill's folder, and is not offered"
    assert (skills, sorted(findings)) == (
        {"close": "Do it."},
        [
            Finding(
                str(given / "linked"),
                "leads out of the folder it is in: give the folder that it leads to",
                used=False,
            ),
            Finding("close", f"{skill}: circle {told}", used=True),
            Finding("close", f"{skill}: folder {told}", used=True),
            Finding("close", f"{skill}: out.txt {told}", used=True),
            Finding("close", f"{skill}: self is a link to a folder, and is not followed", used=True),
        ],
    )
    assert [each.path for each in read_skill(skill).resources] == ["again.md", "file.md"]


def test_resources_are_named_by_their_path_with_size_and_digest(tmp_path: Path) -> None:
    skill = write(tmp_path / "close", references__a_md="é", assets__deep__b_md="b", c_md="c")
    (skill / ".hidden").write_text("no")
    (skill / "__pycache__").mkdir()
    (skill / "__pycache__" / "x.pyc").write_text("no")
    assert [(each.path, each.size, each.digest) for each in read_skill(skill).resources] == [
        ("assets/deep/b.md", 1, hashlib.sha256(b"b").hexdigest()),
        ("c.md", 1, hashlib.sha256(b"c").hexdigest()),
        ("references/a.md", 2, hashlib.sha256("é".encode()).hexdigest()),
    ]


def test_a_huge_tree_is_bounded_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    skill = write(tmp_path / "close", a__b__c__d__deep_md="x")
    (skill / "large.bin").write_bytes(b"x" * 5_000_001)
    for number in range(1_001):
        (skill / "many").mkdir(exist_ok=True)
        (skill / "many" / f"{number}.txt").write_text("x")
        (skill / "z").mkdir(exist_ok=True)
        if number < 101:
            (skill / "z" / f"{number:03}.txt").write_text("x")
    read = read_skill(skill)
    assert [each.path for each in read.resources] == [f"z/{number:03}.txt" for number in range(100)]
    assert read.findings == (
        "a/b/c/d is more than 3 folders deep, and is not offered",
        "large.bin is larger than 5000000 bytes, and is not offered",
        "many/* are more than 1000 files, and are not offered",
        "it has more than 100 resources: those from z/100.txt on are not offered",
    )


def test_a_folder_of_too_many_entries_is_reported_and_not_read(tmp_path: Path) -> None:
    for number in range(1_001):
        (tmp_path / f"{number}").touch()
    told = "has more than 1000 entries: give a folder that holds skills only"
    assert gathered(tmp_path) == ({}, (Finding(str(tmp_path), told, used=False),))


def test_a_resource_that_changed_since_is_not_given(tmp_path: Path) -> None:
    skill = skill_of(read_skill(write(tmp_path / "close", a_md="first", b_md="b")))
    (skill.folder / "a.md").write_text("second")
    (skill.folder / "b.md").unlink()
    with pytest.raises(ResourceError, match=r"^a\.md has changed since the skill was read: open a new"):
        skill.resource("a.md")
    with pytest.raises(ResourceError, match=r"^b\.md cannot be read: No such file"):
        skill.resource("b.md")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("metadata:\n  output: out.md\n", "SKILL.md: metadata.output names 'out.md', which is none of"),
        ("metadata:\n  output: ../x.md\n", "SKILL.md: metadata.output names '../x.md', which is none of"),
        ("metadata:\n  output: empty.md\n", "empty.md: names no section: write one heading, as"),
        ("metadata:\n  output: bad.md\n", "bad.md: is not UTF-8"),
        ("metadata:\n  config.a-b: '1'\n", "SKILL.md: metadata.config.a-b: 'a-b' can be no placeholder"),
        (
            "metadata:\n  feature: two flags\n",
            "SKILL.md: metadata.feature is 'two flags'; it has to name one",
        ),
    ],
)
def test_what_a_skill_says_of_itself_has_to_hold(tmp_path: Path, head: str, told: str) -> None:
    skill = write(tmp_path / "close", head=head, empty_md="Nothing.")
    (skill / "bad.md").write_bytes(b"\xff")
    with pytest.raises(DocumentError) as caught:
        read_skill(skill)
    assert str(caught.value).startswith(f"{skill}/{told}")
