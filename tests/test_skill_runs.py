"""Skills at work in a run: made active by the host, by the user and by the model, and recorded."""

from pathlib import Path

import pytest

from offing.engine import Call, Engine, Limits, MemoryStore, Scripted, Step
from offing.engine.errors import ConfigurationError
from offing.engine.events import SkillLoaded
from offing.engine.run_state import ActiveSkill
from offing.engine.store.facts import SkillActivated
from offing.namespaces import FunctionNamespace, ToolOutput
from offing.skills import Finding, Override, SkillFolders, SkillSettings
from skill_files import write
from worlds import async_tool, outside, state_of

OUTPUT = "# Answer\n\n## Verdict\n\n## Rest (optional)\n"
PNG = b"\x89PNG\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    head = "allowed-tools: Read\nmetadata:\n  output: out.md\n  namespaces: bank\n"
    skill = write(root / "close-books", "Close them.", head, out_md=OUTPUT, references__how_md="How.")
    (skill / "chart.png").write_bytes(PNG)
    (skill / "data.bin").write_bytes(b"\xff\xfe")
    write(root / "audit", "Audit.", "metadata:\n  output: out.md\n", out_md="## Opinion\n")
    write(root / "secret-work", "Secret.", "metadata:\n  feature: beta\n")
    return root


def engine_of(script: list[Step | str], folder: Path) -> Engine:
    given = SkillFolders([folder], shipped=False)
    bank = FunctionNamespace("bank", [async_tool(_look, "look")])
    return Engine(Scripted(script), [bank], skills=given, check="off", outside=outside())


async def _look(arguments: object, context: object) -> ToolOutput:
    return ToolOutput("looked")


def load(name: str, resource: str | None = None) -> Step:
    given = {"name": name} if resource is None else {"name": name, "resource": resource}
    return Step(calls=[Call("load_skill", given)])


async def told(folder: Path, *steps: Step, text: str = "Go.") -> list[str]:
    """What the model is told by the calls of the steps."""
    async with engine_of([*steps, "## Verdict\n\nDone."], folder) as engine:
        result = await engine.session("s").ask(text)
        assert result.answered, result
        state = await state_of(engine, "s")
    return [one.content for message in state.conversation.messages for one in message.results]


async def activated(engine: Engine, session: str = "s") -> list[SkillActivated]:
    rows = engine.store.journal.read(session)
    return [row.fact async for row in rows if isinstance(row.fact, SkillActivated)]


async def version_of(folder: Path, name: str) -> str:
    (content,) = await told(folder, load(name))
    return content.split('version="')[1].split('"')[0]


async def test_a_skill_that_the_model_loads_is_its_result_and_a_fact(folder: Path) -> None:
    async with engine_of([load("close-books"), "## Verdict\n\nDone."], folder) as engine:
        await engine.session("s").ask("Go.")
        (fact,) = await activated(engine)
        state = await state_of(engine, "s")
    assert fact == SkillActivated("close-books", fact.version, "model", ("Verdict",), call="1.1")
    assert state.skills == {"close-books": ActiveSkill(fact.version, "1.1")}
    assert state.current.sections == ("Verdict",)
    (result,) = state.conversation.messages[2].results
    assert result.content == (
        f'<skill_content name="close-books" version="{fact.version}">\n'
        "Close them.\n\n"
        'The answer needs these sections, each under a heading: "Verdict".\n\n'
        "Its author had these tools in mind: Read. That permits nothing.\n\n"
        "<skill_resources>\n"
        "- chart.png (6 bytes)\n- data.bin (2 bytes)\n- out.md (41 bytes)\n- references/how.md (4 bytes)\n"
        "</skill_resources>\n"
        "</skill_content>"
    )


async def test_a_skill_is_loaded_once(folder: Path) -> None:
    version = await version_of(folder, "close-books")
    _, again = await told(folder, load("close-books"), load("/close-books"))
    assert again == (
        f"The skill close-books (version {version}) is active already: its text stands in the result of an "
        "earlier call of `load_skill`. Follow it; do not load it again."
    )


