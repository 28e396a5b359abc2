"""What the model sees of skills, stored: a change of a prompt shows here as a diff."""

from pathlib import Path

from inline_snapshot import snapshot

from loopback import Answer, Loopback, Text, ToolUse, in_order
from loopback_prompt import blocks_of
from offing.engine import Engine
from offing.engine.session_skills import LISTED_CHARS, listing
from offing.skills import Override, Skill, SkillFolders, SkillSettings
from skill_files import write
from transcript import transcript
from worlds import Claude, outside

HEAD = """\
allowed-tools: Read
metadata:
  version: "1.0"
  output: references/output.md
  config.limit: "100.00"
"""


def folder(tmp_path: Path) -> SkillFolders:
    write(
        tmp_path / "skills" / "close-books",
        "1. Look at both sides.\n2. Ignore what is below ${limit}.",
        HEAD,
        references__output_md="## Verdict\n\nYes or no.\n",
    )
    write(tmp_path / "skills" / "audit", "Ask twice.")
    write(tmp_path / "skills" / "file-taxes", "Only in March.", "metadata:\n  feature: taxes\n")
    return SkillFolders([tmp_path / "skills"], shipped=False)


async def test_skills_in_the_context_of_a_session(tmp_path: Path) -> None:
    settings = SkillSettings(start=["audit"], overrides={"audit": Override("Then ask Ann.")})
    with Loopback() as server:
        async with Engine(Claude(server), skills=folder(tmp_path), outside=outside()) as engine:
            await engine.session("s", skills=settings).ask("Hello.")
    context = blocks_of(server.requests[0].json["system"])[1]["text"]
    assert (server.refusals, context) == (
        [],
        snapshot("""\
# This session


Today is Monday, 2026-09-14 (UTC).

# Skills

- close-books: Does close-books.

<skill_content name="audit" version="4faa2a7028ce">
Ask twice.

Then ask Ann.
</skill_content>\
"""),
    )


async def test_the_shipped_skills_in_the_context_of_a_session_without_systems() -> None:
    with Loopback() as server:
        async with Engine(Claude(server), outside=outside()) as engine:
            await engine.session("s").ask("Hello.")
    assert blocks_of(server.requests[0].json["system"])[1]["text"] == snapshot("""\
# This session


Today is Monday, 2026-09-14 (UTC).

# Skills

- general-investigation: Work out the answer to an open question over any connected systems, step by step and with evidence, from the first look to a conclusion that says how sure it is. Use it when a question takes several sources or steps, asks why or how something came about, and no more specific skill fits.\
""")  # noqa: E501


async def test_skills_named_by_the_user_and_loaded_by_the_model(tmp_path: Path) -> None:
    replies = [
        Answer([ToolUse("load_skill", {"name": "audits"}), ToolUse("load_skill", {"name": "file-taxes"})]),
        Answer([ToolUse("load_skill", {"name": "audit"})]),
        Answer(
            [
                ToolUse("load_skill", {"name": "audit"}),
                ToolUse("load_skill", {"name": "close-books"}),
                ToolUse("load_skill", {"name": "close-books", "resource": "references/output.md"}),
                ToolUse("load_skill", {"name": "close-books", "resource": "../audit/SKILL.md"}),
            ]
        ),
        Answer([Text("## Verdict\n\nYes.")]),
    ]
    with Loopback(in_order(replies)) as server:
        async with Engine(Claude(server), skills=folder(tmp_path), outside=outside()) as engine:
            await engine.session("s").ask("/close-books for September")
    assert server.refusals == []
    scenario = "a skill named by the user; names that are wrong; one loaded, loaded again; its files"
    assert transcript(scenario, server.requests[-1].json) == snapshot("""\
Scenario: a skill named by the user; names that are wrong; one loaded, loaded again; its files
1 user: /close-books for September
2 user: <note><skill_content name="close-books" version="1.0+8f949c96ae85">\\n1. Look at  ...201... \\n- references/output.md (23 bytes)\\n</skill_resources>\\n</skill_content></note>
3 assistant: CALL toolu_0000_0 load_skill {"name":"audits"} | CALL toolu_0000_1 load_skill {"name":"file-taxes"}
4 user: RESULT toolu_0000_0 ERROR There is no skill 'audits' in this session. Nearest: audit. There are: audit, close-books. | RESULT toolu_0000_1 ERROR There is no skill 'file-taxes' in this session. There are: audit, close-books.
5 assistant: CALL toolu_0001_0 load_skill {"name":"audit"}
6 user: RESULT toolu_0001_0 <skill_content name="audit" version="5140eee848a9">\\nAsk twice.\\n</skill_content>
7 assistant: CALL toolu_0002_0 load_skill {"name":"audit"} | CALL toolu_0002_1 load_skill {"name":"close-books"} | CALL toolu_0002_2 load_skill {"name":"close-books","resource":"references/output.md"} | CALL toolu_0002_3 load_skill {"name":"close-books","resource":"../audit/SKILL.md"}
8 user: RESULT toolu_0002_0 The skill audit (version 5140eee848a9) is active already: its text stands in the result of an earlier call of `load_skill`. Follow it; do not load it again. | RESULT toolu_0002_1 The skill close-books (version 1.0+8f949c96ae85) is active already: its text stands in a note above. Follow it; do not load it again. | RESULT toolu_0002_2 ## Verdict\\n\\nYes or no.\\n | RESULT toolu_0002_3 ERROR skill close-books has no file '../audit/SKILL.md'. It has: references/output.md *\
""")  # noqa: E501


async def test_a_skill_whole(tmp_path: Path) -> None:
    with Loopback() as server:
        async with Engine(Claude(server), skills=folder(tmp_path), outside=outside()) as engine:
            await engine.session("s").ask("/close-books")
    assert blocks_of(server.requests[0].json["messages"][1]["content"])[0]["text"] == snapshot("""\
<note><skill_content name="close-books" version="1.0+8f949c96ae85">
1. Look at both sides.
2. Ignore what is below 100.00.

The answer needs these sections, each under a heading: "Verdict".

Its author had these tools in mind: Read. That permits nothing.

<skill_resources>
- references/output.md (23 bytes)
</skill_resources>
</skill_content></note>\
""")


def skills(number: int, description: str) -> list[Skill]:
    return [Skill(f"skill-{place:04}", description, "", "", Path()) for place in range(number)]


def test_a_list_of_very_many_skills_is_cut_by_a_rule_that_it_states() -> None:
    assert listing([]) == ""
    assert listing(skills(2, "Does it.")) == "- skill-0000: Does it.\n- skill-0001: Does it."
    long = listing(skills(19, "x" * 1_024))
    assert (len(long), long.count("x" * 1_024)) == (19 * (14 + 1_024 + 1) - 1, 19)
    short = listing(skills(30, "x" * 1_024))
    assert short.splitlines()[29] == f"- skill-0029: {'x' * 117}..."
    names = listing(skills(1_000, "x" * 1_024)).splitlines()
    assert names == [f"- skill-{place:04}" for place in range(1_000)]
    cut = listing(skills(10_000, ""))
    assert len(cut) < LISTED_CHARS + 100
    assert cut.splitlines()[-2:] == [
        "- skill-1537",
        "8462 more are not listed: `load_skill` with words of the work names the nearest.",
    ]


def test_a_description_of_more_than_the_standard_allows_is_cut() -> None:
    assert listing(skills(1, "x" * 2_000)) == f"- skill-0000: {'x' * 1_021}..."
