"""Cache diagnostics as Anthropic documents them: what of a prompt is not as it was in an earlier request.

It compares what is sent, not what the cache has: a prompt that is the same and was forgotten has no reason.
"""

from __future__ import annotations

from loopback_prompt import JsonObject, Placed, as_object, canonical

_PARTS = ("tools", "system", "messages")


class Diagnosis:
    """What one server remembers of the prompts that it answered, by the id of the reply."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._prompts: dict[str, tuple[str, dict[str, list[bytes]]]] = {}

    def reason(self, body: JsonObject, placed: list[Placed], reply: str) -> JsonObject | None:
        """The miss reason of a request, which is remembered as that of `reply`; None for none."""
        model, parts = str(body.get("model")), _parts(placed)
        asked = (as_object(body.get("diagnostics")) or {}).get("previous_message_id")
        former = self._prompts.get(str(asked))
        self._prompts[reply] = (model, parts)
        if asked is None:
            return None
        if former is None:
            return {"type": "previous_message_not_found"}
        if model != former[0]:
            return {"type": "model_changed", "cache_missed_input_tokens": 0}
        for part in _PARTS:
            was, now = former[1][part], parts[part]
            if now[: len(was)] != was or (part != "messages" and now != was):
                missed = sum(map(len, was)) // 4
                return {"type": f"{part}_changed", "cache_missed_input_tokens": missed}
        return None


def _parts(placed: list[Placed]) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {part: [] for part in _PARTS}
    for block in placed:
        found[block.role.partition(":")[0]].append(block.role.encode() + canonical(block.value))
    return found
