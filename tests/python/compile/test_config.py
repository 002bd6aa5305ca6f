"""``configure`` and ``current_config`` without CANN."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import os
import sys
import threading
from pathlib import Path

import pytest
import superkernel
from interpreter import output_of, run_python
from superkernel import SuperKernelError, _core
from superkernel._environment import snapshot

SETTINGS = [row["name"] for row in _core.setting_table()]


@pytest.fixture(autouse=True)
def leave_nothing_behind(monkeypatch):
    for name in list(os.environ):
        if name.startswith("SUPERKERNEL_"):
            monkeypatch.delenv(name)
    yield
    superkernel.configure(**dict.fromkeys(SETTINGS))


def error_of(**settings) -> SuperKernelError:
    with pytest.raises(SuperKernelError) as caught:
        superkernel.configure(**settings)
    return caught.value


def test_defaults():
    config = superkernel.current_config()
    expected = {
        "soc": "Ascend910_93",
        "aic_num": 24,
        "aiv_num": 48,
        "kernel_meta_parent_dir": ".",
        "op_debug_config": [],
        "toolchain": "auto",
        "cache_dir": None,
        "ascendc": None,
        "jobs": None,
        "tool_timeout": None,
    }
    assert {name: config[name] for name in expected} == expected
    assert set(config.origins) == set(SETTINGS)
    assert config.origins["soc"] == "default"
    assert config.origins["aic_num"] == "SoC table"


@pytest.mark.parametrize(
    ("soc", "cores"), [("Ascend910B", (24, 48)), ("Ascend910_93", (24, 48)), ("Ascend950", (32, 64))]
)
def test_core_counts_follow_the_soc(soc, cores):
    with superkernel.configure(soc=soc):
        config = superkernel.current_config()
        assert (config.aic_num, config.aiv_num) == cores
    with superkernel.configure(soc=soc, aiv_num=7):
        assert superkernel.current_config().aiv_num == 7
        assert superkernel.current_config().aic_num == cores[0]


def test_a_call_sets_process_wide():
    superkernel.configure(soc="Ascend950", jobs=3)
    assert superkernel.current_config().soc == "Ascend950"
    assert superkernel.current_config().origins["soc"] == "configure(...)"
    seen = []
    thread = threading.Thread(target=lambda: seen.append(superkernel.current_config().jobs))
    thread.start()
    thread.join()
    assert seen == [3]


def test_a_later_call_keeps_what_it_does_not_name_and_none_takes_back():
    superkernel.configure(soc="Ascend950", jobs=3)
    superkernel.configure(jobs=4)
    assert (superkernel.current_config().soc, superkernel.current_config().jobs) == ("Ascend950", 4)
    superkernel.configure(soc=None)
    assert (superkernel.current_config().soc, superkernel.current_config().jobs) == ("Ascend910_93", 4)


def test_a_block_holds_inside_only_and_wins():
    superkernel.configure(soc="Ascend950")
    with superkernel.configure(soc="Ascend910B", toolchain="host"):
        assert superkernel.current_config().soc == "Ascend910B"
        assert superkernel.current_config().origins["soc"] == "with configure(...)"
        with superkernel.configure(jobs=2):
            config = superkernel.current_config()
            assert (config.soc, config.toolchain, config.jobs) == ("Ascend910B", "host", 2)
        superkernel.configure(soc="Ascend910_93")
        assert superkernel.current_config().soc == "Ascend910B"
        assert superkernel.current_config().jobs is None
    assert superkernel.current_config().soc == "Ascend910_93"
    assert superkernel.current_config().toolchain == "auto"


def test_none_in_a_block_hides_what_is_set_process_wide():
    superkernel.configure(soc="Ascend950")
    with superkernel.configure(soc=None):
        assert superkernel.current_config().soc == "Ascend910_93"
    assert superkernel.current_config().soc == "Ascend950"


def test_a_block_ends_on_an_exception():
    with contextlib.suppress(ZeroDivisionError), superkernel.configure(jobs=5):
        raise ZeroDivisionError
    assert superkernel.current_config().jobs is None


def test_one_handle_can_be_entered_again():
    handle = superkernel.configure(jobs=5)
    for _ in range(2):
        with handle, handle:
            assert superkernel.current_config().jobs == 5
        assert superkernel.current_config().jobs is None


def test_an_exit_stack_works_too():
    superkernel.configure(jobs=1)
    with contextlib.ExitStack() as stack:
        stack.enter_context(superkernel.configure(jobs=5))
        assert superkernel.current_config().jobs == 5
    assert superkernel.current_config().jobs == 1


def test_a_block_is_invisible_to_other_threads():
    """The values of a block never show elsewhere, not even between the call and the entry of the block."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    stop = threading.Event()
    seen = set()

    def watch():
        while not stop.is_set():
            seen.add(superkernel.current_config().jobs)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(3000):
            with superkernel.configure(jobs=77):
                assert superkernel.current_config().jobs == 77
    finally:
        stop.set()
        watcher.join()
        sys.setswitchinterval(interval)
    assert seen == {None}


