"""A whole session over a real server, where one answers.

OFFING_REAL_ENDPOINT names a server that speaks both the OpenAI and the Anthropic wire, as llama.cpp's
does: `OFFING_REAL_ENDPOINT=http://127.0.0.1:8080 pytest tests/test_real_endpoint.py`.
"""

import os

import pytest
from pydantic import SecretStr

from litellm_client import QUIET
from offing.engine import Engine, Limits
from offing.engine.models import anthropic, litellm
from offing.engine.models.model import Model

URL = os.environ.get("OFFING_REAL_ENDPOINT", "")
KEY = SecretStr("none-is-needed")
pytestmark = [
    *QUIET,
    pytest.mark.skipif(not URL, reason="no real endpoint: OFFING_REAL_ENDPOINT names one"),
]


def over_anthropic() -> Model:
    options = anthropic.Options(max_tokens=64, thinking="off", stall_s=600)
    return anthropic.AnthropicModel("local", KEY, base_url=URL, options=options)


def over_openai() -> Model:
    options = litellm.Options(max_tokens=64, stall_s=600)
    return litellm.LiteLLMModel("openai/local", KEY, base_url=f"{URL}/v1", options=options)


@pytest.mark.parametrize("model", [over_anthropic(), over_openai()], ids=["anthropic", "openai"])
async def test_a_second_question_is_answered_over_what_the_server_kept_of_the_first(model: Model) -> None:
    async with Engine(model, limits=Limits(iterations=4)) as engine:
        session = engine.session()
        first = await session.ask("Say the word yes, and nothing else. Call no tool.")
        second = await session.ask("Say it again.")
    for result in (first, second):
        assert result.why != "fault", result.detail
        assert result.usage.prompt > 0
        assert result.usage.output > 0
    assert second.usage.cache_read > 0
