"""Installed on a CANN machine: the toolkit's own package `superkernel` is in front of ours (`PYTHONPATH`)."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
import superkernel
from interpreter import old_python
from superkernel import _core

SOURCE = Path(superkernel.__file__).parents[1]
NAMES = ("superkernel", "superkernel_rs", "tbe")
WHO = "import superkernel; print(getattr(superkernel, 'WHO', 'ours'))"

REPLACED_START = "WHO = 'replaced'\nfrom superkernel import super_kernel\n"
STRANGER_START = "WHO = 'stranger'\n"


def put_ours(folder: Path) -> None:
    """Our packages, as pip would put them there."""
    for name in NAMES:
        shutil.copytree(
            SOURCE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile,
            dirs_exist_ok=True,
        )  # fmt: skip


def put_replaced(folder: Path) -> Path:
    """The software we replace, as a toolkit has it: a distribution `superkernel` 0.1.0."""
    package = folder / "superkernel"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(REPLACED_START)
    (package / "super_kernel.py").write_text("WHO = 'replaced'\n")
    describe(folder, "superkernel/__init__.py", "superkernel/super_kernel.py")
    return package


def put_stranger(folder: Path) -> None:
    """The unrelated distribution of that name, and of that version, on the package index."""
    package = folder / "superkernel"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text(STRANGER_START)
    (package / "main.py").write_text("")
    describe(folder, "superkernel/__init__.py", "superkernel/main.py")


def describe(folder: Path, *files: str) -> None:
    information = folder / "superkernel-0.1.0.dist-info"
    information.mkdir(exist_ok=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: superkernel\nVersion: 0.1.0\n")
    (information / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in files))


@dataclass
class Machine:
    """An environment with ours in it, and a toolkit beside it."""

    home: Path
    python: Path
    site: Path
    toolkit: Path

    def run(self, *command: object, sourced: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """``sourced``: after the toolkit's environment script."""
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "SUPERKERNEL_", "ASCEND", "VIRTUAL_ENV"))
        }
        clean["HOME"] = str(self.home)
        clean["PATH"] = f"{self.python.parent}:/usr/bin:/bin"
        if sourced:
            clean["PYTHONPATH"] = str(self.toolkit / "python" / "site-packages")
            clean["ASCEND_HOME_PATH"] = str(self.toolkit)
        return subprocess.run(
            list(map(str, command)), env={**clean, **environment}, cwd=self.home, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip

    def who(self, *options: str, python: Path | None = None, **settings) -> str:
        """Whose package `import superkernel` gives; no warning is accepted."""
        done = self.run(python or self.python, *(options or ("-W", "error")), "-c", WHO, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def command(self, *arguments: object, **settings) -> subprocess.CompletedProcess[str]:
        """`superkernel-rs ...`: what the script of that name does."""
        return self.run(self.python, "-m", "superkernel_rs", *arguments, **settings)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Ours installed, the toolkit's environment script sourced."""
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", "venv" if "venv" in sysconfig.get_scheme_names() else None,
                                   vars={"base": str(folder), "platbase": str(folder)}))  # fmt: skip
    assert site.is_dir()
    put_ours(site)
    toolkit = tmp_path / "cann"
    put_replaced(toolkit / "python" / "site-packages")
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, python, site, toolkit)


def listing(folder: Path) -> dict[str, bytes]:
    """Every file but bytecode."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


# -- the command -----------------------------------------------------------------------------------------------------


def test_the_toolkit_s_package_is_in_front(machine):
    """What this is all about: the stand-ins behave like a CANN machine."""
    assert machine.who(sourced=False) == "ours"
    assert machine.who() == "replaced"
    done = machine.run(machine.python, "-c", "import superkernel.cli")
    assert "No module named 'superkernel.cli'" in done.stderr


def test_the_command_works_and_says_who_is_in_the_way(machine):
    done = machine.command("version")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"superkernel {superkernel.__version__} (commit {_core.__commit__})\n"
    package = machine.toolkit / "python" / "site-packages" / "superkernel"
    assert done.stderr == (
        "superkernel: note: `import superkernel` gives another package here: the software that superkernel-rs "
        f"replaces, `{package}`. This command works, but Python and the graph engine use that one. "
        "Run `superkernel-rs activate` to change it; `superkernel doctor` says more\n"
    )
    assert machine.command("version", sourced=False).stderr == ""


def test_the_simulator_of_the_command_is_ours_too(machine):
    """Its worker is a Python of its own, with the toolkit's path."""
    code = """
import sys
from superkernel_rs import command
sys.argv = ["superkernel", "version"]
assert command.main() == 0
from superkernel import sim
device = sim.Device("Ascend910B")
device.close()
"""
    done = machine.run(machine.python, "-c", code)
    assert done.returncode == 0, done.stderr


