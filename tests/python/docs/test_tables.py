"""An option is one row of the native core's table, a setting too: every listing follows from it."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
from enum import Enum

import listings
import pytest
import superkernel
from superkernel import _config, _core
from superkernel import super_kernel_constants as constants
from superkernel.cli import _manual, _settings, main
from superkernel.super_kernel_option_parse import parse_super_kernel_options

MANUAL = listings.ROOT / "wheel-data" / "data" / "share" / "man" / "man1" / "superkernel.1"
OPTIONS = _core.option_table()
SETTINGS = _core.setting_table()
each_setting = pytest.mark.parametrize("row", SETTINGS, ids=[row["name"] for row in SETTINGS])


@pytest.mark.parametrize(("file", "key"), listings.LISTINGS)
def test_a_listing_follows_the_table(file, key):
    listings.check(file, key)


def test_no_listing_is_left_alone():
    """A marked place that nobody writes would stay as it is for ever."""
    patterns = ("*.md", "docs/**/*.md", "python/**/*.py", "python/**/*.h")
    files = [path for pattern in patterns for path in listings.ROOT.glob(pattern)]
    marked = [
        (str(path.relative_to(listings.ROOT)), key)
        for path in files
        for key in re.findall(r"^ *(?:#|//|<!--) table: (\w+) \(", path.read_text(), re.MULTILINE)
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


def sample(row) -> tuple[str, object]:
    """A value that is not the default, as it is written and as it is kept."""
    if row["keeps_other_words"]:
        return ",".join(row["words"]), row["words"]
    if row["words"]:
        return row["words"][-1], row["words"][-1]
    return {
        "str": ("Ascend950", "Ascend950"),
        "int": ("3", 3),
        "int | str": ("3K", 3072),
        "float": ("2.5", 2.5),
        "bool": ("1", True),
        "str | os.PathLike[str]": ("/some/where", "/some/where"),
    }[row["type"]]


def test_configure_takes_every_setting():
    assert [*inspect.signature(superkernel.configure).parameters] == [row["name"] for row in SETTINGS]
    assert [*superkernel.current_config()] == [row["name"] for row in SETTINGS]


@each_setting
def test_a_setting_is_set_by_configure_and_by_its_variable(row, monkeypatch):
    name, (text, value) = row["name"], sample(row)
    assert superkernel.current_config()[name] != value
    with superkernel.configure(**{name: text}):
        config = superkernel.current_config()
        assert (config[name], config.origins[name]) == (value, "with configure(...)")
    if row["variable"]:
        monkeypatch.setenv(row["variable"], text)
        config = superkernel.current_config()
        assert (config[name], config.origins[name]) == (value, row["variable"])


def test_a_listing_the_manual_page():
    """It follows from the command line and the settings; `make tables` writes it."""
    wanted = _manual.page()
    if os.environ.get("SUPERKERNEL_BLESS"):
        MANUAL.write_text(wanted)
    assert MANUAL.read_text() == wanted, "`make tables` rewrites it"


@each_setting
def test_a_setting_is_an_argument_of_the_command_line(row, capsys):
    words = row["name"].replace("_", "-")
    flag = f"--{words}"
    assert main(["compile", "--help"]) == 0
    help_text = " ".join(capsys.readouterr().out.split())
    shown = f"{flag}, --no-{words}" if row["placeholder"] is None else f"{flag} {row['placeholder']}"
    shown = shown.replace("--jobs N", "-j N, --jobs N")
    assert f"{shown} {row['help']}" in help_text
    command = argparse.ArgumentParser()
    _settings.add_settings(command)
    text, value = sample(row)
    given = _settings.given_settings(command.parse_args([flag, text] if row["placeholder"] else [flag]))
    assert [*given] == [row["name"]]
    assert _config.check(row["name"], given[row["name"]]) == value


@each_setting
def test_a_record_sets_only_what_decides_about_the_result(row):
    record = {row["name"]: sample(row)[1], "unheard of": 1}
    assert _config.repeatable(record) == ({row["name"]: record[row["name"]]} if row["repeatable"] else {})


@each_setting
def test_a_reproducer_sets_only_what_decides_about_the_result(row, tmp_path):
    record = {"format": 1, "name": "k", "settings": {row["name"]: sample(row)[1]}, "kernel_infos": {}, "result": {}}
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    assert [*_core.reproducer_read("x.tar", path, False).settings] == ([row["name"]] if row["repeatable"] else [])
    assert [*_core.reproducer_read("x.tar", path, True).settings] == [row["name"]]


def test_a_switch_has_two_arguments():
    command = argparse.ArgumentParser()
    _settings.add_settings(command)
    found = [_settings.given_settings(command.parse_args(line)) for line in ([], ["--strict"], ["--no-strict"])]
    assert found == [{}, {"strict": True}, {"strict": False}]
