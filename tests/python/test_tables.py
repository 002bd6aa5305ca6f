"""An option is one row of the native core's table, a setting too: every listing follows from it."""

from __future__ import annotations

import json
import re
from enum import Enum

import listings
import pytest
from superkernel import _core
from superkernel import super_kernel_constants as constants
from superkernel.cli import main
from superkernel.super_kernel_option_parse import parse_super_kernel_options

OPTIONS = _core.option_table()


@pytest.mark.parametrize(("file", "key"), listings.LISTINGS)
def test_a_listing_follows_the_table(file, key):
    listings.check(file, key)


def test_no_listing_is_left_alone():
    """A marked place that nobody writes would stay as it is for ever."""
    files = [*listings.ROOT.glob("*.md"), *listings.ROOT.glob("docs/**/*.md"), *listings.ROOT.glob("python/**/*.py")]
    marked = [
        (str(path.relative_to(listings.ROOT)), key)
        for path in files
        for key in re.findall(r"^ *(?:#|<!--) table: (\w+) \(", path.read_text(), re.MULTILINE)
    ]
    assert sorted(marked) == sorted(listings.LISTINGS)


@pytest.mark.parametrize("row", OPTIONS, ids=[row["name"] for row in OPTIONS])
def test_every_value_of_an_option_reaches_python(row):
    for sample in row["samples"]:
        value = parse_super_kernel_options(f"{row['name']}={sample}")[row["name"]]
        if isinstance(value, Enum):
            assert type(value) is getattr(constants, type(value).__name__)
        else:
            assert type(value) in (int, str) and str(value) == sample


def test_the_command_lists_every_option(capsys):
    assert main(["options"]) == 0
    printed = capsys.readouterr().out
    for row in OPTIONS:
        headline = f"{row['name']}={row['default']}" if row["default"] else row["name"]
        assert f"{headline}\n    {row['effect']}\n    accepts {row['accepts']}\n" in printed
    assert printed.count("    accepts ") == len(OPTIONS)
    assert main(["options", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed == [{key: row[key] for key in ("name", "accepts", "default", "effect")} for row in OPTIONS]
