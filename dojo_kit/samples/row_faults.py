"""Faults in a whole row: failed calls, wrong dates, inventions and wrong JSON types."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date

from dojo_kit.samples.answers import Answer, Fault, Item
from dojo_kit.samples.clause_faults import clashes
from dojo_kit.samples.clauses import draw_clause
from dojo_kit.samples.contracts import OBLIGATIONS
from dojo_kit.samples.phrases import phrases

DATE, PARTIES, LAW = "effective_date", "parties", "governing_law"
CLUSTER_DAYS = 45
"""Dates this near count as the dates of one agreement."""

SHORT_MONTHS = (("02", "30"), ("04", "31"), ("06", "31"), ("09", "31"), ("11", "31"))

Planter = Callable[[Answer, random.Random], bool]


def fail(answer: Answer, rng: random.Random) -> bool:
    """Let the call fail openly."""
    return _fail(answer, "failed", "status error, no answer")


def fail_in_disguise(answer: Answer, rng: random.Random) -> bool:
    """Let the call fail and store the row as completed."""
    return _fail(answer, "disguised_failure", "stored as completed, no answer and no usage")


def _fail(answer: Answer, kind: str, note: str) -> bool:
    if answer.failure or answer.faults:
        return False
    answer.failure = kind
    answer.faults.append(Fault(kind, note=note))
    return True


def _dated(answer: Answer, kind: str, text: str) -> bool:
    right, answer.scalars[DATE] = answer.scalars[DATE], text
    label = answer.contract.labelled("Agreement Date")
    note = f"{text} instead of {right or 'nothing'}"
    answer.faults.append(Fault(kind, DATE, "Agreement Date", label, None, note))
    return True


def _only_date(answer: Answer) -> date | None:
    """Return the date of a contract that states a single one and whose answer still has it."""
    untouched = all(fault.field != DATE for fault in answer.faults)
    return answer.contract.dates[0] if untouched and len(answer.contract.dates) == 1 else None


def date_same_month(answer: Answer, rng: random.Random) -> bool:
    """Get the day wrong."""
    right = _only_date(answer)
    if right is None:
        return False
    day = rng.choice([day for day in range(1, 29) if day != right.day])
    return _dated(answer, "date_same_month", right.replace(day=day).isoformat())


def date_same_year(answer: Answer, rng: random.Random) -> bool:
    """Get everything but the year wrong."""
    right = _only_date(answer)
    if right is None:
        return False
    months = [month for month in range(1, 13) if abs((right.replace(month=month) - right).days) > CLUSTER_DAYS]
    return _dated(answer, "date_same_year", right.replace(month=rng.choice(months)).isoformat())


def date_other_year(answer: Answer, rng: random.Random) -> bool:
    """Get the year wrong."""
    right = _only_date(answer)
    if right is None:
        return False
    year = right.year + rng.choice([-3, -2, -1, 1, 2])
    return _dated(answer, "date_other_year", right.replace(year=year).isoformat())


def date_impossible(answer: Answer, rng: random.Random) -> bool:
    """State a day that does not exist."""
    right = _only_date(answer)
    if right is None:
        return False
    month, day = rng.choice(SHORT_MONTHS)
    return _dated(answer, "date_impossible", f"{right.year}-{month}-{day}")


def date_invented(answer: Answer, rng: random.Random) -> bool:
    """State a date where the contract leaves it blank."""
    if answer.contract.dates or answer.scalars[DATE]:
        return False
    return _dated(answer, "date_invented", f"{rng.randint(2016, 2023)}-01-01")


def fabricate(answer: Answer, rng: random.Random) -> bool:
    """Add an obligation of a category the contract does not have."""
    contract = answer.contract
    absent = [name for name in phrases("frame")["generic"] if name not in contract.categories]
    clause = draw_clause(rng, rng.choice(absent), contract.family, without=contract.categories)
    text = clause.text.format_map(contract.slots)
    taken = any(fault.kind == "fabricated" for fault in answer.faults)
    if taken or clashes(contract, OBLIGATIONS, text) or text in contract.text:
        return False
    item = Item(text, clause.categories, "")
    answer.lists[OBLIGATIONS].append(item)
    note = "stands nowhere in the contract"
    answer.faults.append(Fault("fabricated", OBLIGATIONS, clause.categories[0], None, item, note))
    return True


def text_for_list(answer: Answer, rng: random.Random) -> bool:
    """Give the parties as one text."""
    if PARTIES in answer.shapes:
        return False
    answer.shapes[PARTIES] = " and ".join(item.text for item in answer.lists[PARTIES])
    answer.faults.append(Fault("text_for_list", PARTIES, "Parties", note="one text instead of a list"))
    return True


def list_for_text(answer: Answer, rng: random.Random) -> bool:
    """Give the governing law as a list."""
    if LAW in answer.shapes:
        return False
    answer.shapes[LAW] = [answer.scalars[LAW]]
    answer.faults.append(Fault("list_for_text", LAW, "Governing Law", note="a list instead of one text"))
    return True


ROW_FAULTS: Mapping[str, Planter] = {
    "failed": fail,
    "disguised_failure": fail_in_disguise,
    "date_invented": date_invented,
    "date_impossible": date_impossible,
    "date_other_year": date_other_year,
    "date_same_year": date_same_year,
    "date_same_month": date_same_month,
    "fabricated": fabricate,
    "text_for_list": text_for_list,
    "list_for_text": list_for_text,
}
"""Kind of fault -> planter, in the order in which they are planted."""
