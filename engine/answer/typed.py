"""Whether an answer that was asked for as a type is one."""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def unfit(answer: str, schema: Mapping[str, JsonValue]) -> str:
    """Why an answer is no JSON value that fits the schema; empty when it is one."""
    from jsonschema.validators import validator_for

    try:
        value: JsonValue = json.loads(unfenced(answer))
        kind = validator_for(schema)
        errors = kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(value)
        problems = [f"{error.json_path}: {error.message[:300]}" for error in errors]
    except (ValueError, RecursionError) as error:
        return f"it is no JSON ({error})"
    return "; ".join(sorted(problems)[:5])


def unfenced(answer: str) -> str:
    """The answer without the code fence that models like to put around JSON."""
    found = _FENCE.match(answer)
    return found[1] if found else answer
