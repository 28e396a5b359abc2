"""Where a provider's key and address are found in the environment, as litellm has it, without importing it.

One table for all who ask: the models that take a key, and the command that says what is missing.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from ..errors import ConfigurationError, ModelNotConfigured


@dataclass(frozen=True, slots=True)
class Variables:
    """A provider's variables.

    Where one has more than one name, the first that is set counts, and the first is told.
    """

    keys: tuple[str, ...] = ()
    """Empty where it needs none, or credentials of another kind: `others`."""
    addresses: tuple[str, ...] = ()
    others: tuple[tuple[str, ...], ...] = ()
    """Further ones that are needed, each with those that can stand for it."""
    needs_key: bool = True
    needs_address: bool = False
    usual_address: str = ""
    """Where litellm looks without being told; empty for nowhere, or the provider's own."""
    sure: bool = True
    """False where the names are only the usual ones: then nothing is refused for want of them."""

    @property
    def own_server(self) -> bool:
        """Whether it is a server of one's own, whose models nobody else knows."""
        return bool(self.addresses) and not self.needs_key

    @property
    def needed(self) -> tuple[tuple[str, ...], ...]:
        """All that is needed, each with its other names."""
        key = (self.keys,) if self.keys and self.needs_key else ()
        address = (self.addresses,) if self.needs_address or self.own_server else ()
        return (*key, *address, *self.others)


@dataclass(frozen=True, slots=True)
class Found:
    """What the environment gives."""

    key: SecretStr | None = None
    """None where the provider needs none, or litellm itself looks for credentials of another kind."""
    address: str | None = None
    """None for the provider's own."""


def _own(name: str, *, usual_address: str = "") -> Variables:
    return Variables(
        (f"{name}_API_KEY",),
        (f"{name}_API_BASE",),
        needs_key=False,
        needs_address=not usual_address,
        usual_address=usual_address,
    )


_OLLAMA = _own("OLLAMA", usual_address="http://localhost:11434")
_PROVIDERS: Mapping[str, Variables] = {
    "anthropic": Variables(("ANTHROPIC_API_KEY",), ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")),
    "azure": Variables(("AZURE_API_KEY",), ("AZURE_API_BASE",), needs_address=True),
    "azure_ai": Variables(("AZURE_AI_API_KEY",), ("AZURE_AI_API_BASE",), needs_address=True),
    "bedrock": Variables(
        others=(
            ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_ROLE_ARN"),
            ("AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ROLE_ARN"),
        ),
        sure=False,  # the machine itself may have a role
    ),
    "cerebras": Variables(("CEREBRAS_API_KEY",), ("CEREBRAS_API_BASE",)),
    "databricks": Variables(("DATABRICKS_API_KEY",), ("DATABRICKS_API_BASE",), needs_address=True),
    "deepseek": Variables(("DEEPSEEK_API_KEY",), ("DEEPSEEK_API_BASE",)),
    "fireworks_ai": Variables(("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"), ("FIREWORKS_API_BASE",)),
    "gemini": Variables(("GEMINI_API_KEY", "GOOGLE_API_KEY"), ("GEMINI_API_BASE",)),
    "groq": Variables(("GROQ_API_KEY",), ("GROQ_API_BASE",)),
    "hosted_vllm": _own("HOSTED_VLLM"),
    "litellm_proxy": _own("LITELLM_PROXY"),
    "lm_studio": _own("LM_STUDIO"),
    "mistral": Variables(("MISTRAL_API_KEY",), ("MISTRAL_API_BASE",)),
    "moonshot": Variables(("MOONSHOT_API_KEY",), ("MOONSHOT_API_BASE",)),
    "ollama": _OLLAMA,
    "ollama_chat": _OLLAMA,
    "openai": Variables(("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "openrouter": Variables(("OPENROUTER_API_KEY",), ("OPENROUTER_API_BASE",)),
    "perplexity": Variables(("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"), ("PERPLEXITY_API_BASE",)),
    "scaleway": Variables(("SCW_SECRET_KEY",)),
    "together_ai": Variables(("TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"), ("TOGETHER_AI_API_BASE",)),
    "vertex_ai": Variables(others=(("VERTEXAI_PROJECT",), ("VERTEXAI_LOCATION",)), sure=False),
    "xai": Variables(("XAI_API_KEY",), ("XAI_API_BASE",)),
}


def variables_of(provider: str) -> Variables:
    """A provider's variables; the usual ones where it is not known to have others."""
    usual = f"{provider.upper().replace('-', '_')}_API_KEY"
    return _PROVIDERS.get(provider, Variables((usual,), sure=False))


def missing(variables: Variables) -> list[str]:
    """What is needed and has no value, nor has one that stands for it."""
    return [names[0] for names in variables.needed if not _value(names)]


def found_in_environment(model: str) -> Found:
    """The key and address of the provider in a name such as `openai/gpt-5.6`.

    Raises:
        ConfigurationError: the name has no provider.
        ModelNotConfigured: the key or the address is missing.
    """
    provider, _, rest = model.partition("/")
    if not provider or not rest:
        raise ConfigurationError(
            f"no provider in {model!r}: name a model as 'litellm:PROVIDER/MODEL', for example "
            "'litellm:openai/gpt-5.6'"
        )
    variables = variables_of(provider)
    key, address = _value(variables.keys), _value(variables.addresses)
    if variables.sure and variables.needs_key and not key:
        raise ModelNotConfigured(f"litellm:{model} needs a key: set {variables.keys[0]}")
    if variables.needs_address and not address:
        raise ModelNotConfigured(
            f"litellm:{model} needs the address of its server: set {variables.addresses[0]}"
        )
    return Found(SecretStr(key) if key else None, address or None)


def _value(names: Sequence[str]) -> str:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")
