"""What stands at the margin of a journal: entries, rules, and the directives that change how they read."""

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ..bank.statement import Often
from ..tables.source import Findings, quote
from .automated import Rule, read_query
from .books import Include
from .completion import MAX_ACCOUNT, MAX_TEXT, Malformed, tidy
from .journal_amounts import FACTOR, Amounts, Scan
from .journal_blocks import Block
from .journal_dates import DATE, read_date
from .journal_postings import Comment, RawPosting, read_posting

Dialect = Literal["hledger", "ledger"]

_HEAD = re.compile(
    rf"(?P<date>{DATE})(?:=(?P<later>{DATE}))?(?:\s+(?P<rest>.*))?",
    re.ASCII | re.DOTALL,
)
_REST = re.compile(r"(?:[*!]\s*)?(?:\((?P<code>[^()]*)\)\s*)?(?P<text>.*)", re.DOTALL)
_YEAR = re.compile(r"(?:Y|year|apply\s+year)\s*(\d{4})", re.ASCII)
_SILENT = {"P", "N", "payee", "tag", "def", "define", "import"}
"""Directives that move nothing."""
_CHANGING = {
    **dict.fromkeys(("assert", "check", "expr", "eval", "python", "value"), "is not computed"),
    **dict.fromkeys(("capture", "bucket", "A", "C"), "is not applied: accounts or amounts may be others"),
    **dict.fromkeys(("i", "o", "b", "h", "I", "O"), "is a time clock entry, which is not read"),
}
_MAX_OPEN = 50
"""Rules, lines of one, aliases and applied words at once."""


@dataclass(slots=True)
class RawEntry:
    """One transaction, its numbers not read yet."""

    date: datetime.date
    row: int
    text: str
    postings: list[RawPosting] = field(default_factory=list[RawPosting])


