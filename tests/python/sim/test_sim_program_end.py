"""How programs of `superkernel sim` end, and what cannot be run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import superkernel
from superkernel.cli import main
from superkernel.sim.program import build_program


def write(folder: Path, text: str, name: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


_PRELUDE = """
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include "kernel_operator.h"
#include "acl/acl.h"
__global__ __aicore__ void kernel(GM_ADDR x) {}
"""


def sim(folder: Path, text: str, *arguments: str, prelude: str = _PRELUDE) -> int:
    return main(["sim", "--ascendc", "", str(write(folder, prelude + text, "program.cpp")), *arguments])


def test_a_program_ends_as_programs_do(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    struct Variable { ~Variable() { void *x = nullptr; aclrtMalloc(&x, 8, ACL_MEM_MALLOC_NORMAL_ONLY);
                                    kernel<<<1, nullptr, nullptr>>>((GM_ADDR)x);
                                    std::printf("destroyed, %d\\n", aclrtFree(x)); } } variable;
    int main() {
        std::atexit([] { std::puts("at exit"); });
        kernel<<<1, nullptr, nullptr>>>(nullptr);
        std::puts("main");
        return 3;
    }
    """
    assert sim(tmp_path, text) == 3
    out, err = capfd.readouterr()
    assert (out, err) == ("main\nat exit\ndestroyed, 0\n", "")


def test_a_detached_thread_does_not_change_the_status(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    std::atomic<bool> runs{false};
    int main() {
        std::thread([] { runs = true; for (volatile long i = 0;; i = i + 1) {} }).detach();
        while (!runs) {}
        return 5;
    }
    """
    assert sim(tmp_path, text, prelude="#include <atomic>\n" + _PRELUDE) == 5
    assert capfd.readouterr().err == ""


def test_a_launch_inside_of_a_kernel_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
    __global__ __aicore__ void outer(GM_ADDR x) { kernel<<<1, nullptr, nullptr>>>(x); }
    int main() { outer<<<2, nullptr, nullptr>>>(nullptr); std::puts("main"); }
    """
    assert sim(tmp_path, text) == 1
    out, err = capfd.readouterr()
    assert "error [SK0946]: " in err and "program.cpp:11: `kernel` is launched inside of a kernel, `outer`" in err
    assert "main" not in out


@pytest.mark.parametrize("text", ["", "int helper() { return 1; }"])
def test_a_program_without_main_is_told_so(tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str) -> None:
    assert sim(tmp_path, text, prelude="") == 1
    err = capfd.readouterr().err
    assert err.startswith("superkernel: error [SK0947]: program `program` has no function `main`\n  hint: ")
    assert len(err.splitlines()) == 2


def test_without_room_for_addresses(tmp_path: Path) -> None:
    library = tmp_path / "program.so"
    with superkernel.configure(ascendc=None):
        build_program(write(tmp_path, _PRELUDE + "int main() {}", "program.cpp"), library)
    code = f"""
import resource
from superkernel.sim.program import run_program
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
print(run_program({str(library)!r}).returncode)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "1\n", done.stderr
    assert done.stderr.startswith("superkernel: error [SK0907]: cannot map 68719476736 bytes: ")


@pytest.mark.parametrize(
    ("thrown", "text"),
    [
        ('std::runtime_error("no luck")', "kernel code threw an exception: no luck"),
        ("3", "kernel code threw an exception"),
    ],
)
def test_an_exception_in_a_kernel(tmp_path: Path, capfd: pytest.CaptureFixture[str], thrown: str, text: str) -> None:
    program = f"""
    __global__ __aicore__ void fails(GM_ADDR x) {{ if (AscendC::GetBlockIdx() == 1) {{ throw {thrown}; }} }}
    int main() {{ fails<<<2, nullptr, nullptr>>>(nullptr); std::puts("main"); }}
    """
    assert sim(tmp_path, program) == 1
    out, err = capfd.readouterr()
    assert f"[SK0917]: AIV1: {text}\n" in err
    assert "program.cpp:12: launch of `fails` failed" in err
    assert "main" not in out and "Rust" not in err and "Traceback" not in err


def test_an_exception_that_host_code_does_not_catch(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sim(tmp_path, 'int main() { throw std::runtime_error("no luck"); }') == 128 + 6
    err = capfd.readouterr().err
    assert "no luck" in err and "ended by SIGABRT" in err and "Rust" not in err
    assert sim(tmp_path, "int main() { try { throw 3; } catch (int) { return 7; } }") == 7


def test_a_byte_order_mark(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sim(tmp_path, "int main() { kernel<<<1, nullptr, nullptr>>>(nullptr); }", prelude=f"\ufeff{_PRELUDE}") == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("count", ["-1", "0", "(1ull << 32) + 1", "5000"])
def test_counts_of_blocks_that_cannot_be(tmp_path: Path, capfd: pytest.CaptureFixture[str], count: str) -> None:
    assert sim(tmp_path, f"int main() {{ kernel<<<{count}, nullptr, nullptr>>>(nullptr); }}") == 1
    assert re.search(r"error \[SK0902\]: \S*program.cpp:10: launch of `kernel`: -?\d+ blocks; ", capfd.readouterr().err)


def test_a_function_that_is_no_kernel_cannot_be_launched(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "void plain(GM_ADDR x) {}\nint main() { plain<<<1, nullptr, nullptr>>>(nullptr); }"
    assert sim(tmp_path, text) == 1
    err = capfd.readouterr().err
    assert "[SK0955]: " in err and "program.cpp:11: the function in front of `<<<` is no kernel" in err


def test_keep_never_overwrites_a_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, second = write(tmp_path, "int main() {}", "program.cpp"), write(tmp_path, "", "second.cpp")
    link = tmp_path / "link.so"
    link.symlink_to(source)
    for kept in (source, second, link):
        arguments = ["--keep", str(kept), "--source", str(second), str(source)]
        assert main(["sim", "--ascendc", "", *arguments]) == 1
        assert f"error [SK0948]: `--keep {kept}` would overwrite" in capfd.readouterr().err
        assert source.read_text() == "int main() {}" and second.read_text() == ""
