"""Writing the sample contracts from phrases and a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain, count
from typing import Any

from dojo_kit.samples.clauses import CONVENIENCE, ClauseText, choose_clauses, draw_clause
from dojo_kit.samples.contracts import OBLIGATIONS, TERMINATIONS, Clause, Contract, Range
from dojo_kit.samples.draft import Draft
from dojo_kit.samples.phrases import phrases
from dojo_kit.samples.quirks import Move, apply_quirk
from dojo_kit.samples.wording import Wording, draw_date, stream, write_date

THEMES_BEFORE_TERM = ("commercial", "property", "covenants", "records", "liability", "assignment")
WITHOUT_FIELD = "Warranty Duration"
"""Labelled, but under no field, so that no answer holds it."""

SHORT_NAMES, BRIEF, OTHER_EFFECTIVE_DATE, FIXED_END, CONVENIENT = 0.3, 0.8, 0.25, 0.2, 0.7
"""Share of contracts that define the parties by short names, are brief, take effect on another day than they
were signed, end on a stated day, and may be terminated for convenience."""


def write_contracts(seed: int, n: int) -> list[Contract]:
    """Write the contracts of a sample.

    Args:
        seed: Seed of the sample.
        n: Contracts.
    """
    quirks = {index: name for name, indices in phrases("plan")["quirks"].items() for index in indices}
    families = list(phrases("families"))
    used: Counter[str] = Counter()
    contracts: list[Contract] = []
    for index in range(n):
        writer = _Writer(seed, index, families[index % len(families)], quirks.get(index, ""), used)
        contracts.append(writer.write({contract.name for contract in contracts}))
    return contracts


class _Writer:
    """Writes one contract; every method adds a part to the draft."""

    def __init__(self, seed: int, index: int, family: str, quirk: str, used: Counter[str]) -> None:
        self.rng = stream(seed, "contract", index)
        self.family, self.quirk = family, quirk
        self.frame = phrases("frame")
        self.kind: dict[str, Any] = phrases("families")[family]
        self.wording = Wording(self.rng)
        self.brief = self.rng.random() < BRIEF
        self.draft = Draft()
        self.clauses: list[Clause] = []
        self.deal: dict[str, Any] = self.rng.choice(self.kind["deals"])
        self.title: str = self.rng.choice(self.deal["titles"])
        self.chosen = choose_clauses(self.rng, family, used, software=self.deal["software"])
        self.dates: tuple[date, ...] = ()
        self.contract_value: str | None = None
        self.slots = {"S": self.deal["term"], "subject": self.deal["meaning"]} | self._parties()

    def _parties(self) -> dict[str, str]:
        companies = self.frame["companies"]
        supplier = self.rng.choice(self.deal["suppliers"])
        first = next(company for company in companies if company[0] == supplier)
        second = self.rng.choice([company for company in companies if company is not first])
        if self.quirk == "accented":
            first = self.frame["accented"]
        short = self.rng.random() < SHORT_NAMES
        self.supplier: str = first[0]
        return {
            "A": first[0] if short else self.kind["supplier"],
            "B": second[0] if short else self.kind["customer"],
            "name_a": first[1],
            "name_b": second[1],
            "form_a": first[2],
            "form_b": second[2],
            "address_a": first[3],
            "address_b": second[3],
        }

    def write(self, names: Iterable[str]) -> Contract:
        """Write the text and return the contract under a name not yet taken."""
        self._preamble()
        self._recitals()
        self._general_terms()
        for theme in THEMES_BEFORE_TERM:
            self._theme(theme)
        self._term()
        self._theme("exit")
        self._closing()
        self._signatures()
        contract = Contract(
            name=self._name(names),
            family=self.family,
            quirk=self.quirk,
            text=self.draft.text,
            marks=tuple(self.draft.marks),
            sentences=tuple(self.draft.sentences),
            clauses=tuple(self.clauses),
            parties=tuple((self.slots[f"name_{x.lower()}"], self.slots[x]) for x in "AB"),
            dates=self.dates,
            contract_value=self.contract_value,
            slots={key: self.slots[key] for key in "ABS"} | self.wording.values(),
        )
        return _moved(contract, *apply_quirk(self.quirk, contract.text, self.rng))

    def _name(self, names: Iterable[str]) -> str:
        first = f"{self.supplier} - {self.title.removesuffix(' Agreement')}"
        numbered = (f"{first} {number}" for number in count(2))
        return next(name for name in chain([first], numbered) if name not in names)

    def _values(self) -> dict[str, str]:
        return self.slots | self.wording.values()

    def _say(self, template: str, categories: Sequence[str] = ()) -> Range:
        return self.draft.sentence(template.format_map(self._values()), categories)

    def _some(self, sentences: Sequence[str]) -> list[str]:
        """Return the first sentence and, unless the contract is brief, some of the others in their order."""
        others = range(1, len(sentences))
        n = 0 if self.brief else self.rng.randint(0, len(others))
        return [sentences[index] for index in (0, *sorted(self.rng.sample(others, n)))]

    def _sections(self, sentences: Iterable[str]) -> None:
        for template in sentences:
            self.draft.section()
            self._say(template)
            self.draft.end()

    def _preamble(self) -> None:
        self.draft.line(self.title.upper(), ("Document Name",))
        self.draft.gap()
        signed = draw_date(self.rng)
        style = self.rng.choice(self.frame["date_styles"])
        later = self.rng.randint(5, 30) if self.rng.random() < OTHER_EFFECTIVE_DATE else 0
        both = not later and self.rng.random() < 0.6
        if self.quirk == "blank_date":
            dated, later = self.frame["blank_date"], 0
        else:
            dated = write_date(signed, style)
            self.dates = (signed, signed + timedelta(days=later)) if later else (signed,)
        values = self.slots | {"Title": self.title, "TITLE": self.title.upper(), "date": dated}
        labelled = {name: ["Parties"] for name in ("name_a", "name_b", "A", "B")}
        labelled["date"] = ["Agreement Date", "Effective Date"] if both else ["Agreement Date"]
        template = self.wording.choose(self.frame["preambles"])
        template = template.replace("{date}", "the {date}") if dated[0] != "_" and "day of" in dated else template
        self.draft.fill(template, values, labelled)
        if later:
            values["effective"] = write_date(self.dates[-1], "long")
            self.draft.fill(self.frame["effective_other"], values, {"effective": ["Effective Date"]})
        else:
            self.draft.sentence(self.frame["effective_same"])
        self.draft.end()

    def _recitals(self) -> None:
        self.draft.line("RECITALS")
        self.draft.gap()
        for sentence in self.kind["recitals"]:
            self._say(sentence)
        self.draft.sentence(self.frame["closing_recital"])
        self.draft.end()

    def _general_terms(self) -> None:
        self.draft.article("Definitions")
        self._sections(self._some(self.frame["definitions"]))
        self.draft.article(self.kind["caption"])
        self._sections(self._some(self.kind["scope"]))
        self.draft.article("Fees")
        fees = [self.wording.choose(self.frame["fees"]), *self.frame["payment"]]
        for number, template in enumerate(self._some(fees)):
            values = self._values()
            section = self.draft.section()
            at = self.draft.sentence(template.format_map(values))
            self.draft.end()
            if "{amount}" in template:
                self.contract_value = values["amount"]
            if not number:
                self.clauses.append(Clause(OBLIGATIONS, (), at, section))

    def _theme(self, theme: str) -> None:
        clauses = [clause for clause in self.chosen if clause.theme == theme]
        if clauses:
            self.draft.article(self.frame["captions"][theme])
        for clause in clauses:
            self._clause(clause, OBLIGATIONS)

    def _clause(self, clause: ClauseText, field: str) -> None:
        values = self._values()
        section = self.draft.section(clause.heading.format_map(values))
        text = clause.text.format_map(values)
        capitals = self.quirk == "capitals" and clause.theme == "liability"
        at = self.draft.sentence(text.upper() if capitals else text, clause.categories)
        joined = self.quirk == "omitted" and not any(other.rest for other in self.clauses)
        after = [self._say(sentence) for sentence in clause.after[: 1 if self.brief and not joined else None]]
        self.draft.end()
        if WITHOUT_FIELD not in clause.categories:
            reworded, rest = clause.reworded.format_map(values), after[-1] if joined else None
            self.clauses.append(Clause(field, clause.categories, at, section, reworded, rest))

    def _term(self) -> None:
        self.draft.article("Term and Termination")
        self.draft.section("Term")
        values, template = self._values(), self.wording.choose(self.frame["term"])
        if self.dates and self.rng.random() < FIXED_END:
            start = self.dates[-1]
            end = start.replace(year=start.year + self.rng.randint(2, 5)) - timedelta(days=1)
            values["end"], template = write_date(end, "long"), self.frame["term_until"]
        self.draft.sentence(template.format_map(values), ("Expiration Date",))
        self.draft.end()
        self._renewal()
        if self.rng.random() < CONVENIENT:
            self._clause(draw_clause(self.rng, CONVENIENCE, self.family), TERMINATIONS)
        section = self.draft.section("Termination for Cause")
        breach, insolvency = self.frame["cause"]
        self.clauses.append(Clause(TERMINATIONS, (), self._say(breach), section))
        self._say(insolvency)
        self.draft.end()

    def _renewal(self) -> None:
        kind = self.rng.choice(["joint", "joint", "separate", "none"])
        values = self._values() | {
            "renewal": self.wording.count(self.rng.choice([1, 1, 2, 3]), "years"),
            "notice": self.wording.count(self.rng.choice([30, 60, 90]), "days"),
        }
        if kind == "none":
            return
        self.draft.section("Renewal")
        if kind == "joint":
            text = self.wording.choose(self.frame["renewal"]).format_map(values)
            self.draft.sentence(text, ("Renewal Term", "Notice Period To Terminate Renewal"))
        else:
            self.draft.sentence(self.frame["renewal_only"].format_map(values), ("Renewal Term",))
            text = self.frame["renewal_notice"].format_map(values)
            self.draft.sentence(text, ("Notice Period To Terminate Renewal",))
        self.draft.end()

    def _closing(self) -> None:
        self.draft.article("Confidentiality")
        for template in self._some(self.frame["confidentiality"]):
            self._say(template)
        self.draft.end()
        self.draft.article("General Provisions")
        self.draft.section("Governing Law")
        law = self.wording.choose(self.frame["laws"])
        text = self.wording.choose(self.frame["governing_law"]).format(law=law)
        self.draft.sentence(text, ("Governing Law",))
        self._say(self.wording.choose(self.frame["courts"]))
        self.draft.end()
        self._sections(self._some(self.rng.sample(self.frame["general"], len(self.frame["general"]))))

    def _signatures(self) -> None:
        self.draft.line(self.frame["closing"])
        for name in (self.slots["name_a"], self.slots["name_b"]):
            self.draft.gap()
            self.draft.line(name)
            self.draft.line("By: ______________________")
            self.draft.line(f"Name: {self.rng.choice(self.frame['signers'])}")
            self.draft.line(f"Title: {self.rng.choice(self.frame['offices'])}")


def _moved(contract: Contract, text: str, move: Move) -> Contract:
    """Return the contract with another text and every range where ``move`` puts it."""

    def to(at: Range) -> Range:
        return Range(move(at.start), move(at.end))

    rests = {clause.at: to(clause.rest) for clause in contract.clauses if clause.rest}
    return replace(
        contract,
        text=text,
        marks=tuple(replace(mark, at=to(mark.at), rest=rests.get(mark.at)) for mark in contract.marks),
        sentences=tuple(map(to, contract.sentences)),
        clauses=tuple(replace(c, at=to(c.at), rest=rests.get(c.at)) for c in contract.clauses),
    )
