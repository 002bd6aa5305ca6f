"""The host code of an operator: its definition, the shapes of its outputs, its tiling."""

import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
import superkernel
from superkernel import _core

ROOT = Path(__file__).parents[3]
OPERATORS = ROOT / "tests/operators"
HEADERS = Path(superkernel.__file__).parent / "include"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def load(folder: Path, cache: Path, soc: str = "Ascend910B", timeout: float | None = None) -> _core.OperatorHost:
    repository = folder.parent
    return _core.OperatorHost(folder, soc, None, None, repository, [], [], HEADERS, (cache, 1 << 30), timeout)


@pytest.fixture(scope="module")
def scale(cache: Path) -> _core.OperatorHost:
    return load(OPERATORS / "host_scale", cache)


def tensor(dtype: str, *shape: int, data: bytes | None = None) -> list[dict[str, Any]]:
    return [{"dtype": dtype, "shape": list(shape), "data": data}]


def call(*inputs: list[dict[str, Any]], **attributes: object) -> dict[str, Any]:
    return {"inputs": [*inputs], "outputs": [tensor("float32")], "attributes": attributes}


def test_the_definition_is_read(scale: _core.OperatorHost) -> None:
    definition = scale.definition()
    assert (definition["op_type"], definition["op_file"]) == ("HostScale", "host_scale")
    assert definition["socs"] == ["ascend910b", "ascend950"]
    x, bias, rows = definition["inputs"]
    assert (x["name"], x["presence"], x["dtypes"]) == ("x", "required", ["float16", "float32"])
    assert (bias["presence"], bias["dtypes"], bias["formats"]) == ("optional", ["float32"] * 2, ["ND", "ND"])
    assert (rows["value_depend"], rows["dtypes"]) == (True, ["int64", "int64"])
    assert definition["outputs"][0]["dtypes"] == ["float16", "float32"]
    assert [(a["name"], a["kind"], a["required"], a["default"]) for a in definition["attributes"]] == [
        ("factor", "float", True, None),
        ("mode", "str", False, "plain"),
        ("order", "list_int", False, [1, 0]),
    ]


def test_a_chip_has_a_definition_of_its_own(cache: Path) -> None:
    definition = load(OPERATORS / "host_scale", cache, "Ascend950").definition()
    assert definition["op_file"] == "host_scale_apt"
    assert definition["inputs"][0]["dtypes"] == ["float32", "bfloat16"]
    with pytest.raises(
        superkernel.SuperKernelError, match="no kernel for Ascend910_93; it has some for ascend910b"
    ) as error:
        load(OPERATORS / "host_scale", cache, "Ascend910_93")
    assert "`--soc Ascend910B` or `--soc Ascend950`" in str(error.value)


def test_shapes_and_types_are_inferred(scale: _core.OperatorHost) -> None:
    outputs = scale.infer_shapes(call(tensor("float16", 3, 5), [], [], factor=2.0))
    assert [(t["dtype"], t["shape"]) for t in outputs[0]] == [("float16", [5, 3])]
    outputs = scale.infer_shapes(call(tensor("float16", 3, 5), [], [], factor=2.0, order=[0, 1]))
    assert outputs[0][0]["shape"] == [3, 5]


def test_the_tiling_is_what_host_code_computes(scale: _core.OperatorHost) -> None:
    tiling = scale.tiling(call(tensor("float16", 100, 64), tensor("float32", 64), [], factor=0.5))
    # 48 vector cores take 3 rows each; 16 MiB of the workspace belong to the library.
    assert (tiling["key"], tiling["blocks"], tiling["workspaces"]) == (11, 34, [(16 << 20) + 64])
    # A struct in a struct starts and ends at a multiple of 8, and so does the whole. 256 bytes of 192 KiB are taken.
    rows, flag, first, count, kib, factor, columns, bias = struct.unpack("<I4xBxHHHf4xQB7x", tiling["bytes"])
    assert (rows, flag, first, count, kib, factor, columns, bias) == (100, 1, 1, 2, 191, 0.5, 64, 1)