async def test_a_skill_that_the_user_names_is_a_note_after_the_message(folder: Path) -> None:
    text = "/close-books for September"
    async with engine_of(["## Verdict\n\nDone."], folder) as engine:
        async with engine.session("s").run(text) as run:
            events = [event async for event in run]
        (fact,) = await activated(engine)
        state = await state_of(engine, "s")
    assert (fact.how, fact.sections, fact.call) == ("request", ("Verdict",), "")
    said = [(message.role, message.text) for message in state.conversation.messages]
    assert said[:2] == [("user", text), ("note", fact.text)]
    assert fact.text.startswith('<skill_content name="close-books"')
    assert state.skills == {"close-books": ActiveSkill(fact.version, message=1)}
    assert [event for event in events if isinstance(event, SkillLoaded)] == [
        SkillLoaded(3, "s.1", "close-books", fact.version, "request")
    ]


async def test_a_skill_from_the_start_is_part_of_the_context_and_of_the_first_run(folder: Path) -> None:
    async with engine_of(["Done.", load("close-books"), "Done."], folder) as engine:
        session = engine.session("s", skills=["close-books"])
        await session.ask("/close-books now")
        first = await state_of(engine, "s")
        await session.ask("Again.")
        facts = await activated(engine)
        second = await state_of(engine, "s")
        opened = first.opened
        assert opened is not None
        context = (await engine.store.artifacts.get(opened.context)).decode()
    version = facts[0].version
    assert facts == [
        SkillActivated("close-books", version, "start", ("Verdict",)),
        SkillActivated("close-books", version, "model", ("Verdict",)),
    ]
    assert first.skills == second.skills == {"close-books": ActiveSkill(version)}
    assert "Close them." in context
    assert "- close-books:" not in context
    (result,) = second.conversation.messages[-2].results
    assert "its text stands in the session's context" in result.content


async def test_sections_bind_the_runs_that_work_by_the_skill_and_no_other(folder: Path) -> None:
    script = [load("close-books"), "1", "2", "3", load("audit"), "4"]
    async with engine_of(script, folder) as engine:
        session = engine.session("s")
        sections: list[tuple[str, ...]] = []
        for text in ("Go.", "Thanks.", "/close-books again", "Now audit."):
            await session.ask(text)
            sections.append((await state_of(engine, "s")).current.sections)
    assert sections == [("Verdict",), (), ("Verdict",), ("Opinion",)]


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        (["## Verdict\n\nYes."], ()),
        (["Yes.", "**Verdict**: yes."], ()),
        (["Yes.", "Yes, as I said."], ("Verdict",)),
    ],
)
async def test_an_answer_that_lacks_a_section_goes_back_once_and_is_then_delivered_marked(
    folder: Path, answers: list[str], missing: tuple[str, ...]
) -> None:
    model = Scripted([load("close-books"), *answers])
    given = SkillFolders([folder], shipped=False)
    async with Engine(model, skills=given, outside=outside()) as engine:
        result = await engine.session("s").ask("Go.")
        model.check_finished()
    assert (result.answered, result.answer, result.missing) == (True, answers[-1], missing)


async def test_a_skill_loaded_for_a_part_of_the_work_does_not_change_how_the_whole_is_answered(
    folder: Path,
) -> None:
    script = [load("close-books"), load("audit"), "## Verdict"]
    async with engine_of(script, folder) as engine:
        await engine.session("s").ask("Go.")
        state = await state_of(engine, "s")
    assert (list(state.skills), state.current.sections) == (["close-books", "audit"], ("Verdict",))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("close-book", "Nearest: close-books. There are: audit, close-books."),
        ("books to close", "Nearest: close-books. There are: audit, close-books."),
        ("secret-work", "There are: audit, close-books."),
        ("x", "There are: audit, close-books."),
    ],
)
async def test_a_wrong_name_is_answered_with_the_nearest_and_hidden_skills_are_not_revealed(
    folder: Path, name: str, answer: str
) -> None:
    (content,) = await told(folder, load(name))
    assert content == f"There is no skill {name!r} in this session. {answer}"


