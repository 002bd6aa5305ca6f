"""Change any one input of a build, and it is another build; change what does not matter, and it is the same.

One kernel is built; every example then asks whether it is still up to date. ``SUPERKERNEL_KEY_CHANGES`` sets how many
changes are tried.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
import superkernel
from damage import places
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_library import AIC, KernelLibrary
from superkernel import SuperKernelError, _build, _core

COUNT = int(os.environ.get("SUPERKERNEL_KEY_CHANGES", "200"))
property_test = settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck))

pytestmark = pytest.mark.timeout(7200 if COUNT > 1000 else 300)

#: Variables that compilers and linkers read, from their manuals.
VARIABLES = [
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH", "LD_RUN_PATH",
    "GCC_COMPARE_DEBUG", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", "LDEMULATION", "GNUTARGET",
]  # fmt: skip


class Scene:
    """A built kernel and everything it was made of, which can be changed and put back."""

    def __init__(self, library: KernelLibrary, folder: Path) -> None:
        self.folder = folder
        self.ops = []
        (folder / "ops").mkdir()
        for op in (library.op("one"), library.op("cube", AIC), library.op("two")):
            entry = {**op.entry(stream_id=0), "send_event_list": [], "recv_event_list": []}
            for key in ("json_path", "bin_path"):
                entry[key] = shutil.copy(entry[key], folder / "ops")
            self.ops.append(entry)
        self.include = folder / "include"
        (self.include / "deep").mkdir(parents=True)
        (self.include / "a.h").write_text("// one")
        (self.include / "deep" / "b.h").write_text("// two")
        (folder / "linked").mkdir()
        (folder / "linked" / "c.h").write_text("// three")
        (self.include / "link").symlink_to(folder / "linked")
        self.compiler = folder / "my-c++"
        self.compiler.write_text('#!/bin/sh\nexec c++ "$@"\n')
        self.compiler.chmod(0o755)
        self.name = "k"
        self.options = {"split-mode": "1", "compile-options": f"-I{self.include}"}
        self.settings: dict[str, Any] = {}
        self.reasons: list[str] = []
        os.environ["CXX"] = str(self.compiler)
        with self.in_force():
            _build.build(self.infos(), self.name)

    def infos(self) -> dict[str, Any]:
        options = ":".join(f"{name}={value}" for name, value in self.options.items())
        return {"op_list": self.ops, "super_kernel_options": options}

    def in_force(self) -> Any:
        base = {"toolchain": "host", "kernel_meta_parent_dir": str(self.folder), "cache_dir": "", "soc": "Ascend910_93"}
        return superkernel.configure(**{**base, **self.settings})

    def is_up_to_date(self) -> bool:
        """Would the kernel be used again? An input that cannot be used is an error, and no reuse either."""
        with self.in_force():
            try:
                standing, reasons = _build.compare(self.infos(), self.name)
            except SuperKernelError as error:
                self.reasons = [str(error)]
                return False
        self.reasons = reasons
        assert standing in ("up to date", "outdated", "absent") and (standing == "outdated") == bool(reasons)
        return standing == "up to date"


@pytest.fixture(scope="module")
def scene(library: KernelLibrary, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    before = dict(os.environ)
    for name in ("ASCENDC_CCACHE_EXECUTABLE", *VARIABLES):
        os.environ.pop(name, None)
    yield Scene(library, tmp_path_factory.mktemp("key"))
    os.environ.clear()
    os.environ.update(before)


class Change:
    """A change that can be taken back."""

    def __init__(self, scene: Scene, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.scene = scene
        self.draw = draw
        self.kept = {name: copy.deepcopy(getattr(scene, name)) for name in ("ops", "name", "options", "settings")}
        self.environment = dict(os.environ)
        self.files: dict[Path, tuple[bytes, os.stat_result] | None] = {}
        self.folders: dict[Path, os.stat_result] = {}

    def write(self, path: Path, content: bytes) -> None:
        found = path.stat() if path.exists() else None
        self.folders.setdefault(path.parent, path.parent.stat())
        self.files.setdefault(path, (path.read_bytes(), found) if found else None)
        path.write_bytes(content)
        # Whatever the clock of the file system: a change is later than what was there.
        stamp = time.time_ns() + 10**9
        os.utime(path, ns=(stamp, stamp))

    def take_back(self) -> None:
        for name, value in self.kept.items():
            setattr(self.scene, name, value)
        os.environ.clear()
        os.environ.update(self.environment)
        for path, before in self.files.items():
            if before is None:
                path.unlink()
            else:
                path.write_bytes(before[0])
                os.utime(path, ns=(before[1].st_atime_ns, before[1].st_mtime_ns))
        for folder, found in self.folders.items():
            os.utime(folder, ns=(found.st_atime_ns, found.st_mtime_ns))

    # -- changes that matter ---------------------------------------------------------------------------------------

    def an_option(self) -> None:
        row = self.draw(st.sampled_from(_core.option_table()))
        name = row["name"]
        now = self.scene.options.get(name, str(row["default"]))
        value = str(self.draw(st.sampled_from([sample for sample in row["samples"] if str(sample) != str(now)])))
        if name in ("debug-aic-num", "debug-aiv-num"):
            self.scene.options.update({"debug-aic-num": "4", "debug-aiv-num": "4"})
        elif name == "compile-options":
            self.scene.options[name] += "," + self.draw(st.sampled_from(["-DX", "-DX=2", "-O2", "-g", "-UY"]))
        else:
            self.scene.options[name] = value

    def a_setting(self) -> None:
        name, value = self.draw(
            st.one_of(
                st.tuples(st.just("soc"), st.sampled_from(["Ascend910B", "Ascend950"])),
                st.tuples(st.just("aic_num"), st.integers(1, 23)),
                st.tuples(st.just("aiv_num"), st.integers(1, 47)),
                st.tuples(
                    st.just("op_debug_config"), st.sampled_from([["ccec_g"], ["ccec_O0"], ["ccec_O0", "ccec_g"]])
                ),
            )
        )
        self.scene.settings[name] = value

    def the_name(self) -> None:
        self.scene.name = self.draw(st.from_regex(r"[a-z_][a-z0-9_]{1,12}", fullmatch=True))

    def an_object(self) -> None:
        path = Path(self.draw(st.sampled_from(self.scene.ops))["bin_path"])
        content = bytearray(path.read_bytes())
        content[self.draw(st.integers(0, len(content) - 1))] ^= 1 << self.draw(st.integers(0, 7))
        self.write(path, bytes(content))

    def a_description(self) -> None:
        """Any field of a sub-kernel's JSON, also those that nobody here reads: others may."""
        path = Path(self.draw(st.sampled_from(self.scene.ops))["json_path"])
        document = json.loads(path.read_text())
        *way, last = self.draw(st.sampled_from(places(document)))
        target = document
        for key in way:
            target = target[key]
        new = self.draw(st.one_of(st.integers(-3, 99), st.text(max_size=5), st.none()))
        if target[last] == new:
            target[last] = [new]
        else:
            target[last] = new
        self.write(path, json.dumps(document).encode())

    def the_op_list(self) -> None:
        ops = self.scene.ops
        kind = self.draw(st.integers(0, 5))
        place = self.draw(st.integers(0, len(ops) - 1))
        if kind == 0:
            ops.insert(place, dict(ops[place]))
        elif kind == 1:
            ops.pop(place)
        elif kind == 2:
            ops.append(ops.pop(0))
        elif kind == 3:
            ops[place]["stream_id"] = self.draw(st.integers(1, 9))
        elif kind == 4:
            ops[0]["send_event_list"] = [self.draw(st.integers(0, 99))]
        else:
            ops[2]["recv_event_list"] = [self.draw(st.integers(0, 99))]

    def the_compiler(self) -> None:
        way = self.draw(st.integers(0, 2))
        if way == 0:
            os.environ["CXX"] += self.draw(st.sampled_from([" -g3", " -DX", " -O1"]))
        elif way == 1:
            self.write(self.scene.compiler, b'#!/bin/sh\nexec c++ "$@" #\n')
        else:
            os.environ["CXX"] = "c++"

    def a_variable(self) -> None:
        os.environ[self.draw(st.sampled_from(VARIABLES))] = self.draw(st.from_regex(r"[a-z0-9/]{1,8}", fullmatch=True))

    def a_header(self) -> None:
        """Changed or new, at any depth, behind a link too."""
        folder = self.draw(st.sampled_from(["", "deep", "link"]))
        name = self.draw(st.sampled_from(["a.h", "b.h", "c.h", "new.h"]))
        self.write(self.scene.include / folder / name, self.draw(st.binary(min_size=7, max_size=20)))

    MATTER = (
        "an_option", "a_setting", "the_name", "an_object", "a_description", "the_op_list", "the_compiler", "a_variable",
        "a_header",
    )  # fmt: skip

    # -- changes that do not ---------------------------------------------------------------------------------------

    def other_paths(self) -> None:
        folder = self.scene.folder / "moved" / str(time.monotonic_ns())
        folder.mkdir(parents=True)
        for op in self.scene.ops:
            for key in ("json_path", "bin_path"):
                op[key] = shutil.copy(op[key], folder)

    def other_times(self) -> None:
        path = Path(self.draw(st.sampled_from(self.scene.ops))["bin_path"])
        self.files[path] = (path.read_bytes(), path.stat())
        os.utime(path, (self.draw(st.integers(1, 2**31)),) * 2)

    def other_variables(self) -> None:
        name = self.draw(st.sampled_from(["HOME", "LANG", "EDITOR", "XDG_CACHE_HOME", "SOMETHING", "PYTHONPATH"]))
        os.environ[name] = self.draw(st.sampled_from(["/", "C", "x"]))

    def other_limits(self) -> None:
        self.scene.settings.update(jobs=self.draw(st.integers(1, 9)), tool_timeout=self.draw(st.integers(100, 999)))

    def other_words(self) -> None:
        self.scene.options = {f" {name} ": f" {value} " for name, value in reversed(self.scene.options.items())}

    def other_entries(self) -> None:
        for op in self.scene.ops:
            op[self.draw(st.sampled_from(["comment", "unknown"]))] = self.draw(st.integers(0, 99))

    def other_files(self) -> None:
        self.write(self.scene.folder / self.draw(st.sampled_from(["x.h", "ops/x.o"])), self.draw(st.binary()))

    DO_NOT = (
        "other_paths", "other_times", "other_variables", "other_limits", "other_words", "other_entries", "other_files",
    )  # fmt: skip


counts: Counter[str] = Counter()


@property_test
@given(data=st.data(), kind=st.sampled_from(Change.MATTER))
def test_any_change_of_an_input_is_another_build(scene: Scene, data: st.DataObject, kind: str):
    change = Change(scene, data.draw)
    try:
        getattr(change, kind)()
        assert not scene.is_up_to_date()
        counts[kind] += 1
    finally:
        change.take_back()
    assert scene.is_up_to_date(), scene.reasons


@property_test
@given(data=st.data(), kinds=st.lists(st.sampled_from(Change.DO_NOT), min_size=1, max_size=3))
def test_what_does_not_matter_is_no_other_build(scene: Scene, data: st.DataObject, kinds: list[str]):
    change = Change(scene, data.draw)
    try:
        for kind in kinds:
            getattr(change, kind)()
            counts[kind] += 1
        assert scene.is_up_to_date()
    finally:
        change.take_back()


def test_every_kind_of_change_was_tried(tally: Counter[str]):
    tally.update(counts)
    if counts:
        assert set(Change.MATTER) | set(Change.DO_NOT) == set(counts)