def test_values_of_inputs_reach_the_tiling(scale: _core.OperatorHost) -> None:
    rows = tensor("int64", 1, data=struct.pack("<q", 7))
    tiling = scale.tiling(call(tensor("float32", 100, 64), [], rows, factor=1))
    assert (tiling["key"], tiling["blocks"]) == (10, 7)
    assert struct.unpack_from("<I", tiling["bytes"]) == (7,)


def test_a_refusal_carries_the_words_of_the_operator(scale: _core.OperatorHost) -> None:
    with pytest.raises(
        superkernel.SuperKernelError, match=r"(?s)the tiling .*HostScale: x has 3 dimensions instead of 2"
    ) as error:
        scale.tiling(call(tensor("float16", 1, 2, 3), [], [], factor=1.0))
    assert error.value.errorinfo["errId"] == "SK0986"


def test_crashes_and_endless_loops_harm_nobody(scale: _core.OperatorHost, cache: Path) -> None:
    with pytest.raises(superkernel.SuperKernelError, match="crashed \\(signal: 6") as error:
        scale.tiling(call(tensor("float16", 2, 3), [], [], factor=1.0, mode="crash"))
    assert error.value.errorinfo["errId"] == "SK0987"
    patient = load(OPERATORS / "host_scale", cache, timeout=20.0)
    assert patient.tiling(call(tensor("float16", 2, 3), [], [], factor=1.0))["blocks"] == 2
    hasty = load(OPERATORS / "host_scale", cache, timeout=0.5)
    with pytest.raises(superkernel.SuperKernelError, match=r"did not finish within 0\.5 s"):
        hasty.tiling(call(tensor("float16", 2, 3), [], [], factor=1.0, mode="endless"))


def test_what_is_missing_is_named_where_it_is_needed(scale: _core.OperatorHost) -> None:
    assert scale.left_out()[0].startswith("op_host/arch35/host_scale_tiling_arch35.cpp:7: ")
    with pytest.raises(superkernel.SuperKernelError, match="RegisterTilingOfTheFuture") as error:
        scale.tiling(call(tensor("float16", 2, 3), [], [], factor=1.0, mode="registers"))
    assert error.value.errorinfo["errId"] == "SK0983"
    assert "needs `optiling::HostScaleByRegisters`, which is not there" in str(error.value)
    assert "--tiling FILE --key K --blocks N" in str(error.value)


def test_wrong_arguments_are_refused(scale: _core.OperatorHost) -> None:
    x = tensor("float16", 2, 3)
    with pytest.raises(
        superkernel.SuperKernelError, match=r"attribute `factr` cannot be `1\.0`: its attributes are factor, mode"
    ):
        scale.tiling(call(x, [], [], factr=1.0))
    with pytest.raises(
        superkernel.SuperKernelError, match='attribute `factor` cannot be `"a"`: expected a value of type float'
    ):
        scale.tiling(call(x, [], [], factor="a"))
    with pytest.raises(superkernel.SuperKernelError, match="a type cannot be `half`: expected one of float32, float16"):
        scale.tiling(call(tensor("half", 2, 3), [], [], factor=1.0))
    with pytest.raises(superkernel.SuperKernelError, match="values of 3 bytes`: its shape has 8 bytes"):
        scale.tiling(call(x, [], tensor("int64", 1, data=b"abc"), factor=1.0))