def test_a_package_that_was_overwritten_is_named(machine):
    for start in (REPLACED_START, STRANGER_START):
        (machine.site / "superkernel" / "__init__.py").write_text(start)
        done = machine.command("version", sourced=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"superkernel: error: another distribution was installed over `{machine.site / 'superkernel'}` and "
            "replaced its files. Run: pip install --force-reinstall --no-deps superkernel-rs\n"
        )
    (machine.site / "superkernel" / "__init__.py").unlink()
    done = machine.command("version", sourced=False)
    assert done.returncode == 1 and "cannot be read (No such file or directory)" in done.stderr


# -- activate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["python", "toolkit"])
def test_activating_makes_ours_win_and_can_be_taken_back(machine, scope):
    arguments = ["--toolkit"] if scope == "toolkit" else []
    before = listing(machine.home.parent)
    done = machine.command("activate", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"imports superkernel-rs, {machine.site / 'superkernel'}\n" in done.stdout
    assert machine.who() == "ours"
    assert machine.who(sourced=False) == "ours"
    # The graph engine's path, and ours below it.
    code = "from superkernel.super_kernel import compile; import superkernel; print(superkernel.compile is compile)"
    assert machine.run(machine.python, "-W", "error", "-c", code).stdout == "True\n"
    assert machine.command("version").stderr == ""
    # A second time changes nothing, above all not what was saved.
    assert machine.command("activate", *arguments).returncode == 0
    changed = {name for name, content in listing(machine.home.parent).items() if before.get(name) != content}
    start = "cann/python/site-packages/superkernel/__init__.py"
    assert changed == (
        {start, f"{start}.before-superkernel-rs"}
        if scope == "toolkit"
        else {str((machine.site / "superkernel-rs-activate.pth").relative_to(machine.home.parent))}
    )

    done = machine.command("deactivate", *arguments)
    assert done.returncode == 0, done.stderr
    assert machine.who() == "replaced"
    assert listing(machine.home.parent) == before
    assert "it was not activated" in machine.command("deactivate", *arguments).stdout


def test_activating_for_a_user_where_the_environment_belongs_to_somebody_else(machine):
    """Outside of virtual environments Python reads the user's own folder."""
    system = Path(getattr(sys, "_base_executable", sys.executable))
    path = f"{machine.toolkit / 'python' / 'site-packages'}"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        # Ours is on the path behind the toolkit's, as if installed for the whole system.
        return machine.run(system, *arguments, PYTHONPATH=f"{path}:{machine.site}")

    done = run("-m", "superkernel_rs", "activate", "--user")
    assert done.returncode == 0, done.stdout + done.stderr
    hooks = list((machine.home / ".local").rglob("superkernel-rs-activate.pth"))
    assert len(hooks) == 1
    assert run("-W", "error", "-c", WHO).stdout == "ours\n"
    done = run("-m", "superkernel_rs", "deactivate")
    assert done.stdout == f"removed {hooks[0]}\n", done.stderr
    assert run("-W", "error", "-c", WHO).stdout == "replaced\n"


def test_a_python_without_a_user_s_folder_is_told_so(machine):
    done = machine.command("activate", "--user")
    assert done.returncode == 1
    assert "superkernel: error [SK0015]: this Python does not read the user's folder" in done.stderr


def test_a_copy_of_ours_in_front_on_purpose_is_not_overruled(machine, tmp_path):
    assert machine.command("activate").returncode == 0
    put_ours(tmp_path / "newer")
    code = "import superkernel; print(superkernel.__file__)"
    done = machine.run(machine.python, "-c", code, PYTHONPATH=f"{tmp_path / 'newer'}")
    assert done.stdout.startswith(str(tmp_path / "newer"))


@pytest.mark.parametrize("scope", ["python", "toolkit"])
def test_without_ours_everything_is_as_before(machine, scope):
    """Uninstalled without `deactivate`: nobody's Python may break, or complain at every start."""
    assert machine.command("activate", *(["--toolkit"] if scope == "toolkit" else [])).returncode == 0
    for name in NAMES:
        shutil.rmtree(machine.site / name)
    done = machine.run(machine.python, "-c", WHO)
    assert done.stdout == "replaced\n", done.stderr
    if scope == "toolkit":
        assert "superkernel-rs is activated, but `" in done.stderr and "` is gone" in done.stderr
    else:
        assert done.stderr == ""
    assert machine.run(machine.python, "-c", "pass").stderr == ""


def test_a_toolkit_that_was_updated_while_ours_was_active(machine):
    package = machine.toolkit / "python" / "site-packages" / "superkernel"
    assert machine.command("activate", "--toolkit").returncode == 0
    newer = REPLACED_START + "VERSION = 2\n"
    (package / "__init__.py").unlink()
    (package / "__init__.py").write_text(newer)
    assert machine.who() == "replaced"
    assert "it was not activated" in machine.command("deactivate", "--toolkit").stdout
    assert (package / "__init__.py").read_text() == newer
    assert machine.command("activate", "--toolkit").returncode == 0
    assert machine.who() == "ours"
    assert machine.command("deactivate", "--toolkit").returncode == 0
    assert (package / "__init__.py").read_text() == newer


def test_a_toolkit_without_the_package_needs_nothing(machine):
    shutil.rmtree(machine.toolkit / "python" / "site-packages" / "superkernel")
    done = machine.command("activate", "--toolkit")
    assert done.returncode == 1
    assert "superkernel: error [SK0015]: there is no package `superkernel` in" in done.stderr
    done = machine.command("activate", "--toolkit", "/nowhere")
    assert "`/nowhere/python/site-packages`" in done.stderr


def test_a_file_that_cannot_be_written_is_named(machine):
    """As it is for a user without rights; the tests may run as root, whom only a limit of the system stops."""
    package = machine.toolkit / "python" / "site-packages" / "superkernel"
    before = listing(package)
    command = f"ulimit -f 0; exec {machine.python} -m superkernel_rs activate --toolkit"
    done = machine.run("sh", "-c", command, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 1
    assert f"superkernel: error [SK0001]: cannot change `{package / '__init__.py'}`: File too large" in done.stderr
    assert machine.who() == "replaced"
    assert machine.command("deactivate", "--toolkit").returncode == 0
    assert listing(package) == before


# -- doctor ----------------------------------------------------------------------------------------------------------


def test_doctor_names_what_each_would_import(machine):
    theirs = machine.toolkit / "python" / "site-packages" / "superkernel"
    ours = machine.site / "superkernel"
    worker = f"the graph engine's worker ({machine.python}3, with {machine.toolkit}) imports"

    done = machine.command("doctor")
    assert done.returncode == 1
    change = "; to change it: superkernel-rs activate"
    replaced = f"the software that superkernel-rs replaces, {theirs}{change}"
    assert f"PROBLEM: `python` ({machine.python}) imports {replaced}\n" in done.stdout
    assert f"PROBLEM: {worker} {replaced}\n" in done.stdout
    assert f"\nthis command imports superkernel-rs, {ours}\n" in done.stdout

    # Without the environment script Python is fine, the graph engine is not.
    done = machine.command("doctor", sourced=False, ASCEND_HOME_PATH=str(machine.toolkit))
    assert f"\n`python` ({machine.python}) imports superkernel-rs, {ours}\n" in done.stdout
    assert f"PROBLEM: {worker} {replaced}\n" in done.stdout

    assert machine.command("activate").returncode == 0
    done = machine.command("doctor")
    assert f"\n{worker} superkernel-rs, {ours}\n" in done.stdout
    assert "PROBLEM: `python`" not in done.stdout and "PROBLEM: the graph" not in done.stdout


def test_doctor_names_a_python_that_cannot_tell(machine):
    program = machine.home / "python"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    program.chmod(0o755)
    done = machine.command("doctor", PATH=f"{machine.home}:/usr/bin:/bin", sourced=False)
    assert f"`python` ({program}) imports an unknown package: broken" in done.stdout


# -- installed into one folder ---------------------------------------------------------------------------------------


def test_installed_over_the_replaced_distribution_nothing_warns(machine):
    """`pip install --target <toolkit>/python/site-packages`: both distributions are listed in that folder."""
    site = machine.toolkit / "python" / "site-packages"
    put_ours(site)
    assert (site / "superkernel-0.1.0.dist-info").is_dir()
    assert machine.who("-W", "error") == "ours"
    # Installers of toolkits do not always leave a list of files.
    (site / "superkernel-0.1.0.dist-info" / "RECORD").unlink()
    assert machine.who("-W", "error") == "ours"
    done = machine.command("activate", "--toolkit")
    assert "is superkernel-rs already" in done.stderr


def test_a_stranger_of_the_same_name_still_warns(machine):
    put_stranger(machine.site)
    put_ours(machine.site)
    done = machine.run(machine.python, "-c", WHO, sourced=False)
    assert done.stdout == "ours\n", done.stderr
    assert "another distribution named `superkernel` is installed beside `superkernel-rs`" in done.stderr
    assert "pip uninstall superkernel superkernel-rs && pip install superkernel-rs" in done.stderr


# -- older Pythons ---------------------------------------------------------------------------------------------------

#: What an old Python reads before it is told that it is too old.
READ_BY_OLD_PYTHONS = [
    SOURCE / "superkernel" / "__init__.py",
    SOURCE / "superkernel" / "_install" / "startup.py",
    *sorted((SOURCE / "superkernel_rs").glob("*.py")),
]


@pytest.mark.parametrize("version", [(3, 7), (3, 8)])
def test_old_pythons_can_read_what_tells_them(version):
    for path in READ_BY_OLD_PYTHONS:
        ast.parse(path.read_text(), feature_version=version)


def test_an_old_python_is_told_before_anything_else_is_imported(machine):
    """With a simulated version, where no real one is at hand."""
    code = """
import sys
sys.version_info = (3, 8, 18, "final", 0)
before = set(sys.modules)
try:
    import superkernel
except ImportError as error:
    print(error)
print(sorted(name for name in set(sys.modules) - before if "superkernel" in name))
from superkernel_rs.command import main
print(main())
"""
    done = machine.run(machine.python, "-c", code, sourced=False)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("superkernel-rs needs Python 3.9 or newer; this is Python 3.8 ("), done.stderr
    assert lines[1:] == ["[]", "1"]
    assert done.stderr.startswith("superkernel: error: Python 3.9 or newer is needed; this is 3.8 (")


@pytest.mark.parametrize("version", ["3.7", "3.8"])
def test_a_real_old_python_is_told(machine, version):
    python = old_python(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    path = {"PYTHONPATH": str(machine.site), "PYTHONDONTWRITEBYTECODE": "1"}
    for code in ("import superkernel", "from superkernel.super_kernel import compile"):
        done = machine.run(python, "-c", code, **path)
        assert f"ImportError: superkernel-rs needs Python 3.9 or newer; this is Python {version} (" in done.stderr
    done = machine.run(python, "-m", "superkernel_rs", "version", **path)
    assert done.returncode == 1 and "Python 3.9 or newer is needed" in done.stderr
    # A toolkit serves several Pythons: the old one goes on with what it had.
    assert machine.command("activate", "--toolkit").returncode == 0
    done = machine.run(python, "-c", WHO, PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout == "replaced\n", done.stderr
    assert "superkernel-rs is activated, but needs Python 3.9 or newer" in done.stderr
