"""The option parser as other software calls it."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from superkernel import SuperKernelError
from superkernel.super_kernel_constants import (
    SuperKernelDebugDcciAllMode,
    SuperKernelDebugSyncAllMode,
    SuperKernelEarlyStartMode,
    SuperKernelFeedSyncAllMode,
    SuperKernelPreLoadMode,
    SuperKernelProfilingMode,
    SuperKernelStreamFusionMode,
)
from superkernel.super_kernel_option_parse import parse_super_kernel_options

EARLY = SuperKernelEarlyStartMode
PRELOAD = SuperKernelPreLoadMode

# Every option with every kind of value it takes.
VALUES = [
    ("func-align", "0", 0),
    ("func-align", "2", 2),
    ("func-align", "512", 512),
    ("preload-code", "max", PRELOAD.PreLoadByWhole),
    ("preload-code", "none", PRELOAD.PreloadNA),
    ("preload-code", "per-func", PRELOAD.PreloadByAdanvanceStep),
    ("early-start", "0", EARLY.EarlyStartDisable),
    ("early-start", "1", EARLY.EarlyStartEnableV2),
    ("early-start", "2", EARLY.EarlyStartV2DisableSubKernel),
    ("stream-fusion", "0", SuperKernelStreamFusionMode.StreamFusionDisable),
    ("stream-fusion", "1", SuperKernelStreamFusionMode.StreamFusionEnable),
    ("debug-dcci-all", "0", SuperKernelDebugDcciAllMode.DebugDcciAllDisable),
    ("debug-dcci-all", "1", SuperKernelDebugDcciAllMode.DebugDcciAllEnable),
    ("debug-sync-all", "0", SuperKernelDebugSyncAllMode.DebugSyncAllDisable),
    ("debug-sync-all", "1", SuperKernelDebugSyncAllMode.DebugSyncAllEnable),
    ("feed-sync-all", "0", SuperKernelFeedSyncAllMode.FeedSyncAllDisable),
    ("feed-sync-all", "1", SuperKernelFeedSyncAllMode.FeedSyncAllEnable),
    ("profiling", "0", SuperKernelProfilingMode.ProfilingDisable),
    ("profiling", "1", SuperKernelProfilingMode.ProfilingEnable),
    ("compile-options", "-DX=1,-g", "-DX=1,-g"),
    ("strict-scope-check", "bypass", "bypass"),
    ("strict-scope-check", "abort", "abort"),
    ("dcci-before-kernel-start", "Add,Mul", "Add,Mul"),
    ("dcci-after-kernel-end", "Add", "Add"),
    ("dcci-disable-on-kernel", "Add", "Add"),
    ("split-mode", "1", 1),
    ("split-mode", "64", 64),
    ("debug-aic-num", "0", 0),
    ("debug-aiv-num", "48", 48),
]


@pytest.mark.parametrize(("name", "text", "value"), VALUES)
def test_every_option_gives_its_kind_of_value(name, text, value):
    parsed = parse_super_kernel_options(f"{name}={text}")
    assert parsed == {name: value}
    assert type(parsed[name]) is type(value)


def test_the_values_above_cover_the_contract():
    """Options that came later are covered by test_tables, which asks the table for values."""
    assert len({name for name, _, _ in VALUES}) == 16


@pytest.mark.parametrize("nothing", [None, "", "  ", '""', ":", " : ", '"  "'])
def test_nothing_means_no_options(nothing):
    assert parse_super_kernel_options(nothing) == {}


def test_only_given_options_are_returned_in_their_order():
    parsed = parse_super_kernel_options(' "profiling=1 : : split-mode = 2:compile-options=-DA=b=c" ')
    assert list(parsed.items()) == [
        ("profiling", SuperKernelProfilingMode.ProfilingEnable),
        ("split-mode", 2),
        ("compile-options", "-DA=b=c"),
    ]


def test_junk_without_equals_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "superkernel"):
        assert parse_super_kernel_options("option_xxx2:split-mode=1") == {"split-mode": 1}
    assert caplog.messages == ["option string: `option_xxx2` at position 0 has no `=` and is skipped"]


def test_underscores_on_request():
    assert parse_super_kernel_options("split_mode=2:debug-aic_num=1", True) == {"split-mode": 2, "debug-aic-num": 1}
    assert parse_super_kernel_options("split_mode=2", convert_underscore_to_hyphen=True) == {"split-mode": 2}
    with pytest.raises(SuperKernelError, match="did you mean `split-mode`"):
        parse_super_kernel_options("split_mode=2")
    with pytest.raises(SuperKernelError, match="given twice"):
        parse_super_kernel_options("split_mode=2:split-mode=2", True)


def test_a_switch_name_with_underscores_keeps_its_value_as_it_is():
    parsed = parse_super_kernel_options("dcci_before_kernel_start=My_Op,Other_Op", True)
    assert parsed == {"dcci-before-kernel-start": "My_Op,Other_Op"}


@pytest.mark.slow
@given(st.one_of(st.text(max_size=60), st.from_regex(r"([a-z_-]{1,12}=?[a-z0-9=]{0,5}:?){0,6}", fullmatch=True)))
def test_any_text_gives_options_or_an_error_of_ours(text):
    try:
        parsed = parse_super_kernel_options(text, True)
    except SuperKernelError as error:
        assert error.errorinfo["errId"].startswith("SK01")
        return
    assert isinstance(parsed, dict)


@given(st.permutations([row for row in VALUES if row[1] != "0"]), st.booleans(), st.booleans())
def test_what_is_written_is_read_back(rows, quoted, blanks):
    chosen = {name: (text, value) for name, text, value in rows}
    joint = " : " if blanks else ":"
    text = joint.join(f"{name}={text}" for name, (text, _) in chosen.items())
    parsed = parse_super_kernel_options(f'"{text}"' if quoted else text)
    assert parsed == {name: value for name, (_, value) in chosen.items()}


@pytest.mark.parametrize("wrong", [1, b"split-mode=1", ["split-mode=1"], {"split-mode": 1}, True])
def test_anything_but_a_string_is_refused(wrong):
    with pytest.raises(SuperKernelError, match="SK0105"):
        parse_super_kernel_options(wrong)


def test_a_lone_surrogate_is_refused():
    with pytest.raises(SuperKernelError, match="SK0106"):
        parse_super_kernel_options("compile-options=\ud800")


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000 + "=1", "split-mode=" + "9" * 1_000_000, "=1:" * 10_000, "x=1:" * 10_000],
    ids=["a long name", "a long value", "many problems", "many unknown names"],
)
def test_a_huge_string_gives_a_short_message(text):
    with pytest.raises(SuperKernelError) as caught:
        parse_super_kernel_options(text)
    assert len(str(caught.value)) < 3000
