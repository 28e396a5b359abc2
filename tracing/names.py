"""The names of attributes: one table, from what is meant to every name that a viewer knows it by.

Three vocabularies are in use: today's GenAI conventions of OpenTelemetry, the older ones that Phoenix reads,
and OpenInference (WIRE.md, section 3). What none of them has a name for is called `offing.*`.
"""

from collections.abc import Mapping

from .span import Attribute

NAMES: Mapping[str, tuple[str, ...]] = {
    # what it is
    "operation": ("gen_ai.operation.name",),
    "kind": ("openinference.span.kind",),
    "provider": ("gen_ai.provider.name", "llm.provider"),
    "model": ("gen_ai.request.model", "llm.model_name"),
    "response_model": ("gen_ai.response.model",),
    "agent": ("gen_ai.agent.name", "agent.name"),
    "session": ("gen_ai.conversation.id", "session.id"),
    "user": ("user.id",),
    "error_type": ("error.type",),
    "metadata": ("metadata",),
    # what it took
    "input_tokens": ("gen_ai.usage.input_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "llm.token_count.completion"),
    "total_tokens": ("llm.token_count.total",),
    "cache_read": (
        "gen_ai.usage.cache_read.input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "cache_write": (
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",  # the older name, which Phoenix reads
        "llm.token_count.prompt_details.cache_write",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
    "cost": ("llm.cost.total",),
    # of a model call
    "finish_reasons": ("gen_ai.response.finish_reasons",),
    "effort": ("gen_ai.request.reasoning.level",),
    "stream": ("gen_ai.request.stream",),
    "first_chunk_s": ("gen_ai.response.time_to_first_chunk",),
    "compacted": ("gen_ai.conversation.compacted",),
    "system": ("gen_ai.system_instructions",),
    "input_messages": ("gen_ai.input.messages",),
    "output_messages": ("gen_ai.output.messages",),
    # of a tool call
    "tool": ("gen_ai.tool.name", "tool.name"),
    "tool_type": ("gen_ai.tool.type",),
    "call": ("gen_ai.tool.call.id", "tool.id"),
    "arguments": ("gen_ai.tool.call.arguments", "tool.parameters"),
    "call_result": ("gen_ai.tool.call.result",),
    # what a viewer shows first
    "input": ("input.value",),
    "input_type": ("input.mime_type",),
    "output": ("output.value",),
    "output_type": ("output.mime_type",),
    "node": ("graph.node.id",),
    "node_name": ("graph.node.name",),
    "node_parent": ("graph.node.parent_id",),
}
"""By what is meant. A name stands once in the table: two meanings never share one."""


def named(values: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    """The attributes for these values, in their order. None is left out.

    A key that the table does not have is a name of our own, without its prefix: `turn` becomes `offing.turn`.
    """
    told: dict[str, Attribute] = {}
    for meaning, value in values.items():
        if value is not None:
            for name in NAMES.get(meaning) or (f"offing.{meaning}",):
                told[name] = value
    return told
