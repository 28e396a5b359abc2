"""`offing models`, as a person uses it."""

import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from command import offing_here
from offing.engine.errors import ModelNotConfigured
from offing.engine.models import model_named

OFFING = [sys.executable, "-m", "offing.engine.cli", "models"]
KEPT = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
SECRET = "sk-never-shown"

OPUS = """\
anthropic:claude-opus-5-5{note}
  key              {key}
  window           1,000,000 tokens
  reply            128,000 tokens at most
  thinking         adaptive; efforts low, medium, high, xhigh, max
  cache            prefixes of 512 tokens and more
  US$ per million  input  output  cache read  write 5m  write 1h
                   4      20      0.2         5         8
"""
GPT = """\
litellm:openai/gpt-5.6
  key              OPENAI_API_KEY is set
  window           922,000 tokens
  reply            128,000 tokens at most
  thinking         efforts low, medium, high, xhigh
  cache            unknown
  US$ per million  input  output  cache read  write 5m  write 1h
                   4      20      0.4         5         unknown
  above 272,000    8      30      0.8         10        unknown
"""


def kept() -> dict[str, str]:
    """The variables that tell of no keys."""
    return {name: os.environ[name] for name in KEPT if name in os.environ}


def models(*names: str, **variables: str) -> CompletedProcess[str]:
    """Runs it with these variables and none that would tell of keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - kept().keys():
            patch.delenv(name)
        return offing_here("models", *names, **variables)


def shown(*names: str, **variables: str) -> str:
    return told_by(models(*names, **variables))


def told_by(done: CompletedProcess[str]) -> str:
    """What it said, once it has said nothing else."""
    assert (done.returncode, done.stderr) == (0, "")
    assert SECRET not in done.stdout
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def shown_in_a_process(*names: str, **variables: str) -> str:
    """As `shown`, in a process of its own: the price map is read once a process."""
    run = [*OFFING, *names]
    env = kept() | variables
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False, env=env)
    return told_by(done)


def test_without_names_it_shows_what_run_uses_and_what_is_missing() -> None:
    key = "missing: set ANTHROPIC_API_KEY to one from https://platform.claude.com"
    assert shown() == (
        OPUS.format(note=" (what `offing run` uses)", key=key) + "\nMore of any: offing models NAME\n"
    )


def test_a_named_model_with_its_key() -> None:
    told = shown_in_a_process("anthropic:claude-opus-5-5", ANTHROPIC_API_KEY=SECRET)
    assert told == OPUS.format(note="", key="ANTHROPIC_API_KEY is set")


def test_several_models_each_with_its_tiers() -> None:
    told = shown("litellm:openai/gpt-5.6", "demo", OPENAI_API_KEY=SECRET)
    assert told == f"{GPT}\ndemo\n  a playbook that comes along: it needs no key and costs nothing\n"


def test_the_default_is_that_of_the_environment() -> None:
    told = shown(OFFING_MODEL="litellm:gemini/gemini-2.5-pro", GOOGLE_API_KEY=SECRET)
    assert told.startswith("litellm:gemini/gemini-2.5-pro (what `offing run` uses)\n")
    assert "\n  key              GOOGLE_API_KEY is set\n" in told
    assert "\n  above 200,000    2.5    15      0.25        unknown   unknown\n" in told


def test_the_latest_models_of_each_provider_whose_key_is_set() -> None:
    told = shown(OPENAI_API_KEY=SECRET, ANTHROPIC_API_KEY=SECRET, GEMINI_API_KEY="")
    others = told.split("Others, by the keys that are set:\n")[1]
    names = [line.split()[0] for line in others.splitlines() if line.startswith("  ")]
    assert "anthropic:claude-sonnet-5-5" in names
    assert "anthropic:claude-opus-5-5" not in names  # shown above already
    assert "litellm:openai/gpt-6-luna" in names
    assert {name.split("/")[0].split(":claude")[0] for name in names} == {"anthropic", "litellm:openai"}
    assert "1,000,000 tokens  US$ 2 in, 10 out per million" in others


@pytest.mark.parametrize(
    ("name", "variables", "told"),
    [
        (
            "litellm:gemini/gemini-2.5-pro",
            {},
            "set GEMINI_API_KEY to one from https://aistudio.google.com/apikey",
        ),
        ("litellm:groq/openai/gpt-oss-120b", {}, "missing: set GROQ_API_KEY"),
        ("litellm:xai/grok-4.3", {"XAI_API_KEY": ""}, "missing: set XAI_API_KEY"),
        ("litellm:azure/gpt-4o", {}, "missing: set AZURE_API_KEY and AZURE_API_BASE"),
        ("litellm:vertex_ai/gemini-2.5-pro", {}, "set VERTEXAI_PROJECT and VERTEXAI_LOCATION"),
        ("litellm:bedrock/anthropic.claude-opus-5-5", {"AWS_PROFILE": "p"}, "AWS_PROFILE is set"),
        ("litellm:ollama/mine", {}, "set OLLAMA_API_BASE if the server is not at http://localhost:11434"),
        ("litellm:lm_studio/mine", {}, "none needed, but an address: set LM_STUDIO_API_BASE to the server's"),
        ("litellm:hosted_vllm/mine", {"HOSTED_VLLM_API_BASE": "http://h"}, "HOSTED_VLLM_API_BASE is set"),
        ("litellm:openrouter/some/model", {"OPENROUTER_API_KEY": SECRET}, "OPENROUTER_API_KEY is set"),
    ],
)
def test_what_each_provider_needs(name: str, variables: dict[str, str], told: str) -> None:
    (key,) = [line for line in shown(name, **variables).splitlines() if line.startswith("  key ")]
    assert key.endswith(told)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic:claude-opus-5-5",
        "litellm:azure/gpt-4o",
        "litellm:deepseek/deepseek-chat",
        "litellm:fireworks_ai/accounts/fireworks/models/kimi-k3",
        "litellm:gemini/gemini-2.5-pro",
        "litellm:groq/openai/gpt-oss-120b",
        "litellm:hosted_vllm/mine",
        "litellm:litellm_proxy/mine",
        "litellm:mistral/mistral-large-latest",
        "litellm:openai/gpt-5.6",
        "litellm:openrouter/some/model",
        "litellm:perplexity/sonar",
        "litellm:together_ai/moonshotai/Kimi-K3",
        "litellm:xai/grok-4.3",
    ],
)
def test_what_it_says_is_missing_is_what_a_run_would_miss(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [each for each in os.environ if each.endswith(("_API_KEY", "_API_BASE"))]:
        monkeypatch.delenv(variable)
    with pytest.raises(ModelNotConfigured) as raised:
        model_named(name)
    variable = str(raised.value).split("set ")[1].split()[0]
    assert f"set {variable}" in shown(name)


def test_a_model_of_ones_own_server_is_shown_with_all_unknown() -> None:
    told = shown("litellm:hosted_vllm/mine", HOSTED_VLLM_API_BASE="http://localhost:8000/v1")
    assert "\n  window           unknown\n" in told
    assert "\n                   unknown  unknown  unknown     unknown   unknown\n" in told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "litellm:openai/gpt-5.66",
            "no model 'litellm:openai/gpt-5.66' is known: nearest are 'litellm:openai/gpt-5.6', ",
        ),
        ("anthropic:claude-opus-5.5", "no model 'anthropic:claude-opus-5.5' is known: nearest are "),
        ("litellm:opnai/gpt-5.6", "no provider 'opnai' in 'litellm:opnai/gpt-5.6': nearest are 'openai', "),
        ("gpt-5.6", "no model 'gpt-5.6': name one as 'anthropic:MODEL' or 'litellm:PROVIDER/MODEL'"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest_and_ends_with_2(name: str, told: str) -> None:
    done = models("anthropic:claude-opus-5-5", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"offing: {told}")


def test_without_the_price_map_everything_is_unknown_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "litellm.py").write_text("raise ImportError('it is not to be imported')")
    told = shown_in_a_process("litellm:openai/gpt-5.66", PYTHONPATH=str(tmp_path))
    assert "\n  window           unknown\n" in told
    assert told.endswith("read from litellm's price map, which cannot be found.\n")
