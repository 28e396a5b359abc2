"""Models by name: `anthropic:MODEL`, `litellm:PROVIDER/MODEL`; a `Scripted` one for tests and offline use."""

from ..errors import ConfigurationError
from .model import Model


def model_named(name: str) -> Model:
    """The model behind a name such as `anthropic:claude-opus-5-5` or `litellm:openai/gpt-5.6`.

    Raises:
        ConfigurationError: no such provider.
        ModelNotConfigured: the provider's key or address is missing.
    """
    provider, _, model = name.partition(":")
    if provider == "anthropic" and model:
        from .anthropic import AnthropicModel

        return AnthropicModel.from_environment(model)
    if provider == "litellm" and model:
        from .litellm import LiteLLMModel

        return LiteLLMModel.from_environment(model)
    raise ConfigurationError(
        f"no model {name!r}: name one as 'anthropic:MODEL', for example 'anthropic:claude-opus-5-5', or as "
        "'litellm:PROVIDER/MODEL', for example 'litellm:openai/gpt-5.6'"
    )
