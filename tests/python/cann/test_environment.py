"""The environment adapter with CANN's Python importable: a stand-in on ``sys.path`` of a subprocess."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest
from interpreter import STANDINS, output_of, run_python

CANN = "asc_op_compile_base"


@pytest.fixture
def cann(tmp_path) -> Path:
    """A copy of the stand-in that a test may damage."""
    shutil.copytree(STANDINS / CANN, tmp_path / CANN)
    return tmp_path / CANN


# What a worker of the graph engine does before it compiles.
WORKER = """
from asc_op_compile_base.common.platform import platform_info
platform_info.set_soc("Ascend910B", 20, 40)
"""


def in_worker(code: str, **settings) -> str:
    return with_cann(WORKER + textwrap.dedent(code), **settings)


def with_cann(code: str, folder: Path | None = None, **settings) -> str:
    return output_of(code, path=[folder.parent if folder else STANDINS], **settings)


def test_values_come_from_cann():
    assert in_worker(
        """
        import superkernel
        config = superkernel.current_config()
        for name in ("soc", "aic_num", "aiv_num", "kernel_meta_parent_dir", "op_debug_config"):
            print(name, config[name], config.origins[name])
        """,
        environment={"SUPERKERNEL_SOC": "Ascend950"},
    ).splitlines() == [
        "soc Ascend910B CANN",
        "aic_num 20 CANN",
        "aiv_num 40 CANN",
        "kernel_meta_parent_dir /from/cann CANN",
        "op_debug_config ['dump_cce'] CANN",
    ]


def test_values_are_read_anew_on_every_call():
    assert in_worker(
        """
        import superkernel
        from asc_op_compile_base.common import buildcfg
        from asc_op_compile_base.common.platform import platform_info
        print(superkernel.current_config().soc)
        platform_info.SPEC.update(SHORT_SOC_VERSION="Ascend950", ai_core_cnt="28")
        buildcfg.CONFIG["kernel_meta_parent_dir"] = "/elsewhere"
        buildcfg.CONFIG["tir.op_debug_config"] = "ccec_g,ccec_O0"
        config = superkernel.current_config()
        print(config.soc, config.aic_num, config.kernel_meta_parent_dir, config.op_debug_config)
        """
    ).splitlines() == ["Ascend910B", "Ascend950 28 /elsewhere ['ccec_g', 'ccec_O0']"]


def test_cann_may_appear_and_disappear_while_we_run():
    assert output_of(
        f"""
        import sys, superkernel
        print(superkernel.current_config().soc)
        sys.path.insert(0, {str(STANDINS)!r})
        from asc_op_compile_base.common.platform import platform_info
        platform_info.set_soc("Ascend910B", 20, 40)
        print(superkernel.current_config().soc)
        sys.path.remove({str(STANDINS)!r})
        for name in [name for name in sys.modules if name.startswith("{CANN}")]:
            del sys.modules[name]
        print(superkernel.current_config().soc)
        """
    ).splitlines() == ["Ascend910_93", "Ascend910B", "Ascend910_93"]


def test_configure_wins_over_cann():
    assert in_worker(
        """
        import superkernel
        superkernel.configure(kernel_meta_parent_dir="/mine", aiv_num=10, op_debug_config=[])
        config = superkernel.current_config()
        print(config.soc, config.aic_num, config.aiv_num, config.kernel_meta_parent_dir, config.op_debug_config)
        """
    ).splitlines() == ["Ascend910B 20 10 /mine []"]


def test_core_counts_of_another_soc_are_not_taken():
    assert in_worker(
        """
        import superkernel
        with superkernel.configure(soc="Ascend950"):
            config = superkernel.current_config()
            print(config.aic_num, config.aiv_num, config.origins["aic_num"])
        """
    ).splitlines() == ["32 64 SoC table"]


def test_empty_build_configuration_means_defaults():
    assert in_worker(
        """
        import superkernel
        from asc_op_compile_base.common import buildcfg
        buildcfg.CONFIG.update({"kernel_meta_parent_dir": None, "tir.op_debug_config": None})
        config = superkernel.current_config()
        print(config.kernel_meta_parent_dir, config.op_debug_config, config.origins["op_debug_config"])
        """
    ).splitlines() == [". [] default"]


def test_errors_are_of_both_kinds():
    assert with_cann(
        """
        import pickle
        import superkernel
        from asc_op_compile_base.common.error_mgr import TBEPythonError
        from superkernel.super_kernel_option_parse import parse_super_kernel_options

        kinds = set()
        for kind in (superkernel.SuperKernelError, TBEPythonError, RuntimeError):
            try:
                parse_super_kernel_options("stream-funsion=1")
            except kind as error:
                kinds.add(type(error))
                for key in ("errCode", "errId", "message", "errClass", "errPcause", "errSolution"):
                    print(key, repr(error.errorinfo[key]))
                print(error.made_by_cann)
                again = pickle.loads(pickle.dumps(error))
                assert type(again) is type(error) and again.errorinfo == error.errorinfo and str(again) == str(error)
        print(len(kinds), *(kind.__name__ for kind in kinds))
        """
    ).splitlines() == [
        *[
            "errCode 'EB0500'",
            "errId 'SK0101'",
            "message 'there is no option `stream-funsion`; did you mean `stream-fusion`?\\n"
            "  stream-funsion=1\\n  ^^^^^^^^^^^^^^'",
            "errClass 'Compile Error'",
            "errPcause 'N/A'",
            "errSolution '`superkernel options` lists all of them'",
            "True",
        ]
        * 3,
        "1 SuperKernelError",
    ]


def test_the_graph_engine_finds_what_it_looks_for():
    """A text to search for, and a dict as the first argument with the keys CANN's helper reads."""
    code = """
    import superkernel, traceback
    try:
        superkernel.configure(colour=1)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
        print("[errCode:EB0500]" in traceback.format_exc())
        print(len(error.args), error.args[0] is error.errorinfo)
        keys = ("errCode", "errClass", "errPcause", "errSolution", "message")
        print(all(isinstance(error.args[0][key], str) for key in keys), error.args[0]["errCode"])
    """
    text = "[SK0010] there is no setting `colour`"
    with_it, without = with_cann(code).splitlines(), output_of(code).splitlines()
    assert with_it[0].startswith(f"[errCode:EB0500] {text}") and without[0].startswith(text)
    assert with_it[1:] == ["True", "1 True", "True EB0500"]
    assert without[1:] == ["False", "1 True", "True EB0500"]


