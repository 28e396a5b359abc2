"""What README, ARCHITECTURE and docs show runs, and what they name is there."""

import ast
import asyncio
import inspect
import re
import shlex
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from command import offing_here

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "ARCHITECTURE.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]

BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^>]+ -->\s*)?"
    r"^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
QUOTED = re.compile(r"(?<!`)`([\w.*/-]+)(?::\w+)?`(?!`)")
FILE = re.compile(r"\.(py|md|toml|csv|ofx)$|(^|/)(Makefile|py\.typed)$|/$")


class Block(NamedTuple):
    """One fenced block; `line` is that of its first line of text in the page."""

    language: str
    text: str
    line: int
    runs: bool


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text()
    for found in BLOCK.finditer(text):
        indent = found["indent"]
        lines = [line.removeprefix(indent) for line in found["text"].splitlines()]
        line = text.count("\n", 0, found.start("text")) + 1
        yield Block(found["language"], "\n".join(lines) + "\n", line, found["skip"] is None)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_python_block_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Later blocks go on where earlier ones ended. README's are scripts as they stand; elsewhere a
    # block may await, and all of a page's share one loop.
    namespace: dict[str, object] = {"__name__": "__main__"}
    awaits = 0 if page == "README.md" else ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with asyncio.Runner() as runner:
        for block in blocks(page):
            if block.language != "python":
                continue
            source = "\n" * (block.line - 1) + block.text
            code = compile(source, str(ROOT / page), "exec", flags=awaits)
            result: object = eval(code, namespace) if block.runs else None
            if inspect.iscoroutine(result):
                runner.run(result)


def test_every_command_of_the_readme_is_there() -> None:
    told = [words for block in blocks("README.md") for words in commands(block)]
    made = {word for name, *rest in told if name == "make" for word in rest}
    asked = {rest[0] for name, *rest in told if name == "offing" and rest}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {word for word in made if word[0] != "-" and "=" not in word} - targets == set()
    assert {word for word in asked if word[0] != "-" and not knows(word)} == set()


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block; of a console block, those behind its prompt."""
    if block.language not in {"sh", "console"}:
        return
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        if block.language == "console" and not line.startswith("$ "):
            continue
        for command in re.split(r"&&|\|\||[;|]", line.removeprefix("$ ")):
            words = shlex.split(command, comments=True)
            while words and re.match(r"\w+=", words[0]):
                words.pop(0)
            if words:
                yield [Path(words[0]).name, *words[1:]]


def knows(subcommand: str) -> bool:
    """Whether the command line has a subcommand."""
    return offing_here(subcommand, "--help").returncode == 0


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_relative_link_leads_somewhere(page: str) -> None:
    links = [link for link in LINK.findall((ROOT / page).read_text()) if ":" not in link]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


def test_every_path_that_the_architecture_names_is_there() -> None:
    there = tree()
    quoted: list[str] = QUOTED.findall((ROOT / "ARCHITECTURE.md").read_text())
    named = [path for path in quoted if FILE.search(path) or f"{path.split('/')[0]}/" in there]
    assert [path for path in named if not any(is_named(path, each) for each in there)] == []


def tree() -> list[str]:
    """Each file and folder of the repository; folders end in a slash."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    folders = {f"{folder}/" for path in listed for folder in Path(path).parents}
    return [*listed, *folders]


def is_named(pattern: str, path: str) -> bool:
    """`loop.py`, `models/model.py` and `prompts/*.md` name a path of that ending anywhere."""
    wanted = pattern.strip("/")
    return fnmatch(path.strip("/"), wanted) or fnmatch(path.strip("/"), f"*/{wanted}")
