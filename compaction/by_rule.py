"""A digest by rule: for when no model can write it. It says less, and nothing that was not said."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .conversation import Message
from .digest import Sections
from .told import operation

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DECIDING = re.compile(
    r"\b(decid\w+|will|going to|instead|therefore|so i|chose|choose|plan to|next,? i|i take|i leave|i use)\b",
    re.IGNORECASE,
)
_SHORT = 200
"""Characters of what is quoted."""


def by_rule(messages: Sequence[Message]) -> Sections:
    """What a stretch of messages says, as far as rules can tell."""
    return {
        "Request": ("What the user said stands above, word for word.",),
        "Facts": (*_calls(messages), *_sentences(messages, is_decision=False)),
        "Decisions": tuple(_sentences(messages, is_decision=True)),
        "Failures": tuple(_failures(messages)),
    }


def _calls(messages: Sequence[Message]) -> Iterator[str]:
    counted = Counter(operation(call) for each in messages for call in each.calls)
    if counted:
        called = ", ".join(f"{name} {times} times" if times > 1 else name for name, times in counted.items())
        yield f"called: {called}"


def _sentences(messages: Sequence[Message], *, is_decision: bool) -> Iterator[str]:
    """What the model itself said, sentence by sentence: its facts are those with a record or a figure."""
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in filter(None, map(str.strip, _SENTENCE.split(message.text))):
            decides = _DECIDING.search(sentence) is not None
            if decides == is_decision and (
                is_decision or "[[" in sentence or any(map(str.isdigit, sentence))
            ):
                yield sentence


def _failures(messages: Sequence[Message]) -> Iterator[str]:
    """One line a failed call, the same failure once."""
    calls = {call.id: call for message in messages for call in message.calls}
    for message in messages:
        for result in message.results:
            if result.error and (call := calls.get(result.call)) is not None:
                line = " ".join(result.content.split())[:_SHORT]
                yield f"{operation(call)}: {line}"
