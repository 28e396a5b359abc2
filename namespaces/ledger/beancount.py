"""Beancount: transactions, and the directives that change or check what accounts hold.

Plugins are not run and files that are included are not opened: both are told. Lots are not looked up:
a line counts as its written cost, else its price.
"""

import datetime
import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from ..bank.statement import Often
from ..tables.dates import Dates
from ..tables.source import Conventions, Findings, Source, SourceError, quote
from ..tables.text import Line as TextLine
from ..tables.text import decode, lines_of
from .beancount_accounts import Accounts
from .beancount_lines import Directive, directives
from .beancount_postings import ACCOUNT, CURRENCY, NUMBER, read_number, read_posting
from .books import Assertion, Include, LedgerFile, Padding
from .completion import MAX_TEXT, Completion, Entry, Malformed, Rules

_DATED = re.compile(r"(\d{4}[-/]\d{1,2}[-/]\d{1,2})\s+(\S+)\s*(.*)", re.DOTALL | re.ASCII)
_FLAG = re.compile(r"txn|[*!&#?%A-Z]")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([#^][\w/.-]+)|(\S+)', re.DOTALL)
_META = re.compile(r"([a-z][\w-]*):(?:\s+(.*))?", re.DOTALL)
_BALANCE = re.compile(
    rf"(?P<account>{ACCOUNT})\s+(?P<number>{NUMBER})\s*(?:~\s*(?P<off>{NUMBER})\s*)?(?P<currency>{CURRENCY})"
)
_PAD = re.compile(rf"({ACCOUNT})\s+({ACCOUNT})")
_SILENT = {"price", "event", "note", "document", "query", "custom", "commodity"}
"""Dated directives that move nothing."""
_RULES = Rules(exchange=False, loosest=True, rounds=True)


def read_beancount(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads one Beancount file; each amount names its currency, so no convention is needed.

    Raises:
        SourceError: it is no text, or holds no directive that could be read.
    """
    del conventions
    findings = Findings(source.file)
    reader = _Reader(source.file, findings)
    lines = lines_of(decode(source, findings), source.file)
    for directive in directives(lines, findings):
        reader.take(directive)
    return reader.done()


class _Reader:
    def __init__(self, file: str, findings: Findings) -> None:
        self.file, self.findings, self.often = file, findings, Often(findings)
        self.entries: list[Entry] = []
        self.assertions: list[Assertion] = []
        self.paddings: list[Padding] = []
        self.includes: list[Include] = []
        self.accounts = Accounts(findings, self.often)
        self.tags: list[str] = []
        self.known = 0
        """Directives that were understood."""

    def take(self, directive: Directive) -> None:
        """Reads one directive."""
        dated = _DATED.fullmatch(directive.text)
        try:
            if dated:
                self._dated(directive, dated)
            else:
                self._plain(directive)
            self.known += 1
        except Malformed as error:
            self.findings.add("error", f"{error}: it is not read", directive.row)

    def done(self) -> LedgerFile:
        """All that was read."""
        if not self.known:
            what = 'holds no Beancount directive, such as: 2026-09-14 * "Payee" "Text"'
            raise SourceError(self.file, what)
        if self.tags:
            listed = ", ".join(map(quote, self.tags[:10]))
            self.findings.add("warning", f"the tags {listed} are pushed and never popped")
        completion = Completion(self.file, _RULES, self.findings, self.often)
        lines = [line for entry in self.entries for line in completion.lines(entry)]
        self.accounts.check(lines)
        self.often.tell()
        return LedgerFile(
            file=self.file,
            format="beancount",
            lines=tuple(lines),
            balances=(),
            findings=self.findings.done(),
            accounts=tuple(sorted(self.accounts.opened)),
            assertions=tuple(self.assertions),
            paddings=tuple(self.paddings),
            includes=tuple(self.includes),
        )

    def _dated(self, directive: Directive, dated: re.Match[str]) -> None:
        date = Dates(None).read(dated[1])
        if date is None:
            raise Malformed(f"{quote(dated[1])} is no date")
        word, rest = dated[2], dated[3].strip()
        act: dict[str, Callable[[datetime.date, str, int], None]] = {
            "open": self._open,
            "close": self._close,
            "balance": self._balance,
            "pad": self._pad,
        }
        if word in act:
            act[word](date, " ".join(rest.split()), directive.row)
        elif _FLAG.fullmatch(word):
            self._transaction(date, rest, directive)
        elif word not in _SILENT:
            raise Malformed(f"{quote(word)} is no directive of Beancount")

    def _plain(self, directive: Directive) -> None:
        """The directives without a date."""
        word, _, rest = directive.text.partition(" ")
        rest = " ".join(rest.split())
        if word == "include":
            self.includes.append(Include(rest.strip('"'), directive.row))
        elif word == "plugin":
            what = f"uses the plugin {quote(rest)}, which is not run: what it would add or change is not here"
            self.findings.add("warning", what, directive.row)
        elif word == "option" and "tolerance" in rest:
            what = f"sets {quote(rest)}, which is not followed: half of the last place written is let pass"
            self.findings.add("warning", what, directive.row)
        elif word == "pushtag":
            self.tags.append(rest)
        elif word == "poptag":
            self._pop(rest)
        elif word not in {"option", "pushmeta", "popmeta"}:
            raise Malformed(f"{quote(directive.text)} is no directive of Beancount")

    def _pop(self, tag: str) -> None:
        if tag not in self.tags:
            raise Malformed(f"the tag {quote(tag)} is popped and was not pushed")
        self.tags.remove(tag)

    def _open(self, date: datetime.date, rest: str, row: int) -> None:
        name, *more = rest.replace(",", " ").split() or [""]
        held = [each for each in more if not each.startswith('"')]
        if re.fullmatch(ACCOUNT, name) is None or not all(re.fullmatch(CURRENCY, each) for each in held):
            raise Malformed(f"{quote(rest)} opens no account")
        self.accounts.open(name, date, frozenset(held), row)

    def _close(self, date: datetime.date, rest: str, row: int) -> None:
        if re.fullmatch(ACCOUNT, rest) is None:
            raise Malformed(f"{quote(rest)} closes no account")
        self.accounts.close(rest, date, row)

    def _balance(self, date: datetime.date, rest: str, row: int) -> None:
        found = _BALANCE.fullmatch(rest)
        if found is None:
            raise Malformed(f"{quote(rest)} is no account with an amount")
        amount, off = read_number(found["number"]), read_number(found["off"] or "0")
        exponent = amount.as_tuple().exponent
        usual = Decimal(1).scaleb(exponent) if isinstance(exponent, int) and exponent < 0 else Decimal(0)
        self.assertions.append(
            Assertion(
                account=found["account"],
                amount=amount,
                currency=found["currency"],
                date=date,
                early=True,
                subaccounts=True,
                alone=False,
                tolerance=off if found["off"] else usual,
                file=self.file,
                row=row,
            )
        )

    def _pad(self, date: datetime.date, rest: str, row: int) -> None:
        found = _PAD.fullmatch(rest)
        if found is None:
            raise Malformed(f"{quote(rest)} does not name two accounts")
        self.paddings.append(Padding(found[1], found[2], date, self.file, row))

    def _transaction(self, date: datetime.date, rest: str, directive: Directive) -> None:
        said: list[str] = []
        marks = [f"#{tag.lstrip('#')}" for tag in self.tags]
        for text, mark, other in _TOKEN.findall(rest):
            if other:
                raise Malformed(f"{quote(other)} has no place in the head of a transaction")
            (marks if mark else said).append(mark or _plain(text))
        entry = Entry(date, directive.row, f"{self.file}:{directive.row}", "")
        self._body(entry, directive.body, marks)
        entry.text = " ".join(" ".join([*said, *marks]).split())[:MAX_TEXT]
        self.entries.append(entry)

    def _body(self, entry: Entry, body: Sequence[TextLine], marks: list[str]) -> None:
        for line in body:
            if meta := _META.fullmatch(line.text):
                value = (meta[2] or "").strip('"')
                said = f"{meta[1]}: {_plain(value)}"
                if entry.postings:
                    entry.postings[-1].text = f"{entry.postings[-1].text} {said}".strip()[:MAX_TEXT]
                else:
                    marks.append(said)
            elif line.text[0] in "#^":
                marks.append(line.text)
            else:
                self._posting(entry, line)

    def _posting(self, entry: Entry, line: TextLine) -> None:
        try:
            entry.postings.append(read_posting(line))
        except Malformed as error:
            self.findings.add("error", f"{error}: the line is not read", line.number)


def _plain(text: str) -> str:
    return " ".join(text.replace('\\"', '"').split())
