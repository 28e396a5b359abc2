"""How full the window is said to be: beside an independent tokenizer, and by hand."""

import base64
import os
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from offing.compaction.conversation import Media, Message, Reasoning, Text, ToolCall, ToolResult
from offing.compaction.encodings import encoding
from offing.compaction.estimate import coarse, size
from offing.compaction.gauge import START, Counted, Gauge
from offing.engine.limits import Limits, Room
from offing.engine.models.catalog import ModelInfo, info_of
from offing.engine.window import UNKNOWN_WINDOW, room_of

ROOT = Path(__file__).parents[1]
CHANCE = random.Random(7)
SAMPLES = {
    "prose": (ROOT / "ARCHITECTURE.md").read_text(),
    "code": (ROOT / "engine" / "session.py").read_text(),
    "rows": "\n".join(f"2026-09-{n % 30 + 1:02},{n * 17.31:.2f},CR,REF{n:06},ACME LTD" for n in range(300)),
    "json": str(
        [{"id": f"bank:txn/{n}", "amount": f"{n * 3.7:.2f}", "text": "Card payment"} for n in range(300)]
    ),
    "identifiers": "\n".join(str(uuid.UUID(int=CHANCE.getrandbits(128))) for _ in range(200)),
    "base64": base64.b64encode(CHANCE.randbytes(6_000)).decode(),
    "german": "Die Überweisung über fünfhundert Euro wurde rückgängig gemacht. " * 40,
    "chinese": "银行对账单显示九月份的余额与总账不符,需要逐笔核对。" * 40,
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_coarse_estimate_is_near_to_what_an_encoding_counts(kind: str) -> None:
    count = encoding()
    assert count is not None
    assert 0.8 <= coarse(SAMPLES[kind]) / count(SAMPLES[kind]) <= 1.25


ASK = """
import os, sys
from offing.compaction.encodings import encoding
count = encoding()
print(count and count("The rent was paid <|endoftext|>"))
print("litellm" in sys.modules, os.environ.get("TIKTOKEN_CACHE_DIR"))
"""


def test_the_encoding_is_found_offline_without_loading_litellm_or_leaving_a_setting() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "TIKTOKEN_CACHE_DIR"}
    told = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split() == ["11", "False", "None"]


def test_where_litellm_is_not_there_the_coarse_estimate_stands_in(tmp_path: Path) -> None:
    """An empty package of that name stands in front of the real one."""
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.split()[:2] == ["None", "False"]


def test_a_message_is_its_blocks_and_thinking_is_left_to_usage() -> None:
    words, image = Text("The rent was paid."), Media("image/png", "AAAA" * 1_000)
    call, result = ToolCall("1.1", "bank__look", {"n": 1}), ToolResult("1.1", "ok", media=(image,))
    plain, thought = (
        Message("assistant", (words, call)),
        Message("assistant", (Reasoning("x" * 9_000), words, call)),
    )
    assert 0 < size(plain) < 100
    assert size(thought) - size(plain) < 10
    assert 1_600 < size(Message("tool", (result,))) < 1_700


def message(tokens: int) -> Message:
    """One whose estimate is known: words of four letters cost a token."""
    return Message("user", (Text("word " * (tokens - 8)),))


def test_a_gauge_goes_by_the_providers_count_and_estimates_only_what_came_since() -> None:
    said = [message(1_000)]
    assert size(said[0]) == 1_000
    first = Gauge()
    assert first.used(said, 500) == round(START * 500) + round(START * 1_000)
    said.append(message(100))
    after = first.replied(said, 500, Counted(2_000, 150, 100))
    assert (after.known, after.covers, after.counted, after.factor) == (2_150, 2, True, START)
    assert after.used(said, 500) == 2_150
    said.append(message(400))
    assert after.used(said, 500) == 2_150 + round(START * 400)


def test_the_factor_follows_the_model_within_bounds() -> None:
    said = [message(1_000), message(100)]
    gauge = Gauge().replied(said, 0, Counted(2_000, 100, 0))
    said += [message(1_000), message(100)]
    assert gauge.replied(said, 0, Counted(3_600, 100, 0)).factor == pytest.approx(0.7 * START + 0.3 * 1.5)
    assert gauge.replied(said, 0, Counted(90_000, 100, 0)).factor == 2.0
    assert gauge.replied(said, 0, Counted(2_100, 100, 0)).factor == pytest.approx(0.805)


def test_what_a_provider_does_not_count_is_estimated() -> None:
    said = [message(1_000), message(100)]
    gauge = Gauge().replied(said, 500, Counted(0, 0, 0))
    assert (gauge.counted, gauge.used(said, 500)) == (False, round(START * 500) + round(START * 1_100))


def test_after_a_pass_its_estimate_stands_until_the_next_reply() -> None:
    said = [message(1_000), message(100)]
    gauge = Gauge(9_000, 2, counted=True).compacted(4_000, 2)
    assert (gauge.used(said, 0), gauge.passed, gauge.floor) == (4_000, True, 4_000)
    said.append(message(10))
    after = gauge.replied(said, 0, Counted(4_700, 10, 0))
    assert (after.known, after.factor, after.passed) == (4_710, START, False)


def test_the_window_is_what_the_host_says_else_what_the_catalog_knows_else_a_careful_guess() -> None:
    known = info_of("anthropic:claude-opus-5-5")
    assert room_of(Limits(window=9_000, reply_tokens=500), known, [b""]) == Room(9_000, 500, 0)
    assert room_of(Limits(), known, [b""]) == Room(1_000_000, 32_000, 0)
    assert room_of(Limits(), ModelInfo(), [b""]) == Room(UNKNOWN_WINDOW, UNKNOWN_WINDOW // 4, 0)
    assert room_of(Limits(), ModelInfo(window=200_000, max_output=8_000), [b"word" * 100]).most == 192_000