def test_a_reloaded_cann_gets_its_own_class():
    assert with_cann(
        """
        import importlib, superkernel
        from asc_op_compile_base.common import error_mgr

        def caught():
            try:
                superkernel.configure(colour=1)
            except error_mgr.TBEPythonError as error:
                return type(error)

        first = caught()
        importlib.reload(error_mgr)
        print(first is caught(), issubclass(caught(), superkernel.SuperKernelError))
        """
    ).splitlines() == ["False True"]


DAMAGES = {
    "a package that fails": ("__init__.py", "raise OSError('libascendcl.so')"),
    "an import that fails": ("common/platform/platform_info.py", "import not_there_at_all"),
    "a syntax error": ("common/platform/platform_info.py", "def ("),
    "an import that raises": ("common/platform/platform_info.py", "raise OSError('libruntime.so')"),
    "a missing function": ("common/platform/platform_info.py", "nothing = 1"),
    "a function that raises": ("common/platform/platform_info.py", "def get_soc_spec(key): raise ValueError(key)"),
    "nonsense": ("common/platform/platform_info.py", "def get_soc_spec(key): return object"),
    "nothing": ("common/platform/platform_info.py", "def get_soc_spec(key): return None"),
    "an empty text": ("common/platform/platform_info.py", "def get_soc_spec(key): return ''"),
}


def imported(code: str) -> str:
    """As in a worker, which uses what there is of CANN."""
    return f"try:\n    import {CANN}.common.buildcfg\nexcept Exception:\n    pass\n{code}"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_cann_that_does_not_tell_the_soc_is_an_error_not_a_guess(cann, damage):
    file, text = DAMAGES[damage]
    (cann / "__init__.py").write_text("")
    (cann / file).write_text(text)
    done = run_python(imported("import superkernel; superkernel.current_config()"), path=[cann.parent])
    assert done.returncode == 1
    if file == "__init__.py":
        # Nobody can have imported that.
        assert "[SK0013] CANN is installed, but the SoC to build for is not known" in done.stderr, done.stderr
    else:
        assert "[SK0013] CANN's Python is installed but does not give the SoC: " in done.stderr, done.stderr
        assert "hint: repair the CANN installation" in done.stderr
    assert "SUPERKERNEL_SOC" in done.stderr


