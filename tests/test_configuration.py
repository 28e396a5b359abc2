"""`offing.yaml`: what it makes, and what is told of what is wrong with it."""

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from offing.engine.approvals import AmountOver, ApprovalPolicy, ApprovalRule, ArgumentIs
from offing.engine.budget import Budget
from offing.engine.cli.setup.init import TEMPLATE
from offing.engine.configuration import Configuration, Unusable, load, schema
from offing.engine.configuration.load import configuration_of
from offing.engine.configuration.source import read_source
from offing.engine.errors import ConfigurationError
from offing.engine.limits import Limits
from offing.engine.memory import MemoryPolicy
from offing.engine.models.retry import RetryPolicy
from offing.engine.notify import CommandNotifier, WebhookNotifier
from offing.engine.prompt import About
from offing.engine.store import MemoryStore
from offing.skills import Override, SkillSettings

SHOP = '''
from offing.namespaces import ToolContext


def find(name: str, context: ToolContext) -> str:
    """Finds a customer."""
    return f"{name} by {context.credentials['token'].get_secret_value()[:3]}"


async def work(book, request):
    return (await book.call("shop__find", name=request)).text
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOWHERE", raising=False)
    monkeypatch.setenv("HOOK", "https://hooks.example/secret-path")
    return tmp_path


def written(text: str) -> Configuration:
    Path("offing.yaml").write_text(text)
    return load()


def told(text: str) -> str:
    with pytest.raises(Unusable) as error:
        written(text)
    return str(error.value)


WRONG = {
    "modle: x": "1: modle: is no key; did you mean 'model'?",
    "model: {name: x, effrt: low}": "1: model.effrt: is no key; did you mean 'effort'?",
    "\nmodel: {effort: hgih}": (
        "2: model.effort: cannot be \"hgih\": it is one of 'low', 'medium', 'high', 'xhigh', 'max'"
    ),
    "limits:\n  iterationz: 3": "2: limits.iterationz: is no key; did you mean 'iterations'?",
    "limits: {iterations: many}": '1: limits.iterations: cannot be "many": a whole number, such as 5',
    "limits: {budget: {cost: dear}}": '1: limits.budget.cost: cannot be "dear": a number, such as 2.5',
    "limits:\n  budget:\n    tokens: -1": ("1: limits: the budget's tokens cannot be -1: 0 or more, or None"),
    "limits: {retry: {attempts: -2}}": "1: limits: attempts cannot be -2: 0 or more",
    "about: {company: 7}": "1: about.company: cannot be 7: a text; put it in quotes",
    "about: Own Ltd": '1: about: cannot be "Own Ltd": a mapping, with a line `KEY: VALUE` each',
    "about:\n  entities: one": '2: about.entities: cannot be "one": a list, such as [a, b]',
    "skills: {shipped: perhaps}": '1: skills.shipped: cannot be "perhaps": true or false',
    "tenant: ''": '1: tenant: cannot be "": a text that is not empty',
    "store: ${NOWHERE}/x": (
        "1: store: the environment variable NOWHERE is not set; write $${NOWHERE} for the text itself"
    ),
    "memory: 3": "1: memory: cannot be 3: a mapping, with a line `KEY: VALUE` each",
    "memory: {expires_after_days: 0}": "1: memory: expires_after_days has to be more than 0; got 0.0",
    "check: never": "1: check: cannot be \"never\": it is one of 'auto', 'required', 'off'",
    "notify: {log: true, command: [x]}": "1: notify: has to have one of `log: true`, `command` and `webhook`",
    "notify: {command: mail me}": (
        "1: notify.command: cannot be 'mail me': a list, such as [notify-send, offing]"
    ),
    "notify: {webhook: {url: https://h.example/t0ken}}": (
        "1: notify.webhook.url: a secret is not written here: name it, as {env: NAME}, {file: PATH} or"
        " ${NAME}"
    ),
    "approvals:\n  rules:\n    - tools: x\n      then: aks": (
        "4: approvals.rules.0.then: cannot be \"aks\": it is one of 'ask', 'allow', 'deny'"
    ),
    "approvals: {rules: [{tools: x}]}": "1: approvals.rules.0.then: is missing",
    "approvals: {rules: [{tools: x, then: ask, when: [{path: a, over: 5}]}]}": (
        "1: approvals.rules.0.when.0: has an amount in no currency: add `currency`, such as EUR"
    ),
    "namespaces:\n  bank:\n    fiels: [a]": "3: namespaces.bank.fiels: is no key; did you mean 'files'?",
    "namespaces:\n  crm: {}": (
        "2: namespaces.crm: needs a `kind`: one of bank, ledger, matching, entries, functions, mcp, openapi"
    ),
    "namespaces:\n  crm: {kind: function}": (
        "2: namespaces.crm.kind: cannot be 'function': it is no kind; did you mean 'functions'?"
    ),
    "namespaces: {entries: {closed_until: soon}}": (
        '1: namespaces.entries.closed_until: cannot be "soon": a day, such as 2026-08-31'
    ),
    "namespaces: {matching: {default: {tolerance: -1}}}": (
        "1: namespaces.matching.default: tolerance is Decimal('-1'): it cannot be less than 0"
    ),
    "namespaces: {m: {kind: mcp, policies: [{tools: x, effect: reed}]}}": (
        "1: namespaces.m.policies.0.effect: cannot be \"reed\": it is one of 'read', 'repeatable', 'once'"
    ),
    "namespaces: {m: {kind: mcp, credentials: {token: abc123}}}": (
        "1: namespaces.m.credentials.token: a secret is not written here: name it, as {env: NAME},"
        " {file: PATH} or ${NAME}"
    ),
    "model: a\nabout: {}\nmodel: b": "3: model: is there twice, first on line 1: keep one of them",
    "- model": "1: is to be a mapping, such as `model: anthropic:claude-opus-5-5`",
    "model: a: b": (
        "1: is no YAML: mapping values are not allowed here; put a text with a colon in quotes, or mend the"
        " indentation"
    ),
    "about:\n\tcompany: x": (
        "2: is no YAML: found character '\\t' that cannot start any token; indent with spaces, not with tabs"
    ),
    "about: &a\n  more: *a": "1: about.more: is in itself",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_with_line_key_and_what_would_be_right(folder: Path, text: str) -> None:
    assert told(text) == f"offing.yaml:{WRONG[text]}"


def test_every_problem_is_told_at_once_in_the_order_of_the_file(folder: Path) -> None:
    text = "namespaces:\n  bank: {fiels: x}\nmodle: x\nlimits:\n  iterations: x\n"
    assert [line.split(":")[1] for line in told(text).splitlines()] == ["2", "3", "5"]


LATER = {
    "namespaces:\n  bank:\n    files: [none.ofx]": (
        "3: namespaces.bank.files.0: there is no file '{}/none.ofx'"
    ),
    "namespaces: {bank: {files: 's/*.ofx'}}": "1: namespaces.bank.files.0: no file fits '{}/s/*.ofx'",
    "namespaces: {bank: {}}": "1: namespaces.bank.files: is missing: name at least one file",
    "namespaces:\n  entries:": (
        "2: namespaces.entries: rests on the namespace 'ledger': add it, with its files"
    ),
    "namespaces:\n  shop:\n    kind: functions\n    tools: [nowhere:find]": (
        "4: namespaces.shop.tools: the module 'nowhere' cannot be imported: ModuleNotFoundError: No module"
        " named 'nowhere'"
    ),
    "namespaces: {shop: {kind: functions, tools: [math]}}": (
        "1: namespaces.shop.tools: cannot be 'math': a module and a function, such as `shop.orders:find`"
    ),
    "namespaces: {s: {kind: openapi, document: a.yaml}}": (
        "1: namespaces.s.document: there is no file '{}/a.yaml'"
    ),
    "namespaces: {s: {kind: mcp}}": "1: namespaces.s: 's' needs either a command or a url",
    "skills: {folders: [none]}": ("1: skills.folders: there is no folder '{}/none' to read skills from"),
    "approvals: {expires_after_s: 0}": "1: approvals: expires_after_s has to be more than 0; got 0.0",
}


@pytest.mark.parametrize("text", LATER)
def test_what_can_only_be_seen_when_it_is_made_is_told_the_same_way(folder: Path, text: str) -> None:
    configuration = written(f"{text}\n")
    with pytest.raises(Unusable) as error:
        configuration.engine(model="playbook:json:dumps", store=MemoryStore())
    assert str(error.value) == "offing.yaml:" + LATER[text].replace("{}", str(folder))


def test_without_a_model_it_says_which_key_is_missing(folder: Path) -> None:
    with pytest.raises(Unusable, match="1: model: is missing: name one, such as anthropic:claude-opus-5-5"):
        written("about: {company: x}").engine()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (None, "there is no file 'offing.yaml': `offing init` writes one"),
        (b"model: \xff", "offing.yaml is no UTF-8 text (byte 7): save it as UTF-8"),
        (b"#" * 1_000_001, "offing.yaml is larger than 1,000,000 bytes: it is no configuration"),
    ],
)
def test_a_file_that_cannot_be_read_says_so(folder: Path, data: bytes | None, expected: str) -> None:
    if data is not None:
        Path("offing.yaml").write_bytes(data)
    with pytest.raises(ConfigurationError) as error:
        load()
    assert str(error.value) == expected


def test_all_that_it_says_becomes_what_python_would_say(folder: Path) -> None:
    configuration = written("""
about: {company: Own Ltd, entities: [one, two], user: Ada, period: 2026-09, more: Country is NO.}
limits:
  iterations: 40
  budget: {cost: 2.50, questions: 0}
  retry: {attempts: 2}
approvals:
  rules:
    - tools: "*__pay"
      then: ask
      why: it is money
      when:
        - {path: amount, over: 1000, currency: EUR, currency_path: currency}
        - {path: iban, like: DE*}
  expires_after_s: 60
  approver_differs: true
notify: {webhook: {url: "${HOOK}", headers: {Authorization: "Bearer ${HOOK}"}}}
skills:
  start: [a]
  disabled: [b]
  values: {a: {limit: "5"}}
  overrides: {a: {text: More., replaces: true}}
workspace: work
memory: {expires_after_days: 30}
""")
    settings = configuration.settings
    assert configuration.about == About("Own Ltd", ("one", "two"), "Ada", "2026-09", "Country is NO.")
    budget = Budget(cost=Decimal("2.50"), questions=0)
    assert settings.limits == Limits(iterations=40, budget=budget, retry=RetryPolicy(attempts=2))
    rule = ApprovalRule(
        "*__pay",
        "ask",
        (AmountOver("amount", Decimal(1000), "EUR", "currency"), ArgumentIs("iban", like="DE*")),
        "it is money",
    )
    assert settings.approvals.made() == ApprovalPolicy((rule,), 60, approver_differs=True)
    assert settings.notify is not None
    notifier = settings.notify.made(folder)
    assert isinstance(notifier, WebhookNotifier)
    address = "https://hooks.example/secret-path"
    assert (notifier.url, notifier.headers) == (address, {"Authorization": f"Bearer {address}"})
    assert configuration.skills == SkillSettings(
        ("a",), None, ("b",), (), {"a": {"limit": "5"}}, {"a": Override("More.", replaces=True)}
    )
    assert configuration.workspace is not None
    assert configuration.workspace.root == folder / "work"
    assert settings.memory == MemoryPolicy(expires_after_days=30)
    assert configuration.store == str(folder / ".offing" / "offing.db")
    assert "secret-path" not in repr(configuration)


def test_a_command_is_told_of_a_stop(folder: Path) -> None:
    notify = written("notify: {command: [notify-send, offing]}").settings.notify
    assert notify is not None
    assert notify.made(folder) == CommandNotifier(("notify-send", "offing"))


def test_shipped_systems_rest_on_each_other_in_whatever_order_they_stand(folder: Path) -> None:
    (folder / "s").mkdir()
    (folder / "s" / "b.csv").write_text("Date,Description,Amount\n2026-09-14,Rent,-900.00\n")
    (folder / "gl.csv").write_text("Date,Account,Description,Amount\n2026-09-14,1200 Bank,Rent,-900.00\n")
    configuration = written("""
namespaces:
  matching: {default: {tolerance: 0.05}}
  entries: {closed_until: 2026-08-31}
  bank: {files: "s/*.csv", currency: EUR, columns: {date: 1}}
  ledger: {files: gl.csv}
""")
    assert [each.name for each in configuration.namespaces()] == ["bank", "ledger", "matching", "entries"]
    entries = configuration.systems["entries"]
    assert entries.model_dump()["closed_until"] == datetime.date(2026, 8, 31)


async def test_functions_are_called_with_credentials_that_nobody_sees(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "till_of_tests.py").write_text(SHOP)
    (folder / "token").write_text("sk-abcdefgh\n")
    configuration = written("""
model: playbook:till_of_tests:work
tenant: acme
namespaces:
  shop:
    kind: functions
    tools: {"till_of_tests:find": {effect: read}}
    credentials: {token: {file: token}}
""")
    store = MemoryStore()
    async with configuration.engine(store=store) as engine:
        session = configuration.session(engine, "one")
        assert (await session.ask("Ada")).answer == "Ada by sk-"
    rows = [row async for row in store.scoped("acme").journal.read("one")]
    assert rows != []
    assert "sk-abcdefgh" not in repr(rows)
    assert [row async for row in store.scoped("local").journal.read("one")] == []


def test_a_credential_that_is_not_there_is_told_by_its_name_alone(folder: Path) -> None:
    configuration = written("""
namespaces:
  shop:
    kind: functions
    tools: []
    credentials:
      token: {env: NOWHERE}
""")
    with pytest.raises(Unusable) as error:
        configuration.credentials()
    said = "offing.yaml:7: namespaces.shop.credentials.token: the environment variable NOWHERE is not set"
    assert str(error.value) == said


def test_the_schema_takes_what_the_reader_takes(folder: Path) -> None:
    checker: Any = jsonschema.Draft202012Validator(schema())
    checker.check_schema(json.loads(json.dumps(schema())))
    good = """
model: {name: "litellm:openai/gpt-5.6", effort: high}
models: {digest: anthropic:claude-haiku-4-5}
memory: true
limits: {budget: {cost: 2.5}}
namespaces:
  matching:
  bank: {files: "*.ofx"}
  m: {kind: mcp, url: "https://x.example/mcp", credentials: {token: {env: T}}}
  f: {kind: functions, tools: ["a:b"]}
"""
    checker.validate(yaml.safe_load(good))
    written(good)
    for wrong in ("modle: x", "namespaces: {m: {kind: mpc}}", "namespaces: {bank: {fiels: x}}"):
        assert list(checker.iter_errors(yaml.safe_load(wrong))) != []


def test_the_file_that_init_writes_is_right_also_with_everything_in_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands behind `# ` in it is a setting, but for the sentences."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://x@h/d")
    text = TEMPLATE.read_text()
    configuration_of(read_source(TEMPLATE))
    lines = text.replace("namespaces: {}", "namespaces:").splitlines()[5:]
    settings = [line.replace("# ", "", 1) if _is_setting(line) else line for line in lines]
    systems = written("\n".join(settings)).systems
    assert list(systems) == ["bank", "ledger", "crm", "tracker", "shop", "matching", "entries"]


def _is_setting(line: str) -> bool:
    said = line.lstrip()
    return said.startswith("# ") and (said[2].islower() or said[2] in "- ") and ":" in said