def test_threads_have_their_own_blocks():
    barrier = threading.Barrier(4)
    wrong = []

    def work(jobs):
        for _ in range(50):
            with superkernel.configure(jobs=jobs):
                barrier.wait()
                if superkernel.current_config().jobs != jobs:
                    wrong.append(jobs)
                barrier.wait()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert superkernel.current_config().jobs is None


def test_tasks_have_their_own_blocks():
    async def work(jobs):
        with superkernel.configure(jobs=jobs):
            await asyncio.sleep(0)
            return superkernel.current_config().jobs

    async def all_of_them():
        return await asyncio.gather(*(work(number) for number in range(1, 6)))

    assert asyncio.run(all_of_them()) == [1, 2, 3, 4, 5]


def test_a_copied_context_takes_the_block_along():
    with superkernel.configure(jobs=9):
        context = contextvars.copy_context()
    assert superkernel.current_config().jobs is None
    assert context.run(lambda: superkernel.current_config().jobs) == 9


def test_unknown_settings_are_refused_with_a_near_name():
    error = error_of(kernel_meta_parent="x")
    assert error.errorinfo["errId"] == "SK0010"
    message = "there is no setting `kernel_meta_parent`; did you mean `kernel_meta_parent_dir`?"
    assert error.errorinfo["message"] == message
    assert error_of(colour="red").errorinfo["message"] == "there is no setting `colour`"
    assert error_of(**{"\ud800": 1}).errorinfo["message"] == "there is no setting `?`"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("soc", "", "a non-empty string"),
        ("soc", 910, "a non-empty string"),
        ("soc", "\ud800", "a non-empty string"),
        ("aic_num", 0, "a whole number from 1 up"),
        ("aic_num", True, "a whole number from 1 up"),
        ("aiv_num", 1.5, "a whole number from 1 up"),
        ("aiv_num", 2**40, "a whole number from 1 up"),
        ("jobs", -1, "a whole number from 1 up"),
        ("jobs", "9" * 5000, "a whole number from 1 up"),
        ("kernel_meta_parent_dir", 3, "a path"),
        ("kernel_meta_parent_dir", "", "a path"),
        ("kernel_meta_parent_dir", "a\0b", "a path"),
        ("cache_dir", b"bytes", "a path"),
        ("toolchain", "gcc", "one of `auto`, `cann`, `host`"),
        ("tool_timeout", 0, "a number of seconds above 0"),
        ("tool_timeout", float("nan"), "a number of seconds above 0"),
        ("tool_timeout", float("inf"), "a number of seconds above 0"),
        ("tool_timeout", "soon", "a number of seconds above 0"),
        ("op_debug_config", 3, "a list of strings such as `dump_cce`, `ccec_g`, `ccec_O0`, `oom`, `sanitizer`"),
        ("op_debug_config", [1], "a list of strings such as `dump_cce`, `ccec_g`, `ccec_O0`, `oom`, `sanitizer`"),
    ],
)
def test_bad_values_are_refused_and_set_nothing(name, value, expected):
    error = error_of(**{"jobs": 8, name: value})
    assert error.errorinfo["errId"] == "SK0011"
    assert error.errorinfo["message"].startswith(f"setting `{name}` cannot be `")
    assert error.errorinfo["message"].endswith(f"`; expected {expected}")
    assert len(str(error)) < 500
    assert superkernel.current_config().jobs is None


