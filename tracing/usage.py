"""Token counts of model calls, in the one shape that every provider's report is brought to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, or of many added up. Each token is in exactly one input field.

    Providers differ: Anthropic reports uncached input apart from what was read and written, others
    report one inclusive number. An adapter splits the latter, so that the sum of the input fields is
    the size of the prompt (WIRE.md, sections 1 and 2).
    """

    input: int = 0
    """Prompt tokens that were neither read from nor written to the provider's cache."""
    cache_read: int = 0
    """Prompt tokens that came from the cache."""
    cache_write_5m: int = 0
    """Prompt tokens written to the cache for five minutes; also where the lifetime is not told."""
    cache_write_1h: int = 0
    """Prompt tokens written to the cache for one hour."""
    output: int = 0
    """Tokens the model wrote, its reasoning included."""
    reasoning: int = 0
    """Of `output`, the tokens of reasoning; 0 also where the provider does not say."""

    @property
    def prompt(self) -> int:
        """The size of the whole prompt, in tokens, however it was billed."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def cached(self) -> int:
        """Prompt tokens that the cache had a part in: read from it or written to it."""
        return self.cache_read + self.cache_write_5m + self.cache_write_1h

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )
