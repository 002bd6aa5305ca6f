"""``tbe.superkernel``: an alias where there is no other ``tbe``, and never in its way."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import superkernel
from interpreter import output_of

SOURCE = Path(superkernel.__file__).parents[1]


@pytest.fixture
def site(tmp_path) -> Path:
    """A folder as an installed wheel leaves it."""
    folder = tmp_path / "site"
    shutil.copytree(
        SOURCE / "superkernel", folder / "superkernel", ignore=shutil.ignore_patterns("__pycache__", "include")
    )
    shutil.copytree(SOURCE / "tbe", folder / "tbe", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def cann(tmp_path) -> Path:
    """A folder with a real ``tbe``."""
    package = tmp_path / "cann" / "tbe"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("WHO = 'CANN'\n")
    (package / "common.py").write_text("WHO = 'CANN'\n")
    return package.parent


def isolated(code: str, *path: Path) -> str:
    """What ``code`` prints with exactly these folders and the standard library on ``sys.path``.

    ``-S``: without site-packages, in which this very project is installed for development.
    """
    setup = f"import sys; sys.path[1:1] = {[str(folder) for folder in path]!r}\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", setup + textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


IMPORT_ALIAS = """
try:
    import tbe.superkernel
except ModuleNotFoundError as error:
    print(error, error.name)
else:
    print("imported", tbe.superkernel.__name__)
"""


def test_the_alias_is_the_package_itself(site):
    assert isolated(
        """
        import tbe.superkernel
        import superkernel
        print(tbe.superkernel is superkernel)
        from tbe.superkernel.super_kernel import compile
        print(compile is superkernel.compile)
        import tbe.superkernel.super_kernel_constants as through_alias
        import superkernel.super_kernel_constants as direct
        print(through_alias is direct, direct.__spec__.name)
        from tbe.superkernel import super_kernel_types, sub_operator_infos
        print(super_kernel_types.SubOperatorType is direct.SubOperatorType, sub_operator_infos.__name__)
        from tbe.superkernel import super_kernel_option_parse, SuperKernelError
        print(SuperKernelError is superkernel.SuperKernelError)
        import importlib
        print(importlib.reload(direct) is direct)
        """,
        site,
    ).splitlines() == [
        "True",
        "True",
        "True superkernel.super_kernel_constants",
        "True superkernel.sub_operator_infos",
        "True",
        "True",
    ]


def test_an_unknown_submodule_is_unknown(site):
    assert (
        isolated(
            """
        try:
            import tbe.superkernel.nothing
        except ModuleNotFoundError as error:
            print(error)
        """,
            site,
        )
        == "No module named 'tbe.superkernel.nothing'\n"
    )


def test_importing_superkernel_does_not_import_tbe(site):
    assert isolated("import superkernel, sys; print('tbe' in sys.modules)", site) == "False\n"


@pytest.mark.parametrize("order", ["before", "behind"])
def test_a_real_tbe_wins_wherever_it_is(site, cann, order):
    path = (cann, site) if order == "before" else (site, cann)
    assert isolated("import tbe, tbe.common; print(tbe.WHO, tbe.common.WHO)", *path) == "CANN CANN\n"
    assert isolated("import superkernel, tbe; print(tbe.WHO)", *path) == "CANN\n"
    assert isolated(IMPORT_ALIAS, *path) == "No module named 'tbe.superkernel' tbe.superkernel\n"


@pytest.mark.parametrize("order", ["before", "behind"])
def test_a_real_tbe_may_have_its_own_superkernel(site, cann, order):
    (cann / "tbe" / "superkernel").mkdir()
    (cann / "tbe" / "superkernel" / "__init__.py").write_text("WHO = 'CANN'\n")
    path = (cann, site) if order == "before" else (site, cann)
    assert isolated("import tbe.superkernel; print(tbe.superkernel.WHO)", *path) == "CANN\n"


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_both_in_one_folder(site, cann, first):
    """A ``tbe`` installed into the same folder, before or after us: no file is overwritten, and it wins."""
    (cann / "tbe" / "superkernel").mkdir()
    (cann / "tbe" / "superkernel" / "__init__.py").write_text("WHO = 'CANN'\n")
    target = site.parent / "both"
    for folder in (site, cann) if first == "ours" else (cann, site):
        shutil.copytree(folder, target, dirs_exist_ok=True)
    files = {path.relative_to(folder) for folder in (site, cann) for path in folder.rglob("*") if path.is_file()}
    assert sum(1 for folder in (site, cann) for path in folder.rglob("*") if path.is_file()) == len(files)
    assert isolated("import tbe.superkernel, superkernel; print(tbe.WHO, tbe.superkernel.WHO)", target) == "CANN CANN\n"


def test_both_in_one_folder_without_a_superkernel_of_theirs(site, cann):
    shutil.copytree(cann, site, dirs_exist_ok=True)
    assert isolated("import tbe; print(tbe.WHO)", site) == "CANN\n"
    refused = isolated(IMPORT_ALIAS, site)
    assert refused.startswith("No module named 'tbe.superkernel': `tbe` is another package, `")
    assert refused.endswith("; import `superkernel` instead tbe.superkernel\n")


@pytest.mark.parametrize("order", ["before", "behind"])
def test_a_real_tbe_without_init(site, cann, order):
    (cann / "tbe" / "__init__.py").unlink()
    path = (cann, site) if order == "before" else (site, cann)
    assert isolated("import tbe.common; print(tbe.common.WHO)", *path) == "CANN\n"
    assert "No module named 'tbe.superkernel': `tbe` is another package" in isolated(IMPORT_ALIAS, *path)
    (cann / "tbe" / "superkernel.py").write_text("WHO = 'CANN'\n")
    assert isolated("import tbe.superkernel; print(tbe.superkernel.WHO)", *path) == "CANN\n"


def test_it_works_in_this_installation():
    assert output_of("import tbe.superkernel, superkernel; print(tbe.superkernel is superkernel)") == "True\n"
