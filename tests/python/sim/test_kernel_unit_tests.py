"""Unit tests of kernels as operators have them: `superkernel sim test_scale.cpp`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import superkernel
from program_files import trees
from superkernel.cli import main

_KERNEL = """
#include "kernel_operator.h"
#include "scale_rows.h"

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(7)) {
        ScaleRows<DTYPE_X>(x, y, data.count, data.factor);
    } else if (TILING_KEY_IS(8)) {
        ScaleRows<DTYPE_X>(x, y, data.count, -data.factor);
    }
}
"""

_ROWS = """
#pragma once
template <class T> __aicore__ inline void ScaleRows(GM_ADDR x, GM_ADDR y, uint32_t count, float factor) {
    const uint32_t part = count / AscendC::GetBlockNum();
    AscendC::GlobalTensor<T> xg, yg;
    xg.SetGlobalBuffer((__gm__ T *)x + part * AscendC::GetBlockIdx(), part);
    yg.SetGlobalBuffer((__gm__ T *)y + part * AscendC::GetBlockIdx(), part);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, part * sizeof(T));
    pipe.InitBuffer(out, 1, part * sizeof(T));
    auto a = in.AllocTensor<T>();
    AscendC::DataCopy(a, xg, part);
    in.EnQue(a);
    a = in.DeQue<T>();
    auto b = out.AllocTensor<T>();
    AscendC::Muls(b, a, (T)factor, part);
    out.EnQue(b);
    b = out.DeQue<T>();
    AscendC::DataCopy(yg, b, part);
    in.FreeTensor(a);
    out.FreeTensor(b);
}
"""

_TILING = """
#pragma once
#include <cstdint>
#include <cstring>
#pragma pack(1)
struct ScaleTilingData {
    uint32_t count;
    float factor;
};
#pragma pack()
#undef GET_TILING_DATA
#define GET_TILING_DATA(name, address) \\
    ScaleTilingData name;              \\
    memcpy(&name, (const void *)(address), sizeof(name))
"""

_TEST = """
#include <iostream>
#include <vector>
#include "gtest/gtest.h"
#include "tikicpulib.h"
#include "scale_tiling_def.h"

extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling);

class scale_test : public testing::Test {
  protected:
    static void SetUpTestCase() { std::cout << "before all" << std::endl; }
    static void TearDownTestCase() { std::cout << "after all" << std::endl; }
    void SetUp() override { blocks = 4; }
    uint32_t blocks = 0;
};

static void Check(uint32_t blocks, uint64_t key, float expected) {
    const size_t count = 256;
    auto *x = (float *)AscendC::GmAlloc(count * sizeof(float));
    auto *y = (float *)AscendC::GmAlloc(count * sizeof(float));
    auto *workspace = (uint8_t *)AscendC::GmAlloc(64);
    auto *tiling = (ScaleTilingData *)AscendC::GmAlloc(sizeof(ScaleTilingData));
    for (size_t i = 0; i < count; ++i) {
        x[i] = i;
        y[i] = -1;
    }
    *tiling = {count, 2.0f};
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_SET_TILING_KEY(key);
    ICPU_RUN_KF(scale, blocks, (uint8_t *)x, (uint8_t *)y, workspace, (uint8_t *)tiling);
    for (size_t i = 0; i < count; ++i) {
        ASSERT_FLOAT_EQ(y[i], expected * i) << "at " << i;
    }
    AscendC::GmFree(x);
    AscendC::GmFree(y);
    AscendC::GmFree(workspace);
    AscendC::GmFree(tiling);
}

TEST_F(scale_test, seven) { Check(blocks, 7, 2.0f); }
TEST_F(scale_test, eight) {
    Check(blocks, 8, -2.0f);
    EXPECT_EQ(blocks, 4u);
    EXPECT_NE(blocks, 5u);
    EXPECT_TRUE(blocks < 5);
    EXPECT_NEAR(1.0, 1.05, 0.1);
    EXPECT_STREQ("a", "a");
}

struct Case {
    uint64_t key;
    float expected;
};
class scale_cases : public testing::TestWithParam<Case> {};
TEST_P(scale_cases, both) { Check(2, GetParam().key, GetParam().expected); }
INSTANTIATE_TEST_SUITE_P(keys, scale_cases, testing::Values(Case{7, 2.0f}, Case{8, -2.0f}));
"""


def operator(folder: Path, test: str = _TEST) -> Path:
    """An operator with its unit test; the test."""
    tests = folder / "math" / "scale" / "tests" / "ut" / "op_kernel"
    tests.mkdir(parents=True)
    kernels = folder / "math" / "scale" / "op_kernel"
    kernels.mkdir()
    (kernels / "scale.cpp").write_text(_KERNEL)
    (kernels / "scale_rows.h").write_text(_ROWS)
    (tests / "scale_tiling_def.h").write_text(_TILING)
    (tests / "CMakeLists.txt").write_text('AddOpTestCase(scale "ascend910B1" "-DDTYPE_X=float -DOTHER=1")\n')
    (tests / "test_scale.cpp").write_text(test)
    return tests / "test_scale.cpp"


@pytest.mark.parametrize("tree", trees())
def test_unit_tests_of_a_kernel_run(tree: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with superkernel.configure(ascendc=tree):
        status = main(["sim", str(operator(tmp_path))])
    told = capfd.readouterr()
    assert status == 0, told.err
    names = ["scale_test.seven", "scale_test.eight", "keys/scale_cases.both/0", "keys/scale_cases.both/1"]
    assert [line.split()[-1] for line in told.out.splitlines() if "       OK ]" in line] == names
    assert told.out.index("before all") < told.out.index("seven") < told.out.index("after all")
    assert "[  PASSED  ] 4 tests" in told.out


def test_a_test_that_fails_says_where(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wrong = _TEST.replace("Check(blocks, 8, -2.0f);", "Check(blocks, 8, -3.0f);")
    wrong = wrong.replace("EXPECT_TRUE(blocks < 5);", "EXPECT_TRUE(blocks > 5);")
    file = operator(tmp_path, wrong)
    line = 1 + wrong[: wrong.index("ASSERT_FLOAT_EQ")].count("\n")
    with superkernel.configure(ascendc=""):
        status = main(["sim", str(file), "--gtest_filter=*eight*:keys*-*/1"])
    out = capfd.readouterr().out
    assert status == 1
    assert f"{os.path.realpath(file)}:{line}: Failure" in out and "at 1" in out and "expected: (y[i])" in out
    assert "value of: blocks > 5, expected: true" in out
    assert "seven" not in out and "both/1" not in out and "[       OK ] keys/scale_cases.both/0" in out
    assert out.rstrip().endswith("[  FAILED  ] scale_test.eight")


def test_a_test_can_include_the_kernel(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    declared = 'extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling);'
    test = _TEST.replace(declared, '#define DTYPE_X float\n#include "../../../op_kernel/scale.cpp"')
    with superkernel.configure(ascendc=""):
        assert main(["sim", str(operator(tmp_path, test)), "--gtest_filter=scale_test.seven"]) == 0
    assert "[  PASSED  ] 1 tests" in capfd.readouterr().out