def test_a_folder_without_operator_and_one_that_does_not_compile(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(superkernel.SuperKernelError, match="holds no operator") as error:
        load(OPERATORS / "host_shared", cache)
    assert error.value.errorinfo["errId"] == "SK0980"
    folder = tmp_path / "repository/host_scale"
    shutil.copytree(OPERATORS / "host_scale", folder)
    definition = folder / "op_host/host_scale_def.cpp"
    definition.write_text(definition.read_text().replace('.String("plain")', '.Colour("plain")'))
    with pytest.raises(superkernel.SuperKernelError, match=r"op_host/host_scale_def.cpp:18: .*Colour") as error:
        load(folder, cache)
    assert error.value.errorinfo["errId"] == "SK0982"


def test_a_changed_file_is_compiled_again(tmp_path: Path, cache: Path) -> None:
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    x = call(tensor("float16", 100, 64), [], [], factor=1.0)
    assert load(tmp_path / "host_scale", cache).tiling(x)["blocks"] == 34
    # It is found through the functions it defines, and counts like the operator's own files.
    shared = tmp_path / "host_shared/src/rows_shared.cpp"
    shared.write_text(shared.read_text().replace("return uint32_t(", "return 1 + uint32_t("))
    assert load(tmp_path / "host_scale", cache).tiling(x)["blocks"] == 35


@pytest.fixture(scope="module")
def product(cache: Path) -> _core.OperatorHost:
    return load(OPERATORS / "host_product", cache, "Ascend910_93")


def of_product(tiling: dict[str, Any]) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    fields = struct.unpack("<I4x50i16II4x", tiling["bytes"])
    return fields[0], fields[1:51], fields[51:67], fields[67]


@pytest.mark.parametrize(
    ("m", "n", "k"), [(256, 1024, 512), (17, 33, 5), (4096, 16, 7168), (1, 1, 1), (3000, 3000, 64)]
)
def test_blocks_of_a_product_fit_and_cover_it(product: _core.OperatorHost, m: int, n: int, k: int) -> None:
    tiling = product.tiling(call(tensor("float16", m, k), tensor("float16", k, n), []))
    more, cube, _, sort = of_product(tiling)
    assert (more, sort, tiling["schedule_mode"]) == (0, 256, 1)
    cores, whole_m, whole_n, whole_k, _, core_m, core_n, core_k, base_m, base_n, base_k, depth_a, depth_b = cube[:13]
    assert (whole_m, whole_n, whole_k, core_k) == (m, n, k, k)
    assert cores == tiling["blocks"] == -(-m // core_m) * -(-n // core_n) <= 24
    assert all(base % 16 == 0 for base in (base_m, base_n, base_k))
    doubled_a, doubled_b, doubled_c = cube[30:33]
    assert base_m * base_k * 2 * doubled_a <= 64 << 10
    assert base_n * base_k * 2 * doubled_b <= 64 << 10
    assert base_m * base_n * 4 * doubled_c <= 128 << 10
    assert (base_m * depth_a + base_n * depth_b) * base_k * 2 <= (512 << 10) - 256


def test_pieces_of_a_softmax_are_those_its_kernel_expects(product: _core.OperatorHost) -> None:
    def pieces(m: int, n: int, room: int) -> tuple[int, ...]:
        return of_product(product.tiling(call(tensor("float16", m, 16), tensor("float16", 16, n), [], room=room)))[2]

    # A row takes 8 + 128 + 64 floats of the room: 81 rows fit; 80 are whole groups, 40 divide 160 with few repeats.
    assert pieces(160, 128, 65536) == (160, 128, 20480, 160, 8, 1280, 80, 128, 10240, 80, 8, 640, 2, 0, 0, 0)
    assert pieces(7, 100, 2000)[12:] == (3, 1, 100, 8)
    assert pieces(7, 100, 100)[6:] == (0, 100, 0, 0, 8, 0, 0, 0, 0, 0)


def test_the_second_form_of_a_softmax_has_pieces_of_its_own(product: _core.OperatorHost) -> None:
    def pieces(room: int, way: int) -> tuple[tuple[int, ...], int, int]:
        asked = call(tensor("float16", 160, 16), tensor("float16", 16, 128), [], room=room, way=way)
        tiling = of_product(product.tiling(asked))
        return tiling[2], tiling[3] >> 12, tiling[3] & 0xFFF

    # Floats in whole groups: a row takes 8 + 64 floats; halves of 80 rows have few repeats.
    most, least = 80 * 72 * 4, 8 * 72 * 4
    whole = (160, 128, 20480, 160, 8, 1280, 80, 128, 10240, 80, 8, 640, 2, 0, 0, 0)
    assert pieces(65536, 11) == (whole, most, least)
    assert pieces(16000, 11)[0][6:13] == (40, 128, 5120, 40, 8, 320, 4)
    # Halves: 2 * 8 + 128 + 64, and 78 rows fit.
    assert pieces(65536, 40)[0][6:] == (72, 128, 9216, 72, 8, 576, 2, 16, 2048, 128)
    assert pieces(65536, 40)[1:] == (160 * 208 * 4, 208 * 4)


def test_template_arguments_become_the_key(product: _core.OperatorHost) -> None:
    a, b = tensor("bfloat16", 16, 16), tensor("bfloat16", 16, 16)
    # The type in 8 bits, a flag, and the position of `way` in 0, 1, 10, 11, 12, 3, 40.
    keys = [product.tiling(call(a, b, [], way=way))["key"] for way in (0, 12, 3)]
    assert keys == [27, 27 | 4 << 9, 27 | 5 << 9]
    assert product.tiling(call(a, b, [], way=5))["log"] == ["template argument WAY cannot be 5"]


def test_tensors_of_a_dynamic_input_are_counted(product: _core.OperatorHost) -> None:
    more = tensor("float16", 2) * 3
    assert of_product(product.tiling(call(tensor("float16", 16, 16), tensor("float16", 16, 16), more)))[0] == 3


def test_complaints_in_macros_reach_the_caller(product: _core.OperatorHost) -> None:
    with pytest.raises(
        superkernel.SuperKernelError, match=r"shapes are not valid: a, b, \[2, 3\]\[4, 5\], inner sizes differ"
    ):
        product.tiling(call(tensor("float16", 2, 3), tensor("float16", 4, 5), []))
    with pytest.raises(superkernel.SuperKernelError, match="SK0986"):
        product.tiling(call(tensor("float16", 16, 16), tensor("float16", 16, 16), [], way=99))
    with pytest.raises(superkernel.SuperKernelError, match="does not give the shapes of its outputs"):
        product.infer_shapes(call(tensor("float16", 16, 16), tensor("float16", 16, 16), []))


def test_what_is_registered_says_whose_values_count(cache: Path, tmp_path: Path) -> None:
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    host = tmp_path / "host_scale" / "op_host"
    definition = (host / "host_scale_def.cpp").read_text()
    (host / "host_scale_def.cpp").write_text(definition.replace(".ValueDepend(OPTIONAL)", ""))
    unsaid = load(tmp_path / "host_scale", cache)
    assert [parameter["value_depend"] for parameter in unsaid.definition()["inputs"]] == [False, False, False]
    tiling = (host / "host_scale_tiling.cpp").read_text()
    registered = "IMPL_OP_OPTILING(HostScale).TilingInputsDataDependency({2})"
    # What graphs say about an operator, and names of other chips' tilings, may be included too.
    graph = tmp_path / "host_scale" / "op_graph"
    graph.mkdir()
    (graph / "host_scale_proto.h").write_text(
        '#include "graph/operator_reg.h"\nnamespace ge {\nREG_OP(HostScale)\n'
        "    .INPUT(x, TensorType({DT_FLOAT16, DT_FLOAT}))\n    .OPTIONAL_INPUT(bias, TensorType({DT_FLOAT}))\n"
        "    .OUTPUT(y, TensorType({DT_FLOAT16, DT_FLOAT}))\n    .REQUIRED_ATTR(factor, Float)\n"
        "    .ATTR(order, ListInt, {1, 0})\n    .OP_END_FACTORY_REG(HostScale)\n}\n"
    )
    names = ["../op_graph/host_scale_proto.h", "atvoss/elewise/elewise_tiling.h", "atvoss/reduce/reduce_tiling_data.h"]
    more = "".join(f'#include "{name}"\n' for name in [*names, "acl/acl_rt.h"])
    more += "struct Later { Ops::Base::EleBaseTilingDataV2 *data; Ops::Base::ReduceOpTilingData reduce; };\n"
    more += "inline bool IsNew() { int32_t number = 0; return aclsysGetVersionNum(nullptr, &number) == ACL_SUCCESS; }\n"
    (host / "host_scale_tiling.cpp").write_text(more + tiling.replace("IMPL_OP_OPTILING(HostScale)", registered))
    said = load(tmp_path / "host_scale", cache)
    assert not any("host_scale_tiling.cpp" in line for line in said.left_out())
    assert [parameter["value_depend"] for parameter in said.definition()["inputs"]] == [False, False, True]


@pytest.mark.parametrize("size", [9000, 1 << 20])
def test_tiling_data_is_never_cut(cache: Path, tmp_path: Path, size: int) -> None:
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    tiling = tmp_path / "host_scale" / "op_host" / "host_scale_tiling.cpp"
    tiling.write_text(tiling.read_text().replace("SetDataSize(data.GetDataSize())", f"SetDataSize({size})"))
    scale = load(tmp_path / "host_scale", cache)
    asked = call(tensor("float16", 8, 32), [], [], factor=1.0)
    if size < 1 << 16:
        assert len(scale.tiling(asked)["bytes"]) == size
    else:
        with pytest.raises(superkernel.SuperKernelError, match=f"HostScale: its tiling data has {size} bytes"):
            scale.tiling(asked)


def test_answers_of_libraries_without_source_are_no(cache: Path, tmp_path: Path) -> None:
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    tiling = tmp_path / "host_scale" / "op_host" / "host_scale_tiling.cpp"
    text = tiling.read_text().replace("namespace optiling {", "namespace optiling {\nbool GenTiling(int64_t rows);", 1)
    wish = "    while (GenTiling(rows) || GenTiling(1)) {\n        ++rows;\n    }\n"
    tiling.write_text(text.replace("    data.set_rows(rows);", wish + "    data.set_rows(rows);"))
    made = load(tmp_path / "host_scale", cache).tiling(call(tensor("float16", 8, 32), [], [], factor=1.0))
    assert made["blocks"] == 8
    assert made["log"] == ["`optiling::GenTiling` is in a library without source: its answer is taken as no"]


def test_code_of_kernels_is_no_host_code(cache: Path, tmp_path: Path) -> None:
    """A kernel beside a header that host code includes, with a function of the name that is looked for."""
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    kernels = tmp_path / "host_scale" / "op_kernel"
    kernels.mkdir()
    (kernels / "host_scale_key.h").write_text("#pragma once\n")
    (kernels / "host_scale.cpp").write_text('#error "for cores"\nnamespace shared { int RowBlocks() { return 0; } }\n')
    tiling = tmp_path / "host_scale" / "op_host" / "host_scale_tiling.cpp"
    tiling.write_text('#include "../op_kernel/host_scale_key.h"\n' + tiling.read_text())
    scale = load(tmp_path / "host_scale", cache)
    assert scale.tiling(call(tensor("float16", 8, 32), [], [], factor=1.0))["blocks"] == 8
    assert not any("op_kernel" in line for line in scale.left_out())


def test_a_file_called_for_other_chips_may_register_the_tiling_of_all(cache: Path, tmp_path: Path) -> None:
    for name in ("host_scale", "host_shared"):
        shutil.copytree(OPERATORS / name, tmp_path / name)
    host = tmp_path / "host_scale" / "op_host"
    (host / "host_scale_tiling.cpp").rename(host / "host_scale_tiling_arch35.cpp")
    scale = load(tmp_path / "host_scale", cache)
    assert scale.is_tiled()
    tiling = scale.tiling(call(tensor("float16", 8, 32), [], [], factor=1.0))
    assert (tiling["key"], tiling["blocks"]) == (10, 8)
