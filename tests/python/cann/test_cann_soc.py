"""Which SoC is built for on a machine with CANN, whose Python selects one by itself as soon as it is imported."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from interpreter import STANDINS, output_of, run_python
from op_lists import OpList

SHOW = """
import superkernel
config = superkernel.current_config()
print(config.soc, config.aic_num, config.aiv_num, config.origins["soc"], config.origins["aic_num"], sep=", ")
"""
SET = """
from asc_op_compile_base.common.platform import platform_info
platform_info.set_soc("Ascend910B", 20, 40)
"""


def soc(code: str = SHOW, *, library: Path | None = None, **variables: str) -> list[str]:
    """What ``code`` prints on a machine with CANN, and perhaps with the library of a device."""
    environment = {**variables, "LD_LIBRARY_PATH": str(library or "")}
    return output_of(code, path=[STANDINS], environment=environment).splitlines()


def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command on a machine with CANN."""
    code = "import sys; from superkernel.cli import main; sys.exit(main())"
    return run_python(code, path=[STANDINS], environment=variables, arguments=[*arguments])


@pytest.fixture(scope="module")
def device_library(tmp_path_factory) -> Path:
    """The folder of a library that tells the SoC that `SK_STANDIN_SOC` says."""
    folder = tmp_path_factory.mktemp("runtime")
    source = folder / "ascendcl.c"
    source.write_text('#include <stdlib.h>\nconst char *aclrtGetSocName(void) { return getenv("SK_STANDIN_SOC"); }\n')
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(folder / "libascendcl.so")], check=True)
    return folder


def test_the_soc_that_cann_selects_by_itself_is_nobody_s_word():
    assert soc(SUPERKERNEL_SOC="Ascend950") == ["Ascend950, 32, 64, SUPERKERNEL_SOC, SoC table"]


def test_nor_is_it_after_we_have_imported_cann_ourselves():
    code = f"import superkernel.super_kernel_feature_manager as m; m.get_features()\n{SHOW}{SHOW}"
    assert soc(code, SUPERKERNEL_SOC="Ascend950") == ["Ascend950, 32, 64, SUPERKERNEL_SOC, SoC table"] * 2


@pytest.mark.parametrize("first", ["", SHOW])
def test_what_a_worker_sets_wins_over_the_variable(first: str):
    """Also when this package came first and imported CANN."""
    assert soc(first + SET + SHOW, SUPERKERNEL_SOC="Ascend950")[-1] == "Ascend910B, 20, 40, CANN, CANN"


def test_a_worker_that_has_imported_cann_means_what_cann_says():
    """Nobody else is asked: a machine without a device may well have set a SoC that is not supported."""
    assert soc(f"import asc_op_compile_base\n{SHOW}", SUPERKERNEL_SOC="Ascend950") == ["Ascend310B, 1, 1, CANN, CANN"]


def test_the_device_is_asked_last(device_library: Path):
    asked = {"library": device_library, "SK_STANDIN_SOC": "Ascend910B2"}
    assert soc(**asked) == ["Ascend910B, 24, 48, device (Ascend910B2), SoC table"]
    assert soc(**asked, SUPERKERNEL_SOC="Ascend950")[0].startswith("Ascend950, 32, 64, SUPERKERNEL_SOC")
    assert soc("import superkernel; superkernel.configure(soc='Ascend950')" + SHOW, **asked)[0].startswith("Ascend950")
    assert soc(SET + SHOW, **asked) == ["Ascend910B, 20, 40, CANN, CANN"]


@pytest.mark.parametrize(
    ("full", "short"),
    [("Ascend910B4-1", "Ascend910B"), ("Ascend910_9392", "Ascend910_93"), ("Ascend950PR_9599", "Ascend950")],
)
def test_a_device_has_a_longer_name(device_library: Path, full: str, short: str):
    assert soc(library=device_library, SK_STANDIN_SOC=full)[0].startswith(f"{short}, ")


def test_a_device_nobody_builds_for_is_named(device_library: Path, tmp_path: Path):
    """Not replaced by a default."""
    environment = {"LD_LIBRARY_PATH": str(device_library), "SK_STANDIN_SOC": "Ascend310P3"}
    infos = OpList(tmp_path).op().write()
    done = command("plan", str(infos), **environment)
    assert done.returncode == 1
    assert "[SK0402]: SoC `Ascend310P3` is not supported" in done.stderr


@pytest.mark.parametrize("text", ["int nothing;", "const char *aclrtGetSocName(void) { return 0; }"])
def test_a_library_without_an_answer_is_none(tmp_path: Path, text: str):
    (tmp_path / "a.c").write_text(text)
    library = str(tmp_path / "libascendcl.so")
    subprocess.run(["cc", "-shared", "-fPIC", str(tmp_path / "a.c"), "-o", library], check=True)
    done = run_python(SHOW, path=[STANDINS], environment={"LD_LIBRARY_PATH": str(tmp_path)})
    assert "[SK0013] CANN is installed, but the SoC to build for is not known" in done.stderr


def test_without_any_answer_it_is_an_error_with_cann_and_a_default_without(tmp_path: Path):
    infos = OpList(tmp_path).op().write()
    done = command("plan", str(infos))
    assert done.returncode == 1
    assert "[SK0013]" in done.stderr and "`SUPERKERNEL_SOC`" in done.stderr
    assert output_of(SHOW).startswith("Ascend910_93, 24, 48, default")


