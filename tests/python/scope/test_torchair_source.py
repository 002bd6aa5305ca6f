"""Which TorchAir a dry run takes. What it does with it needs torch: `make test-torch`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from superkernel import SuperKernelError
from superkernel.cli import main
from superkernel.torchair import _source
from superkernel.torchair._silent import Silent, SilentModule


def wheel(folder: Path, version: str, *, torchair: bool = True) -> Path:
    path = folder / f"torch_npu-{version}-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"torch_npu-{version}.dist-info/METADATA", f"Version: {version}\n")
        archive.writestr("torch_npu/lib/libtorch_npu.so", b"\0npu_a(Tensor x) -> Tensor\0")
        if torchair:
            archive.writestr("torch_npu/dynamo/torchair/__init__.py", "")
    return path


def test_a_known_release_is_taken_from_its_wheel(tmp_path: Path) -> None:
    source = _source.find(wheel(tmp_path, "2.9.0"))
    assert source.version == "2.9.0" and source.is_wheel
    assert source.path("dynamo").endswith(".whl/torch_npu/dynamo")
    assert b"npu_a(" in source.read("lib", "libtorch_npu.so")


@pytest.mark.parametrize(
    ("version", "torchair", "error_id"),
    [("3.1.0", True, "SK1050"), ("2.90.0", True, "SK1050"), ("2.9.0", False, "SK1051")],
)
def test_others_are_refused_with_what_to_do(version: str, torchair: bool, error_id: str, tmp_path: Path) -> None:
    with pytest.raises(SuperKernelError) as caught:
        _source.find(wheel(tmp_path, version, torchair=torchair))
    assert caught.value.errorinfo["errId"] == error_id
    assert "--wheel" in caught.value.errorinfo["errSolution"]


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_text("no archive")
    for path in (tmp_path / "a.whl", tmp_path / "b.whl"):
        with pytest.raises(SuperKernelError, match="SK1051"):
            _source.find(path)


def test_without_torch_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert main(["torchair", "--wheel", str(wheel(tmp_path, "2.9.0")), str(tmp_path / "script.py")]) == 1
    assert "superkernel-rs[torch]" in capsys.readouterr().err


def test_stand_ins_take_everything_and_are_nothing() -> None:
    module = SilentModule("device")
    with module.profiler.profile(activities=[module.CPU]) as profile:
        assert not profile.step().anything
    assert module.a == module.a and module.a != module.b
    with pytest.raises(AttributeError):
        _ = Silent("device").__fspath__
    measured = module.measured()
    assert [*measured] == [] and len(measured) == 0 and int(measured) == 0 and [5][measured] == 5
    assert measured / 1024**2 == 0 and 100 / measured == 0 and 3 - measured == 3 and not measured > 0.5
    assert f"{measured:.2f}" == "0.00" and "device.measured" in f"{measured}" and measured[3] is measured
    assert not isinstance(3, module.Stream) and module.Stream | None is not None
