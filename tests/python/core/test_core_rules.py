"""The table of the core's rules: every row says where the rule holds, and the tests it names exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
TABLE = ROOT / "docs" / "core-rules.md"
FILES = {path.name: path for path in (ROOT / "tests" / "python").rglob("test_*.py")}
WHERE = {"always", "checked", "reordered", "strict", "not"}


class Rule(NamedTuple):
    """One row."""

    line: int
    text: str
    where: set[str]
    found: str
    tests: list[str]


def rules() -> list[Rule]:
    found = []
    in_rules = False
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells == ["rule", "found", "shown by"]:
            in_rules = True
        elif not cells:
            in_rules = False
        elif in_rules and set(cells[0]) != {"-"}:
            text, where, tests = cells
            words = re.findall(r"`([a-z]+)`", where)
            found.append(Rule(number, text, set(words) & WHERE, where, re.findall(r"`([^`]+)`", tests)))
    return found


def complaints(rule: Rule) -> Iterator[str]:
    """What is wrong with a row."""
    if not rule.where:
        yield f"none of {sorted(WHERE)} in: {rule.found}"
    elif "not" in rule.where:
        # Nothing else beside it, and what happens instead.
        if rule.where != {"not"} or not re.match(r"`not`\S* \w", rule.found):
            yield f"what does happen? {rule.found}"
    elif not rule.tests:
        yield "no test shows it"
    for test in rule.tests:
        file, _, name = test.partition("::")
        path = ROOT / file if "/" in file else FILES.get(file, ROOT / file)
        keyword = "fn" if path.suffix == ".rs" else "def"
        if not path.is_file() or not re.search(rf"^\s*{keyword} {name}\(", path.read_text(), re.MULTILINE):
            yield f"there is no {test}"


def test_every_rule_says_where_it_holds_and_what_shows_it() -> None:
    table = rules()
    assert len(table) > 150
    told = [f"line {rule.line}, {rule.text!r}: {complaint}" for rule in table for complaint in complaints(rule)]
    assert told == []


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (Rule(1, "", {"always"}, "`always`", ["test_core_rules.py::test_nothing"]), "there is no"),
        (Rule(1, "", {"always"}, "`always`", ["nowhere.py::test_nothing"]), "there is no"),
        (Rule(1, "", {"checked"}, "`checked`", []), "no test"),
        (Rule(1, "", {"not"}, "`not`", []), "what does happen"),
        (Rule(1, "", set(), "maybe", []), "none of"),
    ],
)
def test_a_bad_row_is_found(row: Rule, complaint: str) -> None:
    (told,) = complaints(row)
    assert complaint in told