class Directives:
    """Reads the blocks of one journal."""

    def __init__(self, file: str, dialect: Dialect, amounts: Amounts, findings: Findings) -> None:
        self.dialect = dialect
        self.entries: list[RawEntry] = []
        self.rules: list[Rule] = []
        self.accounts: set[str] = set()
        self.includes: list[Include] = []
        self.known = 0
        """Blocks that were understood."""
        self._file, self._amounts, self._findings = file, amounts, findings
        self._often = Often(findings)
        self._year: int | None = None
        self._applied: list[tuple[str, str]] = []
        """What `apply` opened and `end` has not closed: its kind and what it says."""
        self._aliases: list[tuple[str, str]] = []
        self._symbol = ""
        """The commodity of amounts without one, as D says it."""
        self._act: dict[str, Callable[[str, Block], None]] = {
            "account": self._account,
            "commodity": self._commodity,
            "D": self._default,
            "decimal-mark": self._mark,
            "apply": self._apply,
            "end": self._end,
            "alias": self._alias,
            "include": self._include,
        }

    def take(self, block: Block) -> None:
        """Reads one block; what it is not is told."""
        try:
            if (head := _HEAD.fullmatch(block.text)) is not None:
                self._entry(block, head)
            elif block.text[0] in "=~":
                self._rule(block)
            else:
                self._directive(block)
            self.known += 1
        except Malformed as error:
            self._findings.add("error", f"{error}: it is not read", block.row)

    def done(self) -> None:
        """Tells what is left open at the end of the file."""
        self._often.tell()
        if self._applied:
            kinds = ", ".join(f"apply {kind} {said}" for kind, said in self._applied[:5])
            self._findings.add("info", f"does not end what it applies: {kinds}")

    def _entry(self, block: Block, head: re.Match[str]) -> None:
        date = read_date(head["date"], self._year)
        code, _, comment = (head["rest"] or "").partition(";")
        rest = _REST.fullmatch(code.strip())
        said = [f"({rest['code']})"] if rest and rest["code"] else []
        said += [rest["text"] if rest else code, Comment(comment).tags]
        said += [f"effective {head['later']}"] if head["later"] else []
        said += [text for kind, text in self._applied if kind == "tag"]
        entry = RawEntry(date, block.row, "")
        self._body(entry.postings, block, said)
        entry.text = " ".join(" ".join(said).split())[:MAX_TEXT]
        for posting in entry.postings:
            self._amounts.see(posting.amounts())
        self.entries.append(entry)

    def _body(self, postings: list[RawPosting], block: Block, said: list[str]) -> None:
        for line in block.body:
            if line.text[0] in ";#%|":
                comment = Comment(line.text[1:])
                if not postings:
                    said.append(comment.tags)
                else:
                    postings[-1].text = f"{postings[-1].text} {comment.tags}".strip()[:MAX_TEXT]
                    postings[-1].date = comment.date or postings[-1].date
                continue
            try:
                posting = read_posting(line.text, line.number)
            except Malformed as error:
                self._findings.add("error", f"{error}: the line is not read", line.number)
                continue
            posting.account = self._named(posting.account)
            if self._symbol and posting.amount and not posting.amount.symbol and not posting.amount.times:
                posting.amount = posting.amount._replace(symbol=self._symbol)
            postings.append(posting)

    def _rule(self, block: Block) -> None:
        if block.text[0] == "~":
            self._often.add("info", "is a forecast or budget, which is no entry", block.row)
            return
        if self.dialect == "hledger":
            raise Malformed(
                "hledger applies a rule only when it is told to (--auto), so this one adds nothing"
            )
        if len(self.rules) >= _MAX_OPEN:
            raise Malformed(f"more than {_MAX_OPEN} rules: this one adds nothing")
        fits = read_query(block.text[1:].partition(";")[0])
        postings: list[RawPosting] = []
        self._body(postings, block, [])
        if len(postings) > _MAX_OPEN:
            raise Malformed(f"the rule has more than {_MAX_OPEN} lines: it adds nothing")
        for posting in postings:
            if posting.amount is not None and not posting.amount.symbol:
                posting.amount = posting.amount._replace(symbol=FACTOR, times=True)
            self._amounts.see([posting.amount])
        self.rules.append(Rule(block.row, fits, postings))

    def _directive(self, block: Block) -> None:
        text = block.text.lstrip("!@").strip()
        word, _, rest = text.partition(" ")
        if found := _YEAR.fullmatch(text):
            self._year = int(found[1])
        elif word in self._act:
            self._act[word](rest.strip(), block)
        elif word in _CHANGING:
            self._often.add("warning", f"the directive {word} {_CHANGING[word]}", block.row)
        elif word not in _SILENT:
            raise Malformed(f"{quote(block.text)} is no directive that is known")

    def _named(self, account: str) -> str:
        """The account with what is applied before it, under the name that an alias gives it."""
        prefixes = [said for kind, said in self._applied if kind == "account"]
        name = ":".join([*prefixes, account])
        for old, new in reversed(self._aliases):
            if name == old or name.startswith(f"{old}:"):
                name = new + name[len(old) :]
        return name[:MAX_ACCOUNT]

    def _account(self, rest: str, block: Block) -> None:
        name = self._named(tidy(re.split(r"  |\t|;", rest, maxsplit=1)[0]))
        self.accounts.add(name)
        for line in block.body:
            word, _, alias = line.text.partition(" ")
            if word == "alias":
                self._add_alias(tidy(alias), name)

    def _commodity(self, rest: str, block: Block) -> None:
        formats = [line for line in block.body if line.text.startswith("format ")]
        shown = [Scan(line.text.removeprefix("format "), line.number) for line in formats]
        if re.search(r"\d", re.sub(r'"[^"]*"', "", rest.partition(";")[0])):
            shown.append(Scan(rest, block.row))
        for scan in shown:
            self._amounts.say(scan.amount())

    def _default(self, rest: str, block: Block) -> None:
        amount = Scan(rest, block.row).amount()
        self._amounts.say(amount)
        if self.dialect == "hledger":
            self._symbol = amount.symbol

    def _mark(self, rest: str, _: Block) -> None:
        mark = rest.partition(";")[0].strip()
        if mark == ".":
            self._amounts.say_all(".")
        elif mark == ",":
            self._amounts.say_all(",")
        else:
            raise Malformed(f"{quote(rest)} is no decimal mark")

    def _apply(self, rest: str, _: Block) -> None:
        kind, said = (*rest.split(maxsplit=1), "", "")[:2]
        if kind not in {"account", "tag"} or len(self._applied) >= _MAX_OPEN:
            raise Malformed(f"apply {quote(rest)} is not known")
        self._applied.append((kind, tidy(said)))

    def _end(self, rest: str, _: Block) -> None:
        kind = rest.removeprefix("apply").strip().partition(" ")[0]
        if kind == "aliases":
            self._aliases.clear()
            return
        open_ = [at for at, (each, _) in enumerate(self._applied) if kind in {"", each}]
        if not open_:
            raise Malformed(f"end {quote(rest)}: nothing of it is open")
        del self._applied[open_[-1]]

    def _alias(self, rest: str, _: Block) -> None:
        old, equals, new = rest.partition("=")
        if not equals or old.startswith("/"):
            raise Malformed(f"the alias {quote(rest)} is a pattern, so accounts keep their names")
        self._add_alias(tidy(old), tidy(new))

    def _add_alias(self, old: str, new: str) -> None:
        if len(self._aliases) >= _MAX_OPEN:
            raise Malformed(f"more than {_MAX_OPEN} aliases: this one is not used")
        self._aliases.append((old, new))

    def _include(self, rest: str, block: Block) -> None:
        self.includes.append(Include(rest, block.row))
