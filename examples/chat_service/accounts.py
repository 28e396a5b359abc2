"""A system to be connected, and a playbook that stands in for a model, so that the example runs offline."""

from offing.engine import Call, Playbook
from offing.namespaces import Effect, FunctionNamespace, ToolContext, tool

_BALANCES = {"harbour-key-0001": "110,799.62 GBP", "meadow-key-00002": "84.10 EUR"}
"""By credential: what the bank has for whoever shows it."""


@tool(effect=Effect.READ)
async def balance(context: ToolContext) -> str:
    """What is on the account."""
    key = context.credentials["key"].get_secret_value()
    return f"The account holds {_BALANCES[key]}."


@tool(destructive=True)
async def pay(to: str, amount: str) -> str:
    """Pays somebody."""
    return f"paid {amount} to {to}"


def accounts() -> FunctionNamespace:
    """The system; each session connects to it with its customer's credential `key`."""
    return FunctionNamespace("accounts", [balance, pay])


async def works(book: Playbook, text: str) -> str:
    """Does what the message has a word for."""
    if "pay" in text.lower():
        whom = await book.call("ask_user", question="Whom, and how much?")
        (paid,) = await book.calls(Call("accounts__pay", {"to": whom.text, "amount": "12.50 GBP"}))
        return f"The bank says: {paid.text}"
    (found,) = await book.calls(Call("accounts__balance"))
    return found.text
