"""Files that are not what they should be: every fault is told with its id, its file and its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from special_files import SPECIAL
from superkernel import SuperKernelError
from superkernel.sim import Device


def _entry(name: str, kernel_type: str, offset: int) -> dict[str, Any]:
    return {
        "func_name": name,
        "sub_operator_kernel_type": kernel_type,
        "arg_list": {"param_offset": offset, "notify_param_offset": None, "wait_param_offset": None},
    }


def _result() -> dict[str, Any]:
    return {
        "kernelName": "fused",
        "binFileName": "fused",
        "binFileSuffix": ".o",
        "blockDim": 8,
        "taskRation": "1:2",
        "sha256": "00",
        "SuperkernelInfo": {
            "kernelList": {
                "dav-c220-vec": [
                    _entry("a", "KERNEL_TYPE_AIV_ONLY", 1),
                    _entry("m", "KERNEL_TYPE_MIX_AIC_1_2", 5),
                ],
                "dav-c220-cube": [
                    _entry("c", "KERNEL_TYPE_AIC_ONLY", 3),
                    _entry("m", "KERNEL_TYPE_MIX_AIC_1_2", 5),
                ],
            }
        },
    }


def _sub_kernel() -> dict[str, Any]:
    return {
        "kernelName": "add",
        "binFileName": "add",
        "binFileSuffix": ".o",
        "blockDim": 8,
        "sub_operator_kernel_type": "KERNEL_TYPE_MIX_AIC_1_2",
        "sub_operator_kernel_name": {
            "dav-c220-cube": {"func_name": "add_mix_aic"},
            "dav-c220-vec": {"func_name": "add_mix_aiv"},
        },
        "sub_operator_params": ["x", "y"],
        "sub_operator_early_start_set_flag": False,
        "sub_operator_early_start_wait_flag": False,
    }


def _dynamic() -> dict[str, Any]:
    keys = {"7": {"kernel_type": "KERNEL_TYPE_AIV_ONLY", "AiCore": "add_7"}}
    return {**_sub_kernel(), "sub_operator_kernel_name": {"dynamic_func_names": keys}}


def _load(device: Device, folder: Path, content: object) -> SuperKernelError:
    path = folder / "kernel.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(SuperKernelError) as caught:
        device.load(path)
    return caught.value


def _changed(document: dict[str, Any], place: str, value: object) -> dict[str, Any]:
    """The document with one value replaced, or removed where the value is ``...``."""
    changed: dict[str, Any] = json.loads(json.dumps(document))
    target: Any = changed
    *folders, last = place.split("/")
    for key in folders:
        target = target[int(key) if isinstance(target, list) else key]
    key = int(last) if isinstance(target, list) else last
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return changed


RESULT_PLACES = (
    "kernelName",
    "blockDim",
    "taskRation",
    "SuperkernelInfo",
    "SuperkernelInfo/kernelList",
    "SuperkernelInfo/kernelList/dav-c220-vec/0/func_name",
    "SuperkernelInfo/kernelList/dav-c220-cube/1/sub_operator_kernel_type",
    "SuperkernelInfo/kernelList/dav-c220-vec/1/arg_list",
    "SuperkernelInfo/kernelList/dav-c220-vec/1/arg_list/param_offset",
)

SUB_KERNEL_PLACES = (
    "kernelName",
    "blockDim",
    "sub_operator_kernel_type",
    "sub_operator_kernel_name/dav-c220-cube",
    "sub_operator_kernel_name/dav-c220-vec/func_name",
    "sub_operator_params",
    "sub_operator_early_start_set_flag",
    "sub_operator_early_start_wait_flag",
)

#: None of them is right anywhere.
WRONG = ([[]], {"a": {}}, 1e30, 2**63, -(2**63) - 1, "no such value", -1, 0.5)


def _accepted(place: str, value: object) -> bool:
    """A name may be any text."""
    text = isinstance(value, str) and place.rpartition("/")[2] in ("kernelName", "func_name")
    # One list of ops under each key, and no key at all is as good as no ops.
    return text


def _check_place(error: SuperKernelError, folder: Path, place: str) -> None:
    key = [part for part in place.split("/") if not part.isdecimal()][-1]
    assert str(folder / "kernel.json") in error.errorinfo["message"], error
    assert key in error.errorinfo["message"] or key == "SuperkernelInfo", error
    assert error.errorinfo["errSolution"], error


@pytest.mark.parametrize("place", RESULT_PLACES)
def test_every_missing_key_of_a_super_kernel_is_named(device: Device, tmp_path: Path, place: str) -> None:
    error = _load(device, tmp_path, _changed(_result(), place, ...))
    assert error.errorinfo["errId"] == "SK0204"
    _check_place(error, tmp_path, place)


@pytest.mark.parametrize("place", RESULT_PLACES)
def test_every_wrong_value_of_a_super_kernel_is_named(device: Device, tmp_path: Path, place: str) -> None:
    for value in WRONG:
        if _accepted(place, value):
            continue
        error = _load(device, tmp_path, _changed(_result(), place, value))
        assert error.errorinfo["errId"] in ("SK0203", "SK0204"), (place, value, error)
        assert str(tmp_path / "kernel.json") in error.errorinfo["message"]


@pytest.mark.parametrize("place", SUB_KERNEL_PLACES)
def test_every_missing_key_of_a_sub_kernel_is_named(device: Device, tmp_path: Path, place: str) -> None:
    error = _load(device, tmp_path, _changed(_sub_kernel(), place, ...))
    assert error.errorinfo["errId"] == "SK0204"
    _check_place(error, tmp_path, place)


@pytest.mark.parametrize("place", SUB_KERNEL_PLACES)
def test_every_wrong_value_of_a_sub_kernel_is_named(device: Device, tmp_path: Path, place: str) -> None:
    for value in WRONG:
        if place == "kernelName" and isinstance(value, str):
            continue
        error = _load(device, tmp_path, _changed(_sub_kernel(), place, value))
        assert error.errorinfo["errId"] in ("SK0203", "SK0204", "SK0207", "SK0208"), (place, value, error)
        _check_place(error, tmp_path, place)


def test_an_unknown_kernel_type_is_refused_with_the_one_that_is_meant(device: Device, tmp_path: Path) -> None:
    wrong = _changed(_sub_kernel(), "sub_operator_kernel_type", "KERNEL_TYPE_MIX_AIC_1_3")
    error = _load(device, tmp_path, wrong)
    assert error.errorinfo["errId"] == "SK0208" and "KERNEL_TYPE_MIX_AIC_1_" in error.errorinfo["errSolution"]
    with pytest.raises(SuperKernelError) as caught:
        device.load(tmp_path / "kernel.o", functions={"aiv": "f"}, kernel_type="KERNEL_TYPE_AIV")
    assert caught.value.errorinfo["errId"] == "SK0208"
    error = _load(device, tmp_path, _changed(_result(), "taskRation", "2:1"))
    assert error.errorinfo["errId"] == "SK0203" and "`1:2`" in error.errorinfo["message"]


@pytest.mark.parametrize("keys", [{}, {"seven": {}}, {"7": 1}, {"7": {}}, {"-1": {}}, {str(2**64): {}}])
def test_tiling_keys_that_make_no_sense(device: Device, tmp_path: Path, keys: dict[str, Any]) -> None:
    error = _load(device, tmp_path, _changed(_dynamic(), "sub_operator_kernel_name/dynamic_func_names", keys))
    assert error.errorinfo["errId"] in ("SK0203", "SK0204", "SK0210")


def test_a_sub_kernel_of_another_chip_says_which_arch_is_missing(device: Device, tmp_path: Path) -> None:
    text = json.dumps(_sub_kernel()).replace("dav-c220", "dav-c310")
    error = _load(device, tmp_path, text)
    assert error.errorinfo["errId"] == "SK0204" and "dav-c220-cube" in error.errorinfo["message"]


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[1, 2", '{"kernelName": "a" "b"}', "\x00", "{}" * 2, "NaN"])
def test_text_that_is_not_json(device: Device, tmp_path: Path, text: str) -> None:
    error = _load(device, tmp_path, text)
    assert error.errorinfo["errId"] == "SK0202" and str(tmp_path / "kernel.json") in error.errorinfo["message"]


def test_bytes_that_are_no_text(device: Device, tmp_path: Path) -> None:
    (tmp_path / "kernel.json").write_bytes(b'{"kernelName": "\xff"}')
    with pytest.raises(SuperKernelError) as caught:
        device.load(tmp_path / "kernel.json")
    assert caught.value.errorinfo["errId"] == "SK0202"


@pytest.mark.parametrize("value", [[], [1], "text", 1, None, True, 1.5])
def test_json_that_is_no_object(device: Device, tmp_path: Path, value: object) -> None:
    error = _load(device, tmp_path, json.dumps(value))
    assert error.errorinfo["errId"] == "SK0203" and "an object" in error.errorinfo["message"]


def test_deep_json_is_refused(device: Device, tmp_path: Path) -> None:
    assert _load(device, tmp_path, "[" * 100_000).errorinfo["errId"] == "SK0202"


def test_another_document_is_not_taken_for_a_kernel(device: Device, tmp_path: Path) -> None:
    assert _load(device, tmp_path, {}).errorinfo["errId"] == "SK0204"
    assert _load(device, tmp_path, {"op_list": []}).errorinfo["errId"] == "SK0204"


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("suffix", [".json", ".o"])
def test_what_is_no_regular_file_is_refused_at_once(device: Device, tmp_path: Path, kind: str, suffix: str) -> None:
    (tmp_path / "kernel.o").write_bytes(b"")
    SPECIAL[kind](tmp_path / "kernel.json")
    with pytest.raises(SuperKernelError, match="not a regular file") as caught:
        device.load(tmp_path / f"kernel{suffix}")
    assert caught.value.errorinfo["errId"] == "SK0201"


def test_a_json_without_its_object(device: Device, tmp_path: Path) -> None:
    error = _load(device, tmp_path, _sub_kernel())
    assert error.errorinfo["errId"] == "SK0908" and "add.o" in error.errorinfo["message"]


def test_functions_that_make_no_sense(device: Device, tmp_path: Path) -> None:
    with pytest.raises(SuperKernelError, match="without a kernel type"):
        device.load(tmp_path / "k.o", functions={"aiv": "f"})
    with pytest.raises(SuperKernelError, match="`cube`"):
        device.load(tmp_path / "k.o", functions={"cube": "f"}, kernel_type="KERNEL_TYPE_AIC_ONLY")
