"""What the file says of people: which calls need one, and who is told when a run stops."""

from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, field_validator, model_validator

from ..approvals import AmountOver, ApprovalPolicy, ApprovalRule, ArgumentIs, Condition
from ..notify import CommandNotifier, LogNotifier, Notifier, WebhookNotifier
from .values import Secret, Shape, Text


class ConditionSettings(Shape):
    """A condition on a call's arguments: values or a pattern at a path, or an amount over a threshold."""

    path: str
    """Names and places, with dots between: `lines.*.account`; `*` stands for each."""
    one_of: tuple[JsonValue, ...] = ()
    """Values, compared whole."""
    like: str = ""
    """A pattern for a text, such as `DE*`."""
    over: Decimal | None = None
    """The amounts at the path come to more than this."""
    currency: str = ""
    """ISO 4217 code of `over`."""
    currency_path: str = ""
    """Where the arguments name the currency; empty when the tool knows one only."""

    @model_validator(mode="after")
    def _one_kind(self) -> "ConditionSettings":
        if (self.over is not None) == bool(self.one_of or self.like):
            raise ValueError("has to say either `one_of` or `like`, or `over` with a `currency`")
        if self.over is not None and not self.currency:
            raise ValueError("has an amount in no currency: add `currency`, such as EUR")
        return self

    def made(self) -> Condition:
        """As the policy takes it."""
        if self.over is not None:
            return AmountOver(self.path, self.over, self.currency, self.currency_path)
        return ArgumentIs(self.path, self.one_of, self.like)


class RuleSettings(Shape):
    """What holds for some calls. The first rule that fits a call holds."""

    tools: str
    """A pattern for operations: `entries__post_entry`, `bank__*`, `*__*`."""
    then: Literal["ask", "allow", "deny"]
    """ask: a person has to approve. allow: it runs, also when it is destructive. deny: it is refused."""
    when: tuple[ConditionSettings, ...] = ()
    """All of these have to hold."""
    why: Text = ""
    """For the person who decides, or the model that is refused."""

    def made(self) -> ApprovalRule:
        """As the policy takes it."""
        return ApprovalRule(self.tools, self.then, tuple(each.made() for each in self.when), self.why)


class ApprovalSettings(Shape):
    """Which calls need a person. Where no rule fits, a destructive call does and any other runs."""

    rules: tuple[RuleSettings, ...] = ()
    """The first that fits a call holds."""
    expires_after_s: float | None = None
    """Seconds after which a request cannot be approved any more; none for never."""
    approver_differs: bool = False
    """Whether who approves has to be another person than who asked for the work."""

    def made(self) -> ApprovalPolicy:
        """The policy.

        Raises:
            ConfigurationError: a rule can never hold.
        """
        return ApprovalPolicy(
            tuple(rule.made() for rule in self.rules), self.expires_after_s, self.approver_differs
        )


class WebhookSettings(Shape):
    """An address that a notice is posted to, as JSON."""

    url: Secret
    """`https://` or `http://`; it may well hold a secret, so it is named like one."""
    headers: dict[str, Secret] = Field(default_factory=dict[str, Secret])
    """Sent with it, such as a token."""
    timeout_s: float = 10.0
    """Seconds until it is given up."""


class NotifySettings(Shape):
    """Who is told when a run stops and needs a person. One of the three."""

    log: bool = False
    """Writes a warning to the log `offing`."""
    command: tuple[Text, ...] = ()
    """A program and its arguments; it reads the notice as JSON."""
    webhook: WebhookSettings | None = None
    """An address that the notice is posted to."""

    @field_validator("command", mode="before")
    @classmethod
    def _listed(cls, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            raise ValueError(f"cannot be {value!r}: a list, such as [notify-send, offing]")  # noqa: TRY004
        return value

    @model_validator(mode="after")
    def _one(self) -> "NotifySettings":
        if sum(map(bool, (self.log, self.command, self.webhook))) != 1:
            raise ValueError("has to have one of `log: true`, `command` and `webhook`")
        return self

    def made(self, folder: Path) -> Notifier:
        """The notifier; `folder` is what relative paths of secrets begin in.

        Raises:
            ConfigurationError: the webhook's address is none.
            Missing: a secret is not there.
        """
        if self.command:
            return CommandNotifier(self.command)
        if self.webhook is None:
            return LogNotifier()
        url, given = self.webhook.url.value(folder), self.webhook.headers
        headers = {name: secret.value(folder).get_secret_value() for name, secret in given.items()}
        return WebhookNotifier(url.get_secret_value(), headers, self.webhook.timeout_s)
