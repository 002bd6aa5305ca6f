"""`make deny`: what the dependencies may be."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "deny"
deny = runpy.run_path(str(SCRIPT), run_name="deny")
RULES = deny["read_rules"]((SCRIPT.parents[1] / "deny.toml").read_text())

PACKAGE = {
    "name": "a",
    "version": "1.0.0",
    "source": "registry+https://github.com/rust-lang/crates.io-index",
    "license": "MIT OR GPL-3.0",
    "dependencies": [],
}


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0 OR MIT", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT AND GPL-3.0) OR LGPL-2.1", False),
        ("MIT WITH something", False),
        ("GPL-3.0", False),
        ("", False),
        ("MIT)", False),
    ],
)
def test_licences(expression: str, fine: bool):
    assert deny["is_allowed"](expression, RULES["licences"]) is fine


def test_a_package_that_breaks_a_rule_is_told():
    assert deny["problems_of"](PACKAGE, RULES) == []
    for change in (
        {"license": "GPL-3.0"},
        {"license": None},
        {"source": "git+https://example.org/a"},
        {"source": "registry+https://example.org/index"},
        {"name": "reqwest"},
        {"source": None, "dependencies": [{"name": "b", "req": "*"}]},
    ):
        assert len(deny["problems_of"]({**PACKAGE, **change}, RULES)) == 1, change


def test_the_dependencies_keep_the_rules():
    assert deny["with_metadata"]() == 0
