"""Program counters of a device looked up: core kind, copy, op, function, line, from the object alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import superkernel
from superkernel import SuperKernelError, cli, elf
from superkernel.sim import build_op

SOC = "Ascend910_93"
NAME = "te_superkernel_locate"

SOURCE = """#include "kernel_operator.h"
static __attribute__((noinline)) int helper(int *value) {
    return value[3] + 1;  // line 3
}
extern "C" __global__ __aicore__ void NAME(GM_ADDR x, GM_ADDR y) {
    ((int *)y)[AscendC::GetBlockIdx()] = helper((int *)x);
}
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ops 0 and 2 run `first` on vector cores, op 1 `second` on cube cores; two copies; only the object is left."""
    folder = tmp_path_factory.mktemp("locate")

    def entry(name: str, kind: str) -> dict[str, Any]:
        source = folder / f"{name}.cpp"
        source.write_text(SOURCE.replace("NAME", name))
        return build_op(
            source,
            name,
            kernel_type=f"KERNEL_TYPE_{kind}_ONLY",
            block_dim=2,
            soc=SOC,
            out_dir=folder / "ops",
            compile_options=["-g"],
            name=name,
        ).entry()

    first, second = entry("first", "AIV"), entry("second", "AIC")
    with superkernel.configure(soc=SOC, toolchain="host", kernel_meta_parent_dir=folder):
        infos = {"op_list": [first, second, first], "super_kernel_options": "split-mode=2"}
        superkernel.compile(infos, NAME)
    alone = folder / "alone" / "kernel.o"
    alone.parent.mkdir()
    shutil.move(folder / "kernel_meta" / f"{NAME}.o", alone)
    return alone


def _functions(kernel: Path) -> dict[str, tuple[int, int]]:
    """Offset in `.text` and size of every function."""
    data = kernel.read_bytes()
    names = {section.name: number for number, section in enumerate(elf.sections(data))}
    symbols = [symbol for symbol in elf.symbols(data) if symbol.kind == "function"]
    return {symbol.name: (symbol.value, symbol.size) for symbol in symbols if symbol.section == names[".text"]}


def test_every_copy_of_every_op_is_found(kernel: Path) -> None:
    functions = _functions(kernel)
    called = {name: place for name, place in functions.items() if "_middle" in name}
    assert len(called) == 4, functions
    for name, (start, size) in called.items():
        is_first = name.startswith("first")
        for pc in (start, start + size - 1):
            (found,) = superkernel.locate(kernel, pc)
            assert found.kernel == NAME and found.certain
            assert found.core == ("aiv" if is_first else "aic")
            assert found.copy == (1 if name.endswith("_split1") else 0)
            assert found.ops == ([(0, "first"), (2, "first")] if is_first else [(1, "second")])
            assert found.symbol == (name, pc - start)
            assert found.file is not None and found.line is not None
        assert "op 0 or 2 `first`" in str(found) if is_first else "op 1 `second`" in str(found)


def test_helpers_belong_to_the_op_they_came_with(kernel: Path) -> None:
    """A local function has no symbol left; it lies beside the function that calls it."""
    functions = _functions(kernel)
    starts = sorted(start for start, _ in functions.values())
    helpers = []
    for found in superkernel.locate(kernel, range(starts[-1])):
        if found.function == "helper":
            assert found.line in (2, 3, 4) and found.symbol is None
            helpers.append((found.core, found.copy, found.certain))
    assert {(core, copy) for core, copy, certain in helpers if certain} == {
        (core, copy) for core in ("aic", "aiv") for copy in (0, 1)
    }


def test_the_super_kernel_itself_is_told(kernel: Path) -> None:
    own = [(name, start) for name, (start, _) in _functions(kernel).items() if name.startswith("_sk_")]
    assert own
    for name, start in own:
        (found,) = superkernel.locate(kernel, start)
        assert found.ops == [] and found.certain and found.core == ("aiv" if "aiv" in name else "aic")
        assert "own code" in str(found)


def test_what_the_super_kernel_brings_along_is_its_own(kernel: Path) -> None:
    """Its entries, and the helpers of each copy of its code, which have no symbols left."""
    functions = _functions(kernel)
    for core in ("aic", "aiv"):
        (found,) = superkernel.locate(kernel, functions[f"{NAME}_mix_{core}"][0])
        assert (found.core, found.ops, found.certain) == (core, [], True)
    copies = {name: start for name, (start, _) in functions.items() if name.startswith("_sk_")}
    assert len(copies) == 4
    for name, start in copies.items():
        # Helpers stand in front of the function.
        before, at = superkernel.locate(kernel, [start - 1, start])
        assert before.symbol is None and before.certain and before.ops == []
        assert (before.core, before.copy) == (at.core, at.copy) and at.core is not None and at.core in name
    assert {superkernel.locate(kernel, start)[0].copy for start in copies.values()} == {0, 1}


def test_loaded_code_logs_and_json(kernel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    functions = _functions(kernel)
    name = next(name for name in functions if name.startswith("second_middle") and not name.endswith("_split1"))
    base, at = 0x124080024000, functions[name][0]
    (plain,) = superkernel.locate(kernel, at + 4)
    (loaded,) = superkernel.locate(kernel, base + at + 4, start=base)
    (relative,) = superkernel.locate(kernel, base + 4, start=base, function=name)
    assert plain.offset == loaded.offset == relative.offset and plain.ops == loaded.ops == relative.ops
    log = tmp_path / "plog.txt"
    log.write_text(
        "[ERROR] RUNTIME: kernel task happen error\n"
        f"[ERROR] there is an aicore error exception, pc start: {base:#x}, current: {base + at + 4:#x}\n"
    )
    assert cli.main(["locate", str(kernel), "--log", str(log)]) == 0
    assert "line 2, AIC: " in (text := capsys.readouterr().out) and "op 1 `second`" in text
    assert cli.main(["locate", str(kernel), hex(base + at), "--start", hex(base), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["ops"] == [[1, "second"]] and row["symbol"] == [name, 0]
    # Without `0x`, as some logs have it: letters tell that it is no decimal number.
    base = 0xABCDEF000
    assert cli.main(["locate", str(kernel), f"{base + at:x}", "--start", f"{base:x}"]) == 0
    assert "op 1 `second`" in capsys.readouterr().out


def test_logs_as_they_come(kernel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several cores, flags above the 48 bits of an address, another kernel's counters, starts on lines of their own."""
    functions = _functions(kernel)
    at = {
        name: next(start for symbol, (start, _) in functions.items() if symbol.startswith(f"{name}_middle"))
        for name in ("first", "second")
    }
    base = 0x124080024000
    line = "[ERROR] RUNTIME(7,python):2024-05-05-05:05:05.5 [x.cc:1]9 there is an {} error exception, core id is {}, "
    line += "error code = 0x4, dump info: pc start: {:#x}, current: {:#x}, vec error info: 0x10, aic error mask: 0x65\n"
    log = tmp_path / "plog.txt"
    log.write_text(
        "[INFO] GE: all is well, addr 0x1234\n"
        + line.format("aivec", 3, base, base + at["first"])
        + line.format("aivec", 17, base, base + at["first"])
        + line.format("aicore", 5, base | 0x1000 << 48, base + at["second"] + 4)
        + line.format("aicore", 6, base + (1 << 24), base + (2 << 24))
        + f"start pc   : {base:#x}\ncurrent pc : {base + at['second']:#x}\n"
    )
    cores = superkernel.locate_log(kernel, log)
    assert [(core.log_line, core.log_core, core.log_core_ids) for core in cores] == [
        (2, "aiv", [3, 17]),
        (4, "aic", [5]),
        (5, "aic", [6]),
        (7, None, []),
    ]
    ops = [core.location and [index for index, _ in core.location.ops] for core in cores]
    assert ops == [[0, 2], [1], None, [1]]
    assert cores[2].problem is not None and "is not inside the kernel's code" in cores[2].problem
    assert cores[1].location is not None and cores[1].location.offset == at["second"] + 4
    assert cli.main(["locate", str(kernel), "--log", str(log)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("line 2, AIV, cores 3 and 17: ") and "line 5, AIC, core 6: 0x" in shown[2]
    assert cli.main(["locate", str(kernel), "--log", str(log), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["log_core_ids"] for row in rows] == [[3, 17], [5], [6], []] and rows[2]["offset"] is None
    # A log without a start: the caller knows it. And one that tells of nothing here.
    log.write_text(f"trap at pc {base + at['second']:#x}\n")
    (core,) = superkernel.locate_log(kernel, log, start=base)
    assert core.start is None and core.location is not None and core.location.ops == [(1, "second")]
    with pytest.raises(SuperKernelError, match="SK0960"):
        superkernel.locate_log(kernel, log)


def test_a_start_inside_a_page_is_an_entry(kernel: Path, tmp_path: Path) -> None:
    """The code starts at a page; a core's own start may be that of its entry instead."""
    functions = _functions(kernel)
    entry, at = f"{NAME}_mix_aiv", functions[next(name for name in functions if name.startswith("first_middle"))][0]
    offset = functions[entry][0]
    assert offset % 4096, "made so that the rule can tell"
    base = 0x124080024000
    log = tmp_path / "plog.txt"
    log.write_text(f"aivec error, core id is 1, pc start: {base + offset:#x}, current: {base + at:#x}\n")
    (core,) = superkernel.locate_log(kernel, log)
    assert core.start_function == entry and core.location is not None and core.location.offset == at
    assert f"(pc start is `{entry}`)" in str(core)


@pytest.mark.parametrize(
    ("given", "error_id"),
    [
        (["0xffffffff"], "SK0960"),
        (["0", "--start", "16"], "SK0960"),
        (["0", "--function", "nobody"], "SK0961"),
        ([], "SK0960"),
        (["-1"], None),
    ],
)
def test_what_cannot_be_found_is_told(
    kernel: Path, capsys: pytest.CaptureFixture[str], given: list[str], error_id: str | None
) -> None:
    if error_id is None:
        with pytest.raises(SuperKernelError, match="SK0960"):
            superkernel.locate(kernel, -1)
        return
    assert cli.main(["locate", str(kernel), *given]) == 1
    assert error_id in capsys.readouterr().err


def test_counters_of_others_take_no_answer_away(kernel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = superkernel.locate(kernel, [0, 1 << 40, 16])
    assert [place.problem is None for place in found] == [True, False, True]
    assert found[1].offset is None and "is not inside the kernel's code" in str(found[1])
    with pytest.raises(SuperKernelError, match="is not inside"):
        superkernel.locate(kernel, [1 << 40, 1 << 41])
    assert cli.main(["locate", str(kernel.with_suffix(".json")), "0x0", "0x10000000000", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["problem"] is None and rows[1]["offset"] is None and "not inside" in rows[1]["problem"]


def test_files_that_are_something_else(tmp_path: Path) -> None:
    (tmp_path / "k.o").write_bytes(b"nonsense")
    with pytest.raises(SuperKernelError):
        superkernel.locate(tmp_path / "k.o", 0)
    (tmp_path / "log.txt").write_text("all is well\n")
    with pytest.raises(SuperKernelError, match="SK0962"):
        superkernel.locate_log(tmp_path / "k.o", tmp_path / "log.txt")


def test_every_error_id_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "sk0910"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("SK0910 (Simulator)") and "some cores can never go on" in shown
    assert cli.main(["explain", "SK9999"]) == 1
    assert "SK0017" in capsys.readouterr().err