NO_SOC_FOR_DEVICE = (
    "[SK0013] the compiler for devices is used (toolchain `cann`), but the SoC to build for is not known, and "
    "there is no device to ask"
)


@pytest.fixture
def compiler(tmp_path: Path) -> dict[str, str]:
    """The variables of a machine where the compiler for devices is on `PATH`, and CANN's Python cannot be imported."""
    folder = tmp_path / "ccec_compiler"
    folder.mkdir()
    for tool in ("bisheng", "ld.lld"):
        (folder / tool).write_text("#!/bin/sh\nexit 1\n")
        (folder / tool).chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_the_compiler_alone_is_enough_to_guess_no_chip(compiler: dict[str, str], tmp_path: Path):
    """A kernel for the wrong one would be built without a word."""
    done = run_python(SHOW, environment=compiler)
    assert NO_SOC_FOR_DEVICE in done.stderr, done.stdout
    assert "`superkernel.configure(soc=...)` or the environment variable `SUPERKERNEL_SOC`" in done.stderr
    infos = OpList(tmp_path).op().infos()
    out = tmp_path / "out"
    code = f"""
import json, superkernel
superkernel.configure(kernel_meta_parent_dir={str(out)!r})
superkernel.compile(json.loads({json.dumps(infos)!r}), "k")
"""
    assert NO_SOC_FOR_DEVICE in run_python(code, environment=compiler).stderr
    assert not out.exists()
    assert NO_SOC_FOR_DEVICE in run_python(code.replace("(kernel", "(toolchain='cann', kernel")).stderr
    # Told by anybody, or built for this machine, it is as ever.
    assert output_of(SHOW, environment={**compiler, "SUPERKERNEL_SOC": "Ascend950"}).startswith("Ascend950, 32, 64")
    for setting in ("soc='ascend910b3'", "toolchain='host'"):
        known = output_of(f"import superkernel; superkernel.configure({setting})\n{SHOW}", environment=compiler)
        assert known.startswith("Ascend910B, " if "soc" in setting else "Ascend910_93, 24, 48, default")
    assert output_of(SHOW, environment={**compiler, "SUPERKERNEL_TOOLCHAIN": "host"}).startswith("Ascend910_93, ")


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ("Ascend910B3", "Ascend910B"),
        ("Ascend910_9391", "Ascend910_93"),
        ("ascend910_93", "Ascend910_93"),
        ("Ascend950PR_9599", "Ascend950"),
        ("ASCEND910B4-1", "Ascend910B"),
    ],
)
def test_the_names_that_devices_print_are_taken_everywhere(given: str, short: str, tmp_path: Path):
    infos = OpList(tmp_path).op().write()
    done = run_python(
        "import sys; from superkernel.cli import main; sys.exit(main())", arguments=["plan", str(infos), "--soc", given]
    )
    assert f"for {short} (" in done.stdout, done.stderr
    assert output_of(SHOW, environment={"SUPERKERNEL_SOC": given}).startswith(f"{short}, ")
    assert output_of(f"import superkernel; superkernel.configure(soc={given!r})\n{SHOW}").startswith(f"{short}, ")
    code = f"from superkernel.sim import Device\nwith Device({given!r}) as device: print(device.soc)"
    assert output_of(code) == f"{short}\n"
    assert output_of(f"from superkernel import cost; print(cost.store_path({given!r}).name)") == f"{short}.json\n"


def test_a_name_that_is_nearly_one_is_refused(tmp_path: Path):
    infos = OpList(tmp_path).op().write()
    code = "import sys; from superkernel.cli import main; sys.exit(main())"
    for name in ("Ascend910BX", "Ascend910_9", "Ascend9503"):
        done = run_python(code, arguments=["plan", str(infos), "--soc", name])
        assert f"[SK0402]: SoC `{name}` is not supported" in done.stderr


def test_the_command_line_works_with_a_named_soc(tmp_path: Path):
    infos = OpList(tmp_path).op().write()
    for arguments, variables in ((["--soc", "Ascend910_93"], {}), ([], {"SUPERKERNEL_SOC": "Ascend910_93"})):
        done = command("plan", str(infos), *arguments, **variables)
        assert done.returncode == 0, done.stderr
        assert "for Ascend910_93 (c220)" in done.stdout


def test_doctor_tells_that_the_soc_is_missing_and_goes_on():
    done = command("doctor")
    assert done.returncode == 1
    assert "PROBLEM: no SoC: CANN is installed, but the SoC to build for is not known" in done.stdout
    assert "\ntoolchain " in done.stdout and "\nresults go to " in done.stdout
    assert "\nSoC Ascend910B (SUPERKERNEL_SOC)\n" in command("doctor", SUPERKERNEL_SOC="Ascend910B").stdout


def test_commands_that_need_no_soc_work_without_one(tmp_path: Path):
    done = command("cache", "stats", "--json", "--cache-dir", str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr


def test_one_variable_is_enough_in_a_process_that_knows_nothing_of_cann(tmp_path: Path):
    infos = OpList(tmp_path).op().infos()
    code = f"import json, superkernel\nprint(superkernel.plan(json.loads({json.dumps(infos)!r}), 'k')['soc'])"
    assert soc(code, SUPERKERNEL_SOC="Ascend910_93") == ["Ascend910_93"]