async def test_without_skills_the_tool_says_so(tmp_path: Path) -> None:
    (content,) = await told(tmp_path, load("close-books"))
    assert content == "There is no skill 'close-books' in this session. It has no skills at all."


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("out.md", OUTPUT),
        ("./references/how.md", "How."),
        ("chart.png", "chart.png\n[result/1.1/chart.png: image/png, 6 bytes]"),
        ("data.bin", "data.bin is no UTF-8 text (2 bytes) and cannot be shown"),
        (
            "how.md",
            "skill close-books has no file 'how.md'. Did you mean 'references/how.md'? "
            "It has: chart.png, data.bin, out.md, references/how.md",
        ),
    ],
)
async def test_a_resource_is_read_on_demand(folder: Path, path: str, answer: str) -> None:
    assert await told(folder, load("close-books", path)) == [answer]


async def test_a_skill_longer_than_a_result_is_kept_whole_and_read_on_by_its_handle(folder: Path) -> None:
    write(folder / "long-work", "".join(f"{number}. Step\n" for number in range(2_000)))
    rest = Step(calls=[Call("read", {"source": "result/1.1", "search": "1000. Step"})])
    first, found = await told(folder, load("long-work"), rest)
    assert first.startswith('<skill_content name="long-work"')
    assert 'read(source="result/1.1") gives parts of it' in first
    assert found.startswith("'1000. Step' occurs in result/1.1, 1 times shown:")


@pytest.mark.parametrize(
    "path",
    ["../audit/SKILL.md", "/etc/passwd", "references/../../audit/SKILL.md", "SKILL.md", "references", "."],
)
async def test_no_path_escapes_the_skill(folder: Path, path: str) -> None:
    (content,) = await told(folder, load("close-books", path))
    assert content.startswith(f"skill close-books has no file {path!r}.")


async def test_a_skill_says_which_of_its_systems_are_not_connected_and_is_not_listed(folder: Path) -> None:
    given = SkillFolders([folder], shipped=False)
    model = Scripted([load("close-books"), "## Verdict"])
    async with Engine(model, skills=given, outside=outside()) as engine:
        await engine.session("s").ask("Go.")
        state = await state_of(engine, "s")
    assert (
        "Not connected in this session, though the skill builds on it: bank. "
        "Do what can be done without, and say what could not."
    ) in state.conversation.messages[2].results[0].content
    context = model.requests[0].segments[1].decode()
    assert "- audit: Does audit." in context
    assert "close-books" not in context


async def test_settings_hold_for_their_session_alone(folder: Path) -> None:
    settings = SkillSettings(
        features={"beta"}, disabled=["audit"], overrides={"secret-work": Override("Whisper.")}
    )
    script = [load("secret-work"), "1", load("audit"), "2", load("secret-work"), "3"]
    async with engine_of(script, folder) as engine:
        mine, other = engine.session("mine", skills=settings), engine.session("other")
        await mine.ask("Go.")
        await mine.ask("Go.")
        await other.ask("Go.")
        answers = [
            one.content
            for name in ("mine", "other")
            for message in (await state_of(engine, name)).conversation.messages
            for one in message.results
        ]
    assert "Secret.\n\nWhisper." in answers[0]
    assert answers[1:] == [
        "There is no skill 'audit' in this session. There are: close-books, secret-work.",
        "There is no skill 'secret-work' in this session. There are: audit, close-books.",
    ]