@pytest.mark.parametrize("damage", DAMAGES)
def test_naming_the_soc_helps(cann, damage):
    file, text = DAMAGES[damage]
    (cann / "__init__.py").write_text("")
    (cann / file).write_text(text)
    code = "import superkernel; config = superkernel.current_config(); print(config.soc, config.aic_num)"
    done = run_python(imported(code), path=[cann.parent], environment={"SUPERKERNEL_SOC": "Ascend950"})
    assert done.stdout == "Ascend950 32\n", done.stderr
    if file != "__init__.py":
        assert "CANN does not give the SoC, `SUPERKERNEL_SOC` is taken: " in done.stderr
    code = "import superkernel; superkernel.configure(soc='Ascend950'); print(superkernel.current_config().aiv_num)"
    done = run_python(imported(code), path=[cann.parent])
    assert done.stdout == "64\n", done.stderr
    assert "Traceback" not in done.stderr


def test_nonsense_core_counts_fall_back_to_the_table(cann):
    done = run_python(
        """
        import superkernel
        from asc_op_compile_base.common.platform import platform_info
        platform_info.SPEC.update(SHORT_SOC_VERSION="Ascend910B", ai_core_cnt="many", vector_core_cnt=None)
        for _ in range(2):
            config = superkernel.current_config()
            print(config.aic_num, config.aiv_num, config.origins["aic_num"])
        """,
        path=[cann.parent],
    )
    assert done.stdout.splitlines() == ["24 48 SoC table"] * 2, done.stderr
    # Once per process, not once per call.
    assert done.stderr.splitlines() == [
        "CANN's `get_soc_spec(\"ai_core_cnt\")` returned 'many', expected a whole number from 1 up; "
        "the SoC table is taken",
        'CANN\'s `get_soc_spec("vector_core_cnt")` returned None, expected a whole number from 1 up; '
        "the SoC table is taken",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "raise ImportError('tvm')",
        "",
        "def get_current_build_config(key): raise KeyError(key)",
        "def get_current_build_config(key): return 3",
    ],
)
def test_a_broken_build_configuration_falls_back_with_a_warning(cann, text):
    (cann / "common/buildcfg.py").write_text(text)
    code = "import superkernel; c = superkernel.current_config(); print(c.kernel_meta_parent_dir, c.op_debug_config)"
    done = run_python(WORKER + code, path=[cann.parent])
    assert done.stdout == ". []\n", done.stderr
    assert "kernel_meta_parent_dir" in done.stderr
    assert "op_debug_config" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cann_exception_that_cannot_be_derived_from_is_left_alone(cann):
    (cann / "common/error_mgr.py").write_text(
        """
class TBEPythonError(RuntimeError):
    def __init_subclass__(cls):
        raise TypeError("final")
    def __init__(self, errorinfo):
        self.errorinfo = errorinfo

def raise_tbe_python_err(code, message):
    raise TBEPythonError({"errCode": code, "message": message})
"""
    )
    code = """
    import superkernel
    try:
        superkernel.configure(colour=1)
    except superkernel.SuperKernelError as error:
        print(type(error) is superkernel.SuperKernelError)
    """
    assert with_cann(code, cann) == "True\n"


@pytest.mark.parametrize(
    "text",
    [
        "import not_there_at_all",
        "",
        "def raise_tbe_python_err(code, message): pass",
        "def raise_tbe_python_err(code): pass",
        "def raise_tbe_python_err(code, message): raise RuntimeError(message)",
        "def raise_tbe_python_err(code, message): raise KeyError(message)",
    ],
)
def test_without_cann_s_exception_ours_still_comes(cann, text):
    (cann / "common/error_mgr.py").write_text(text)
    done = run_python(
        """
        import superkernel
        try:
            superkernel.configure(colour=1)
        except superkernel.SuperKernelError as error:
            print(type(error) is superkernel.SuperKernelError, error.errorinfo["errId"])
        """,
        path=[cann.parent],
    )
    assert done.stdout == "True SK0010\n", done.stderr
    assert "CANN's exception is not available: " in done.stderr


def test_the_native_core_raises_both_kinds_too():
    assert (
        with_cann(
            """
            from asc_op_compile_base.common.error_mgr import TBEPythonError
            from superkernel import _core
            try:
                _core.parse_options("split-mode=0", False)
            except TBEPythonError as error:
                print(error.errorinfo["errId"])
            """
        )
        == "SK0102\n"
    )
