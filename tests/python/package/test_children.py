"""Python processes that the package starts import what their parent would, and nothing from the current folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import superkernel
from interpreter import old_python
from superkernel._children import python_environment
from superkernel.scope._processes import ProcessEnded, Processes

SOURCE = Path(superkernel.__file__).parents[1]

# Starts one of each kind and has it answer.
EACH_KIND = """
import os
from superkernel.scope._processes import Processes
from superkernel.sim._child import Child
from superkernel.sim.memory import Arena
from superkernel.sim.program import run_program

child = Child(Arena(1 << 20))
child._send(b"no order\\n")
print("worker:", child._process.wait(60))
with Processes(1) as executor:
    print("executor:", executor.submit(len, "four").result(60))
done = run_program("/no/such/library.so", capture_output=True, text=True)
print("program:", "/no/such/library.so" in done.stderr)
import superkernel
print("package:", os.path.dirname(superkernel.__file__))
"""

PROGRAM = """
#include <cstdio>
#include "kernel_operator.h"
#include "acl/acl.h"
__global__ __vector__ void nothing() {}
int main() {
    nothing<<<1, nullptr, nullptr>>>();
    aclrtSynchronizeStream(nullptr);
    std::printf("done\\n");
}
"""


@dataclass
class Way:
    """A Python, and how it finds the package."""

    python: str
    environment: dict[str, str]
    package: Path


def copy_to(folder: Path) -> Path:
    for name in ("superkernel", "superkernel_rs"):
        shutil.copytree(SOURCE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "superkernel"


@pytest.fixture(params=["installed", "PYTHONPATH", "user's folder", "oldest Python"])
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Way:
    home = tmp_path / "home"
    plain = getattr(sys, "_base_executable", sys.executable)
    if request.param == "installed":
        return Way(sys.executable, {}, SOURCE / "superkernel")
    if request.param == "user's folder":
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        return Way(plain, {"HOME": str(home)}, copy_to(home / ".local" / "lib" / version / "site-packages"))
    python = plain if request.param == "PYTHONPATH" else old_python("3.9")
    if python is None:
        pytest.skip("no Python 3.9 on this machine")
    site = tmp_path / "site"
    # An empty entry is the current folder; scripts that set the variable make one by accident.
    return Way(python, {"PYTHONPATH": f"{site}{os.pathsep}", "PYTHONNOUSERSITE": "1"}, copy_to(site))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a file for every module there is; each says so when it is executed."""
    folder = tmp_path / "hostile"
    (folder / "superkernel").mkdir(parents=True)
    names = {name.partition(".")[0] for name in (*sys.modules, *getattr(sys, "stdlib_module_names", ()), "numpy")}
    for path in [folder / f"{name}.py" for name in names - {"superkernel"}] + [folder / "superkernel/__init__.py"]:
        path.write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write(__file__ + '\\n')\n")
    return folder


def run(way: Way, folder: Path, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SUPERKERNEL_"))}
    return subprocess.run(
        [way.python, script, *arguments],
        cwd=folder,
        env={**clean, **way.environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_is_imported_from_the_current_folder(way: Way, hostile: Path, tmp_path: Path) -> None:
    if way.environment.get("PYTHONPATH", "").endswith(os.pathsep):
        # This process would read the folder itself; what is looked at is what it starts.
        way.environment["PYTHONPATH"] = way.environment["PYTHONPATH"].rstrip(os.pathsep)
    script = tmp_path / "script.py"
    script.write_text(EACH_KIND)
    done = run(way, hostile, script)
    executed = tmp_path / "executed"
    assert not executed.exists(), executed.read_text()
    assert done.returncode == 0, done.stderr
    # The worker read the order, or what it refuses would not be known.
    assert "SK0901" in done.stderr
    assert done.stdout.splitlines() == [
        "worker: 1",
        "executor: 4",
        "program: True",
        f"package: {way.package}",
    ]


def test_the_command_in_such_a_folder(hostile: Path, tmp_path: Path) -> None:
    script = tmp_path / "superkernel"
    script.write_text("import sys\nfrom superkernel_rs.command import main\nsys.exit(main())\n")
    (hostile / "program.asc").write_text(PROGRAM)
    done = run(Way(sys.executable, {}, SOURCE), hostile, script, "sim", "program.asc")
    executed = tmp_path / "executed"
    assert not executed.exists(), executed.read_text()
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_empty_entries_of_the_search_path_are_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "/somewhere", ".", str(tmp_path), "/else"]))
    assert python_environment()["PYTHONPATH"] == os.pathsep.join(["/somewhere", "/else"])
    monkeypatch.setenv("PYTHONPATH", "")
    assert "PYTHONPATH" not in python_environment()


def test_the_folder_of_python_s_own_modules_stays_on_the_path(tmp_path: Path) -> None:
    """Somebody may work in it."""
    script = tmp_path / "script.py"
    script.write_text(EACH_KIND)
    done = run(Way(sys.executable, {}, SOURCE), Path(os.__file__).parent, script)
    assert "executor: 4" in done.stdout, done.stderr


# -- the executor ----------------------------------------------------------------------------------------------------


def test_a_killed_process_costs_its_task_only() -> None:
    with Processes(1) as executor:
        with pytest.raises(ProcessEnded, match="ended with status -9"):
            executor.submit(os.kill, executor.submit(os.getpid).result(), 9).result()
        assert executor.submit(pow, 2, 5).result() == 32


def test_errors_come_back() -> None:
    with Processes(2) as executor:
        results = [executor.submit(divmod, 7, divisor) for divisor in (2, 0)]
        assert results[0].result() == (3, 1)
        with pytest.raises(ZeroDivisionError):
            results[1].result()


def test_giving_up_does_not_wait_for_tasks() -> None:
    import time

    with pytest.raises(KeyboardInterrupt), Processes(1) as executor:
        running = executor.submit(time.sleep, 10_000)
        waiting = executor.submit(time.sleep, 10_000)
        while not executor._all:
            time.sleep(0.01)
        raise KeyboardInterrupt
    for task in (running, waiting):
        assert isinstance(task.exception(), ProcessEnded)
