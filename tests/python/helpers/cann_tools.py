"""Stand-ins for `bisheng`, `ccec` and `ld.lld`: strict about their arguments, and real ELF comes out of them.

As a module it installs them into a folder that looks like a toolkit. As a program it is one of them: every call is
recorded as a line of JSON, and every argument must be one the real tool would be given. The machine's own compiler does
the work, what it made is brought into the device's shape, and the linker is a small one for that shape.
``SK_STANDIN_BEHAVIOUR`` makes them misbehave.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import device_linker
import device_objects

WORDS = [
    "0x02010880", "0x07020003", "0x00c0100a", "0x0a000000", "0x40200006",
    "0x0a000001", "0x40200005", "0x0a000002", "0x40200004",
]  # fmt: skip
# Folders of headers below `asc`, in the order in which the compiler must see them.
INCLUDE_DIRS = [
    *("impl/adv_api", "impl/basic_api", "impl/c_api", "impl/micro_api", "impl/basic_api/reg_compute"),
    *("impl/simt_api", "impl/utils", "include", "include/adv_api", "include/basic_api", "include/aicpu_api"),
    *("include/c_api", "include/micro_api", "include/basic_api/reg_compute", "include/simt_api", "include/utils"),
    *("../ascendc/act", "impl", "", "../tikcpp", "../../include", "../../include/ascendc"),
    *("../tikcpp/tikcfw", "../tikcpp/tikcfw/impl", "../tikcpp/tikcfw/interface"),
]
# Folders that only toolkits of one year have.
OF_LAYOUT = {"micro_api": "2025", "reg_compute": "2026"}
FLAGS = {
    "-c", "-g", "--cce-aicore-only", "--cce-disable-kernel-global-attr-check", "--cce-no-dcache-flush",
    "--cce-long-call=true", "--cce-aicore-lang", "-fno-unroll-loops", "-std=c++17", "-O0", "-O2", "-O3",
}  # fmt: skip
LLVM = {
    "-cce-aicore-stack-size=0x8000", "-cce-aicore-function-stack-size=0x8000", "-cce-aicore-record-overflow=false",
    "-cce-aicore-addr-transform", "--cce-aicore-jump-expand=true", "-cce-aicore-jump-expand=true",
    "-cce-block-local-relocate=false",
    "-cce-aicore-dcci-insert-for-scalar=false", "-cce-aicore-long-call", "-disable-machine-licm", "-disable-lsr",
}  # fmt: skip


def arch() -> str:
    """How the toolkit calls this machine."""
    return platform.machine()


class Toolkit:
    """A toolkit folder with the stand-ins in it."""

    def __init__(self, folder: Path, headers: Path, layout: str = "2026") -> None:
        self.folder = folder
        self.asc = folder / f"{arch()}-linux" / "asc"
        self.bin = folder / "bin"
        self.record = folder / "calls.jsonl"
        (self.asc / "include").parent.mkdir(parents=True)
        shutil.copytree(headers, self.asc / "include")
        for below in INCLUDE_DIRS:
            if OF_LAYOUT.get(below.rpartition("/")[2], layout) == layout:
                (self.asc / below).mkdir(parents=True, exist_ok=True)
        self._spread_headers(layout)
        self.bin.mkdir()
        for name in ("bisheng", "ccec", "ld.lld"):
            self.install(name, self.bin)
        (folder / "version.info").write_text("Version=8.1.stand-in\n")

    def _spread_headers(self, layout: str) -> None:
        """Has `kernel_operator.h` include headers that only the folders of this layout lead to."""
        needed = {
            "2025": {"impl/micro_api/old_impl.h": "old_impl.h", "include/micro_api/old.h": "old.h"},
            "2026": {
                "impl/basic_api/reg_compute/new_impl.h": "new_impl.h",
                "include/basic_api/reg_compute/new.h": "new.h",
                "impl/utils/from_asc.h": "impl/utils/from_asc.h",
            },
        }[layout]
        for place in needed:
            (self.asc / place).write_text("#pragma once\n")
        header = self.asc / "include" / "kernel_operator.h"
        header.write_text("".join(f'#include "{name}"\n' for name in needed.values()) + header.read_text())

    def include_arguments(self) -> list[str]:
        """`-I` of the folders that exist, in the documented order."""
        folders = [os.path.join(self.asc, below) if below else str(self.asc) for below in INCLUDE_DIRS]
        return [f"-I{folder}" for folder in folders if os.path.isdir(folder)]

    def install(self, name: str, folder: Path) -> Path:
        """One tool."""
        tool = folder / name
        folder.mkdir(parents=True, exist_ok=True)
        tool.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                        f"import cann_tools\ncann_tools.main({name!r}, {str(self.record)!r})\n")  # fmt: skip
        tool.chmod(0o755)
        return tool

    def calls(self, tool: str | None = None) -> list[list[str]]:
        """The arguments of all calls so far, in order of their start."""
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call["arguments"] for call in calls if tool in (None, call["tool"])]

    def spans(self, tool: str) -> list[tuple[float, float]]:
        """Start and end of every call of a tool."""
        ends = [json.loads(line) for line in Path(f"{self.record}.ends").read_text().splitlines()]
        return [(end["start"], end["end"]) for end in ends if end["tool"] == tool]


def main(tool: str, record: str) -> None:
    """Plays ``tool``."""
    arguments = [word for given in sys.argv[1:] for word in expanded(given)]
    if arguments == ["--version"]:
        print(f"{tool} stand-in 1.0")
        return
    start = time.monotonic()
    _append(record, {"tool": tool, "arguments": arguments, "directory": os.getcwd()})
    behaviour = os.environ.get("SK_STANDIN_BEHAVIOUR", "")
    wanted, _, action = behaviour.partition(":")
    if wanted == tool and not misbehave(action, arguments):
        return
    {"bisheng": bisheng, "ccec": ccec, "ld.lld": lld}[tool](arguments)
    _append(f"{record}.ends", {"tool": tool, "start": start, "end": time.monotonic()})


def expanded(argument: str) -> list[str]:
    """The arguments in a response file."""
    return shlex.split(Path(argument[1:]).read_text()) if argument.startswith("@") else [argument]


def misbehave(action: str, arguments: list[str]) -> bool:
    """True if the tool should go on as usual."""
    output = arguments[arguments.index("-o") + 1]
    if action == "fail":
        sys.exit("internal compiler error: first " + " ".join(word for word in arguments if word.startswith("-O")))
    if action.startswith("fail-without="):
        if action.partition("=")[2] in arguments:
            return True
        sys.exit("internal compiler error in pass machine-licm")
    if action == "hang":
        time.sleep(1000)
    if action == "hang-with-child":
        # As a compiler driver does, which starts the compiler proper.
        child = subprocess.Popen(["sleep", "1000"])
        _append(os.environ["SK_STANDIN_PIDS"], {"pids": [os.getpid(), child.pid]})
        child.wait()
    if action == "slow":
        time.sleep(0.5)
        return True
    if action == "garbage":
        Path(output).write_bytes(b"this is no object file")
    if action == "truncated":
        Path(output).write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 30)
    if action == "empty-object":
        subprocess.run(["c++", "-x", "c++", "-c", "/dev/null", "-o", output], check=True)
    return False  # `nothing`: no output at all


def bisheng(arguments: list[str]) -> None:
    """Compiles a generated source."""
    launched = "--cce-aicore-lang" in arguments
    host: list[str] = []
    source = ""
    output = ""
    words = iter(arguments)
    for word in words:
        if word == "-mllvm":
            check(next(words) in LLVM, f"-mllvm argument in {arguments}")
        elif word == "-x":
            check(next(words) == "cce" and not launched, "-x cce")
        elif word == "-o":
            output = next(words)
        elif word.startswith("--cce-aicore-arch="):
            host += architecture(word)
        elif word.startswith(("-D", "-I", "-U")):
            host.append(word)
        elif word in FLAGS:
            host += [word] if word in ("-g", "-O0") else []
        elif not word.startswith("-"):
            source = word
        else:
            check(False, f"unknown argument {word}")
    check(bool(source and output), "source and output")
    check(launched or "cce" in arguments, "the language")
    run(["c++", "-std=c++17", "-fPIC", "-w", *host, "-x", "c++", "-c", source, "-o", output])
    shape(output, arguments)


def ccec(arguments: list[str]) -> None:
    """Compiles the entry of a split kernel; its instructions are checked, then played by a switch."""
    check(arguments[:2] == ["-x", "cce"] and arguments[-2] == "-c", "the frame of the entry command")
    source = Path(arguments[-1])
    output = arguments[arguments.index("-o") + 1]
    (chip,) = [word for word in arguments if word.startswith("--cce-aicore-arch=")]
    text = source.read_text()
    check("[aicore]" in text, "device functions")
    text = text.replace("[aicore]", "")
    block = re.search(r"__asm__ volatile\((.*?)\);\n", text, re.S)
    if block:
        check(re.findall(r"\.long (0x\w{8})", block[1]) == WORDS, "the instruction words")
        check(re.findall(r"CALLR %(\d)", block[1]) == ["0", "1", "2", "3"], "the calls")
        names = re.findall(r'"l"\(\(\(int64_t\)(\w+)\)/4\)', block[1])
        check(len(names) == 4 and block[1].rstrip().endswith(': "X0", "X1"'), "inputs and clobbers")
        cases = "".join(f"case {number}: {name}(); break;" for number, name in enumerate(names))
        text = text.replace(block[0], f"switch ((uint8_t)get_coreid() % 4) {{ {cases} }}\n")
    plain = source.with_suffix(".plain.cpp")
    plain.write_text(text)
    includes = [word for word in arguments if word.startswith(("-I", "-D"))]
    run(["c++", "-std=c++17", "-fPIC", "-w", *includes, *architecture(chip), "-c", str(plain), "-o", output])
    shape(output, arguments)


def shape(output: str, arguments: list[str]) -> None:
    """Gives an object of this machine the shape of one for the device."""
    (word,) = [word for word in arguments if word.startswith("--cce-aicore-arch=")]
    chip, kind = word.split("-")[-2:]
    path = Path(output)
    path.write_bytes(device_objects.from_host(path.read_bytes(), chip, kind))


def lld(arguments: list[str]) -> None:
    """Merges objects, then places them: an executable with its relocations kept."""
    check(arguments[:2] == ["-m", "aicorelinux"], "the emulation")
    rest = arguments[2:]
    if rest[0] == "-r":
        check(rest[1:3] == ["-Ttext=0", "-q"] and rest[-3:-1] == ["-static", "-o"], "the frame of the merge")
        discard = ["-x"] if rest[3] == "-x" else []
        inputs = rest[3 + len(discard) : -3]
        whole = ["--whole-archive", "--no-whole-archive"]
        objects = [word for word in inputs if word not in whole]
        check(all(Path(name).is_file() for name in objects), f"objects {objects}")
        for name in (name for name in objects if name.endswith(".a")):
            at = inputs.index(name)
            check([inputs[at - 1], inputs[at + 1]] == whole, f"all of {name}")
        check(len(set(objects)) == len(objects), "each object once")
        link(lambda: device_linker.joined(device_linker.inputs(objects)), rest[-1])
    else:
        check(rest == ["-Ttext=0", rest[1], "-static", "-o", rest[1], "-q"], "the frame of the placement")
        link(lambda: device_linker.placed(device_linker.inputs([rest[1]])[0]), rest[1])


def link(work: Callable[[], device_objects.ObjectFile], output: str) -> None:
    """Writes what the linker makes, or ends as it would."""
    try:
        Path(output).write_bytes(work().write())
    except device_linker.LinkError as error:
        sys.exit(f"ld.lld: error: {error}")


def architecture(word: str) -> list[str]:
    """What a device compiler defines for its target."""
    found = re.fullmatch(r"--cce-aicore-arch=dav-(c220|c310)-(cube|vec)", word)
    check(found is not None, f"the architecture {word}")
    assert found is not None
    number = {"c220": 2201, "c310": 3510}[found[1]]
    return [f"-D__NPU_ARCH__={number}", f"-D__DAV_{found[2].upper()}__=1"]


def check(fine: bool, what: str) -> None:
    """Ends with a message unless it is fine."""
    if not fine:
        sys.exit(f"stand-in: wrong {what}: {sys.argv}")


def run(command: list[str]) -> None:
    """Runs a real tool; its failure is ours."""
    done = subprocess.run(command, check=False)
    if done.returncode:
        sys.exit(done.returncode)


def _append(path: str, record: dict[str, object]) -> None:
    # One write: both core kinds are compiled at the same time.
    with open(path, "ab", buffering=0) as file:
        file.write(json.dumps(record).encode() + b"\n")
