"""A journal entry as it is given, and the same in canonical form."""

import datetime
import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_PROPOSAL_DIGITS = 16
_MARK_DIGITS = 16
_Amount = Annotated[Decimal, Field(gt=0, max_digits=20, allow_inf_nan=False)]
_Text = Annotated[str, Field(max_length=200)]
_RecordId = Annotated[str, Field(max_length=300)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EntryLine(_Model):
    """One account debited or credited."""

    account: Annotated[str, Field(description="As ledger__list_accounts names it, or its code")]
    debit: Annotated[_Amount | None, Field(description="Positive; either this or credit")] = None
    credit: Annotated[_Amount | None, Field(description="Positive; either this or debit")] = None
    currency: Annotated[
        str | None, Field(max_length=24, description="ISO 4217; unsaid: the account's own")
    ] = None
    text: Annotated[_Text, Field(description="Unsaid: the entry's text")] = ""
    new_account: Annotated[bool, Field(description="True when the books have no such account yet")] = False
    evidence: Annotated[
        tuple[_RecordId, ...],
        Field(max_length=20, description="Ids of the records that show it, such as bank:txn/..."),
    ] = ()

    @property
    def amount(self) -> Decimal:
        """A debit is positive, a credit negative; 0 when the line has neither."""
        return (self.debit or Decimal(0)) - (self.credit or Decimal(0))


class Entry(_Model):
    """One journal entry. In canonical form nothing is left to a default that the books decide."""

    date: Annotated[datetime.date, Field(description="YYYY-MM-DD")]
    text: Annotated[_Text, Field(min_length=1, description="What it is and why, on one line")]
    reference: Annotated[str, Field(max_length=64, description="Number of the voucher or invoice")] = ""
    file: Annotated[
        str | None, Field(description="Name of the file of the books; unsaid where there is one")
    ] = None
    lines: Annotated[tuple[EntryLine, ...], Field(min_length=2, max_length=50)]

    def text_of(self, line: EntryLine) -> str:
        """A line's own text, or the entry's."""
        return line.text or self.text


def as_json(entry: Entry) -> Mapping[str, JsonValue]:
    """The entry as a call takes it: amounts are texts, what is empty is left out."""
    written: Mapping[str, JsonValue] = entry.model_dump(mode="json", exclude_defaults=True)
    return written


def proposal_id(entry: Entry) -> str:
    """Names a canonical entry by its content: the same content has the same name."""
    content = json.dumps(entry.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()[:_PROPOSAL_DIGITS]


def mark_of(idempotency_key: str) -> str:
    """What an entry carries in the books so that it is found again: `offing-` and hexadecimal digits.

    It is made of the key of the call that posts it, so it is the same for each attempt at that call.
    """
    return f"offing-{hashlib.sha256(idempotency_key.encode()).hexdigest()[:_MARK_DIGITS]}"