def test_values_come_in_one_form(tmp_path):
    superkernel.configure(
        soc=" Ascend950 ",
        kernel_meta_parent_dir=tmp_path,
        cache_dir="~/kernels",
        tool_timeout=5,
        op_debug_config="dump_cce, oom",
    )
    config = superkernel.current_config()
    assert config.soc == "Ascend950"
    assert config.kernel_meta_parent_dir == str(tmp_path)
    assert config.cache_dir == str(Path.home() / "kernels")
    assert config.tool_timeout == 5.0
    assert config.op_debug_config == ["dump_cce", "oom"]


def test_debug_flags_without_effect_are_a_warning(caplog):
    with caplog.at_level(logging.WARNING, "superkernel"):
        superkernel.configure(op_debug_config=["dump_cc", "tbe_debug"])
    assert caplog.messages == [
        "op_debug_config: `dump_cc` has no effect on super kernels; did you mean `dump_cce`?",
        "op_debug_config: `tbe_debug` has no effect on super kernels",
    ]
    assert superkernel.current_config().op_debug_config == ["dump_cc", "tbe_debug"]


def test_a_snapshot_does_not_change():
    superkernel.configure(op_debug_config=["oom"])
    before = snapshot()
    before["op_debug_config"].append("dump_cce")
    assert superkernel.current_config().op_debug_config == ["oom"]


def test_environment_variables(monkeypatch):
    monkeypatch.setenv("SUPERKERNEL_SOC", "Ascend950")
    monkeypatch.setenv("SUPERKERNEL_JOBS", "6")
    monkeypatch.setenv("SUPERKERNEL_TOOL_TIMEOUT", "2.5")
    monkeypatch.setenv("SUPERKERNEL_TOOLCHAIN", "host")
    monkeypatch.setenv("SUPERKERNEL_CACHE_DIR", "/cache")
    config = superkernel.current_config()
    assert (config.soc, config.jobs, config.tool_timeout, config.toolchain, config.cache_dir) == (
        "Ascend950",
        6,
        2.5,
        "host",
        "/cache",
    )
    assert config.origins["soc"] == "SUPERKERNEL_SOC"
    assert config.aic_num == 32
    with superkernel.configure(soc="Ascend910B", cache_dir=""):
        assert superkernel.current_config().soc == "Ascend910B"
        assert superkernel.current_config().cache_dir is None
    monkeypatch.setenv("SUPERKERNEL_SOC", "Ascend910B")
    assert superkernel.current_config().soc == "Ascend910B"


def test_an_empty_variable_says_nothing_but_no_cache(monkeypatch):
    for name in ("SOC", "JOBS", "TOOL_TIMEOUT", "TOOLCHAIN", "CACHE_DIR"):
        monkeypatch.setenv(f"SUPERKERNEL_{name}", "")
    config = superkernel.current_config()
    assert (config.soc, config.jobs, config.toolchain, config.cache_dir) == ("Ascend910_93", None, "auto", None)
    assert (config.origins["soc"], config.origins["cache_dir"]) == ("default", "SUPERKERNEL_CACHE_DIR")


def test_a_bad_environment_variable_is_named(monkeypatch):
    monkeypatch.setenv("SUPERKERNEL_JOBS", "many")
    with pytest.raises(SuperKernelError) as caught:
        superkernel.current_config()
    assert str(caught.value) == (
        "[SK0012] environment variable `SUPERKERNEL_JOBS` cannot be `many`; expected a whole number from 1 up\n"
        "  hint: set `SUPERKERNEL_JOBS` to a whole number from 1 up, unset it, or use "
        "`superkernel.configure(jobs=...)`"
    )


def test_the_configuration_prints_values_and_origins():
    superkernel.configure(jobs=2)
    text = str(superkernel.current_config())
    assert "jobs = 2  (configure(...))" in text.splitlines()
    assert "soc = 'Ascend910_93'  (default)" in text.splitlines()
    assert repr(superkernel.current_config()).startswith("Configuration(soc='Ascend910_93', ")
    with pytest.raises(AttributeError, match="there is no setting `colour`"):
        _ = superkernel.current_config().colour


def test_a_child_process_by_fork_keeps_the_settings():
    assert (
        output_of(
            """
            import os, superkernel
            superkernel.configure(jobs=11)
            child = os.fork()
            if child == 0:
                os._exit(superkernel.current_config().jobs)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            """
        )
        == "11\n"
    )


def test_positional_arguments_are_refused():
    assert run_python("import superkernel; superkernel.configure('Ascend950')").returncode == 1