async def test_settings_are_given_again_when_a_run_is_resumed(folder: Path) -> None:
    store, script = MemoryStore(), [load("audit"), load("secret-work"), load("secret-work")]
    settings = SkillSettings(features={"beta"})
    contents: list[str] = []
    for given in (None, settings, None):
        model, folders = Scripted(script), SkillFolders([folder], shipped=False)
        engine = Engine(model, store=store, skills=folders, limits=Limits(iterations=1), outside=outside())
        if not contents:
            await engine.session("s", skills=settings).ask("Go.")
        else:
            await (await engine.resume("s.1", skills=given)).result()
        contents.append((await state_of(engine, "s")).conversation.messages[-1].results[0].content)
    assert "Audit." in contents[0]
    assert "Secret." in contents[1]
    assert contents[2] == "There is no skill 'secret-work' in this session. There are: audit, close-books."


async def test_the_first_layer_is_the_same_whatever_skills_a_customer_has(folder: Path) -> None:
    model = Scripted(["1", "2", "3"])
    given = SkillFolders([folder], shipped=False)
    async with Engine(model, skills=given, check="off", outside=outside()) as engine:
        await engine.session("a").ask("Go.")
        await engine.session("b", skills=SkillSettings(enabled=[])).ask("Go.")
        await engine.session("c", skills=SkillSettings(("audit",), features={"beta"})).ask("Go.")
    first, second, third = (request.segments for request in model.requests)
    assert first[0] == second[0] == third[0]
    assert len({first[1], second[1], third[1]}) == 3
    assert b"Skills" not in second[1]


async def test_a_session_keeps_the_skills_it_read_until_it_is_opened_again(folder: Path) -> None:
    audit = folder / "audit" / "SKILL.md"
    script: list[Step | str] = ["1", load("audit"), "2", load("audit"), "3"]
    async with engine_of(script, folder) as engine:
        await engine.session("s").ask("/audit")
        audit.write_text(audit.read_text().replace("Audit.", "Audit anew."))
        await engine.session("s").ask("Load it.")
        before = await state_of(engine, "s")
        await engine.session("s").close()
        await engine.session("s").ask("Load it.")
        after = await state_of(engine, "s")
    assert "is active already" in before.conversation.messages[-2].results[0].content
    assert "Audit anew." in after.conversation.messages[-2].results[0].content
    assert after.skills["audit"] == ActiveSkill(after.skills["audit"].version, "4.1")
    assert after.skills["audit"].version != before.skills["audit"].version


async def test_settings_that_cannot_work_are_a_mistake_of_the_host(folder: Path) -> None:
    async with engine_of([], folder) as engine:
        with pytest.raises(ConfigurationError, match="there is no skill 'close'"):
            await engine.session("s", skills=["close"]).ask("Go.")
    with pytest.raises(ConfigurationError, match="there is no folder 'nowhere' to read skills from"):
        Engine(Scripted([]), skills=["nowhere"])


async def test_what_is_odd_about_skills_is_told_to_the_host(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "audit" / "SKILL.md").write_text("---\nname: audit\n---\nBody.")
    async with engine_of(["Done."], folder) as engine:
        session = engine.session("s")
        assert session.skill_findings == ()
        await session.ask("Go.")
    path = folder / "audit"
    told = f"{path / 'SKILL.md'}: description is None; it has to be a text"
    assert session.skill_findings == (Finding(str(path), told, used=False),)
    assert f"skill {path} is not used: {told}" in caplog.text


async def test_two_calls_of_one_reply_load_a_skill_once(folder: Path) -> None:
    step = Step(
        calls=[Call("load_skill", {"name": name}) for name in ("close-books", "/close-books", "audit")]
    )
    first, again, other = await told(folder, step)
    assert first.startswith('<skill_content name="close-books"')
    assert "is active already: its text stands in the result of another call of this reply." in again
    assert other.startswith('<skill_content name="audit"')


async def test_a_file_of_a_skill_is_no_loading_of_it(folder: Path) -> None:
    calls = [
        Call("load_skill", {"name": "close-books", "resource": "references/how.md"}),
        Call("load_skill", {"name": "close-books"}),
    ]
    file, skill = await told(folder, Step(calls=calls))
    assert (file, skill[:14]) == ("How.", "<skill_content")
