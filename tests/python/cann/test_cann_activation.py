"""`activate --toolkit`: many at once, killed in the middle, and what others have put beside the toolkit's file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from superkernel import SuperKernelError
from superkernel._install import activation
from superkernel._install.packages import is_stand_in

ORIGINAL = "WHO = 'replaced'\n"

# Both scripts fork, so they have an interpreter of their own. They print what is wrong.
PRELUDE = """
import os, random, signal, sys
from pathlib import Path
from superkernel._install import activation
from superkernel._install.packages import is_stand_in

toolkit = Path(sys.argv[1])
package = activation.toolkit_package(toolkit)
start = package / "__init__.py"
ORIGINAL = "WHO = 'replaced'\\n"

def problem():
    if not start.is_file():
        return "no __init__.py"
    if not is_stand_in(package):
        return None if start.read_text() == ORIGINAL else "another original"
    try:
        saved = package / activation._saved_name(start)
    except Exception as error:
        return str(error)
    return None if saved.read_text() == ORIGINAL else "something else was put aside"

def forked(action, *arguments):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        action(*arguments)
        status = 0
    finally:
        os._exit(status)
"""

AT_ONCE = (
    PRELUDE
    + """
def act(ready, seed):
    os.read(ready, 1)
    ways = [activation.activate_toolkit, activation.deactivate_toolkit]
    for _ in range(3):
        random.Random(seed).choice(ways)(toolkit)

for number in range(int(sys.argv[2])):
    ready, go = os.pipe()
    children = [forked(act, ready, 10 * number + place) for place in range(4)]
    os.write(go, b"....")
    for child in children:
        if os.waitpid(child, 0)[1]:
            print(number, "a process failed")
    os.close(ready), os.close(go)
    if problem():
        print(number, problem())
activation.deactivate_toolkit(toolkit)
print(sorted(path.name for path in package.iterdir() if path.name != "__pycache__"), start.read_text() == ORIGINAL)
"""
)

KILLED = (
    PRELUDE
    + """
def act(way, point):
    left = [point]

    def hook(event, _):
        if event != "os.kill" and event.partition(".")[0] in ("os", "open", "fcntl", "tempfile", "shutil"):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    way(toolkit)

def no_second_names(*_, **__):
    raise OSError("this file system has no second names")

if sys.argv[2] == "copies":
    os.link = no_second_names
points = 0
for way in (activation.activate_toolkit, activation.deactivate_toolkit):
    point, status = 0, 1
    while status:
        # From the state before it, as clean as can be.
        (activation.deactivate_toolkit if way is activation.activate_toolkit else activation.activate_toolkit)(toolkit)
        status = os.waitpid(forked(act, way, point), 0)[1]
        if status not in (0, signal.SIGKILL):
            print(way.__name__, point, "status", status)
        if problem():
            print(way.__name__, point, problem())
        point += 1
    points += point
print(points > 10)
activation.deactivate_toolkit(toolkit)
print(sorted(path.name for path in package.iterdir() if path.name != "__pycache__"), start.read_text() == ORIGINAL)
"""
)


@pytest.fixture
def toolkit(tmp_path: Path) -> Path:
    package = activation.toolkit_package(tmp_path / "cann")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(ORIGINAL)
    (package / "super_kernel.py").write_text("")
    return tmp_path / "cann"


def run(script: str, *arguments: object) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_many_at_once_never_lose_the_toolkit_s_file(toolkit: Path) -> None:
    rounds = os.environ.get("SUPERKERNEL_ACTIVATIONS", "60")
    assert run(AT_ONCE, toolkit, rounds) == ["['__init__.py', 'super_kernel.py'] True"]


@pytest.mark.parametrize("how", ["second names", "copies"])
def test_killed_at_any_point_leaves_one_state_or_the_other(toolkit: Path, how: str) -> None:
    assert run(KILLED, toolkit, how) == ["True", "['__init__.py', 'super_kernel.py'] True"]


@pytest.mark.parametrize("kind", ["file", "folder", "link to a file", "link to nothing"])
def test_what_others_have_at_the_saved_name_stays(toolkit: Path, tmp_path: Path, kind: str) -> None:
    package = activation.toolkit_package(toolkit)
    theirs, target = package / activation.SAVED, tmp_path / "target"
    if kind == "file":
        theirs.write_text("theirs")
    elif kind == "folder":
        theirs.mkdir()
    else:
        theirs.symlink_to(target)
        if kind == "link to a file":
            target.write_text("theirs")
    before = theirs.lstat()
    _, saved = activation.activate_toolkit(toolkit)
    assert saved == f"{activation.SAVED}.2"
    assert is_stand_in(package)
    # Again: it is active already.
    assert activation.activate_toolkit(toolkit)[1] == saved
    assert activation.deactivate_toolkit(toolkit) == package / "__init__.py"
    assert (package / "__init__.py").read_text() == ORIGINAL
    after = theirs.lstat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)
    assert not (package / saved).exists()
    assert target.exists() == (kind == "link to a file")


def test_a_file_that_is_a_link_stays_one(toolkit: Path, tmp_path: Path) -> None:
    start, target = activation.toolkit_package(toolkit) / "__init__.py", tmp_path / "shared.py"
    start.rename(target)
    start.symlink_to(target)
    activation.activate_toolkit(toolkit)
    assert not start.is_symlink() and is_stand_in(start.parent)
    assert target.read_text() == ORIGINAL
    activation.deactivate_toolkit(toolkit)
    assert start.is_symlink() and start.read_text() == ORIGINAL
    assert sorted(path.name for path in start.parent.iterdir()) == ["__init__.py", "super_kernel.py"]


@pytest.mark.parametrize("what", ["nothing", "a stand-in"])
def test_an_original_that_is_gone_is_named(toolkit: Path, what: str) -> None:
    """As two commands at once could leave it before they waited for each other."""
    start, saved = activation.activate_toolkit(toolkit)
    (start.parent / saved).unlink()
    if what == "a stand-in":
        (start.parent / saved).write_bytes(start.read_bytes())
    for command in (activation.activate_toolkit, activation.deactivate_toolkit):
        with pytest.raises(SuperKernelError, match=r"the original of `.*__init__.py` is gone.*as `__init__.py.before"):
            command(toolkit)
    assert is_stand_in(start.parent)
