"""Where skills are read from: the folders that a host gives, and the shipped one, and no other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from .document import FILE
from .errors import DocumentError
from .resources import MOST_ENTRIES, is_inside
from .written import Written, read_skill

SHIPPED = Path(__file__).parent / "shipped"
"""The workflow skills that come with the library."""


class Finding(NamedTuple):
    """Something about a skill that its host should know."""

    skill: str
    """Its name, or its folder where it has none."""
    text: str
    used: bool
    """False when the skill is not there because of it."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """The skills of all folders."""

    skills: Mapping[str, Written] = field(default_factory=dict[str, Written])
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillFolders:
    """Folders of skills. Whoever gives one trusts what is in it: its text goes to the model as it stands."""

    folders: Sequence[str | Path] = ()
    """Each holds skills as `NAME/SKILL.md`, or is one itself. Of two skills of one name, that of the
    later folder is used; the shipped ones come before all others."""
    shipped: bool = True
    """Whether the workflow skills of the library are there too."""

    def read(self) -> Gathered:
        """Reads them all. What cannot be used is among the findings, with its name and the reason."""
        skills: dict[str, Written] = {}
        findings: list[Finding] = []
        for root in (*([SHIPPED] if self.shipped else []), *map(Path, self.folders)):
            for folder in _skill_folders(root, findings):
                _take(folder, skills, findings)
        return Gathered(skills, tuple(findings))


def _skill_folders(root: Path, findings: list[Finding]) -> list[Path]:
    try:
        if _holds_skill(root):
            return [root]
        entries = list(islice(root.iterdir(), MOST_ENTRIES + 1))
        if len(entries) > MOST_ENTRIES:
            told = f"has more than {MOST_ENTRIES} entries: give a folder that holds skills only"
            findings.append(Finding(str(root), told, used=False))
            return []
        inside = root.resolve()
        return [path for path in sorted(entries) if _is_skill(path, inside, findings)]
    except OSError as error:
        findings.append(Finding(str(root), f"cannot be read: {error.strerror}", used=False))
        return []


def _is_skill(path: Path, root: Path, findings: list[Finding]) -> bool:
    if not _holds_skill(path):
        if (path / FILE.lower()).is_file():
            told = f"has a {FILE.lower()}: a skill is in {FILE}"
            findings.append(Finding(str(path), told, used=False))
        return False
    if is_inside(path, root):
        return True
    told = "leads out of the folder it is in: give the folder that it leads to"
    findings.append(Finding(str(path), told, used=False))
    return False


def _holds_skill(folder: Path) -> bool:
    """Whether there is a SKILL.md, be it a link that leads nowhere: that is told when it is read."""
    return (folder / FILE).is_file() or (folder / FILE).is_symlink()


def _take(folder: Path, skills: dict[str, Written], findings: list[Finding]) -> None:
    try:
        written = read_skill(folder)
    except DocumentError as error:
        findings.append(Finding(str(folder), str(error), used=False))
        return
    except OSError as error:
        findings.append(Finding(str(folder), f"cannot be read: {error.strerror}", used=False))
        return
    name = written.document.name
    findings += [Finding(name, f"{folder}: {each}", used=True) for each in written.findings]
    if name in skills:
        told = f"that of {folder} is used instead of that of {skills[name].folder}"
        findings.append(Finding(name, told, used=True))
    skills[name] = written
