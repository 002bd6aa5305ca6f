"""Programs whose host and kernel code share one file: `superkernel sim`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import superkernel
from program_files import TREE, needs_tree, trees, write
from superkernel.cli import main
from superkernel.sim.program import build_program, header_folder, run_program

_ADD = """
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;

struct Tiling { int count; float extra; };

template <typename T, int LIMIT> __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, Tiling tiling) {
    const int part = tiling.count / GetBlockNum();
    assert(part <= LIMIT);
    GlobalTensor<T> xg, yg, zg;
    xg.SetGlobalBuffer((__gm__ T *)x + part * GetBlockIdx(), part);
    yg.SetGlobalBuffer((__gm__ T *)y + part * GetBlockIdx(), part);
    zg.SetGlobalBuffer((__gm__ T *)z + part * GetBlockIdx(), part);
    TPipe pipe;
    TQue<TPosition::VECIN, 1> qx, qy;
    TQue<TPosition::VECOUT, 1> qz;
    pipe.InitBuffer(qx, 1, part * sizeof(T));
    pipe.InitBuffer(qy, 1, part * sizeof(T));
    pipe.InitBuffer(qz, 1, part * sizeof(T));
    LocalTensor<T> a = qx.AllocTensor<T>(), b = qy.AllocTensor<T>();
    DataCopy(a, xg, part);
    DataCopy(b, yg, part);
    qx.EnQue(a);
    qy.EnQue(b);
    a = qx.DeQue<T>();
    b = qy.DeQue<T>();
    LocalTensor<T> c = qz.AllocTensor<T>();
    Add(c, a, b, part);
    Adds(c, c, (T)tiling.extra, part);
    qz.EnQue(c);
    c = qz.DeQue<T>();
    DataCopy(zg, c, part);
    qx.FreeTensor(a);
    qy.FreeTensor(b);
    qz.FreeTensor(c);
}

int main(int argc, char **argv) {
    const int count = 1024, blocks = std::atoi(argv[1]);
    std::vector<float> host(count);
    for (int i = 0; i < count; ++i) {
        host[i] = i;
    }
    const size_t bytes = count * sizeof(float);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void *x = nullptr, *z = nullptr;
    aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&z, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    int calls = 0;
    auto next = [&calls](void *memory) { ++calls; return (GM_ADDR)memory; };
    add<float, 512><<<blocks, nullptr, stream>>>(next(x), next(x), (GM_ADDR)z, Tiling{count, 0.5f});
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(host.data(), bytes, z, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        wrong += host[i] != 2 * i + 0.5f;
    }
    printf("%s %d: %d calls, %d wrong\\n", argv[0], argc, calls, wrong);
    return aclrtFree(x) + aclrtFree(z) + (wrong != 0 ? 3 : 0);
}
"""


@pytest.fixture(scope="module", params=trees())
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    with superkernel.configure(ascendc=request.param or None):
        build_program(write(folder, _ADD), folder / "add.so")
    return folder / "add.so"


def test_host_code_runs_as_it_is(program: Path) -> None:
    done = run_program(program, ["4", "more"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "add 3: 2 calls, 0 wrong\n"


def test_a_failed_launch_ends_the_program(program: Path) -> None:
    done = run_program(program, ["1"], capture_output=True, text=True)
    assert done.returncode == 1
    line = next(number for number, text in enumerate(_ADD.splitlines(), 1) if "<<<" in text)
    assert f"add.asc:{line}: launch of `add` failed" in done.stderr
    assert "part <= LIMIT" in done.stderr
    assert "wrong" not in done.stdout


def test_random_orders_give_the_same(program: Path) -> None:
    for seed in range(3):
        done = run_program(program, ["8"], seed=seed, capture_output=True, text=True)
        assert done.stdout == "add 2: 2 calls, 0 wrong\n", done.stderr


def test_errors_name_the_lines_of_the_source(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, _ADD.replace("int calls = 0;", "int calls = unknown_name;"))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "unknown_name" in text)
    assert main(["sim", "--ascendc", "", str(file), "4"]) == 1
    assert f"{file}:{line}:" in capfd.readouterr().err


def test_a_launch_that_cannot_be_understood(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, "int main() {\n    kernel<<<1, nullptr>>;\n}\n")
    assert main(["sim", "--ascendc", "", str(file)]) == 1
    assert f"[SK0955]: {file}:2: `>>>` is missing" in capfd.readouterr().err


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kernel = """
#include "kernel_operator.h"
__global__ __aicore__ void mark(GM_ADDR x) { ((__gm__ int32_t *)x)[AscendC::GetBlockIdx()] = VALUE; }
void launch(void *x) { mark<<<2, nullptr, nullptr>>>((GM_ADDR)x); }
"""
    host = """
#include "acl/acl.h"
void launch(void *x);
int main(int argc, char **argv) {
    int32_t *x = nullptr;
    aclrtMalloc((void **)&x, 8, ACL_MEM_MALLOC_NORMAL_ONLY);
    launch(x);
    return x[0] + x[1] + argc;
}
"""
    second = write(tmp_path, kernel, "kernel.asc")
    first = write(tmp_path, host, "main.cpp")
    assert main(["sim", "--ascendc", "", "-D", "VALUE=5", "--source", str(second), str(first), "-x"]) == 12
    crash = write(tmp_path, "int main() { __builtin_trap(); }", "crash.cpp")
    assert main(["sim", "--ascendc", "", str(crash)]) == 128 + 4
    assert "ended by SIGILL" in capfd.readouterr().err
    # Flags of the command that stand where those of the program do are given to the program, with a note.
    both = ["-D", "VALUE=5", "--source", str(second), str(first)]
    assert main(["sim", "--ascendc", "", *both, "--verbose", "--tool=pipe"]) == 13
    note = f"superkernel: note: `--tool=pipe` after {first} is an argument of the program; "
    assert note in capfd.readouterr().err


def test_modes_of_the_core(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    modes = ["sim", "--ascendc", "", "--pipes", "checked", "--cache", "strict"]
    assert main([*modes, str(write(tmp_path, _ADD)), "4"]) == 0, capfd.readouterr().err
    text = _ADD
    for call in ("qx.EnQue(a);", "qy.EnQue(b);", "a = qx.DeQue<T>();", "b = qy.DeQue<T>();"):
        text = text.replace(call, "")
    assert main([*modes, str(write(tmp_path, text)), "4"]) == 1
    told = capfd.readouterr().err
    line = next(number for number, text in enumerate(_ADD.splitlines(), 1) if "Add(c, a, b, part);" in text)
    assert f"vadd ({tmp_path}/add.asc:{line})" in told
    assert "SetFlag<HardEvent::MTE2_V> and WaitFlag<HardEvent::MTE2_V> between them is missing" in told


_MEMORY = """
#include "acl/acl.h"
#include "kernel_operator.h"

__global__ __aicore__ void store(GM_ADDR y, int at) { ((int32_t *)y)[at] = 1; }

int main(int argc, char **argv) {
    void *first = nullptr;
    for (int turn = 0; turn < 300; ++turn) {
        void *piece = nullptr;
        if (aclrtMalloc(&piece, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_FIRST) != 0) { return 2; }
        first = first == nullptr ? piece : first;
        if (piece != first || *(int *)piece != 0) { return 3; }
        *(int *)piece = 7;
        if (aclrtFree(piece) != 0) { return 4; }
    }
    void *kept = nullptr, *data = nullptr;
    aclrtMalloc(&kept, 400, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&data, 400, ACL_MEM_MALLOC_HUGE_FIRST);
    store<<<1, nullptr, nullptr>>>((GM_ADDR)data, 99);
    store<<<1, nullptr, nullptr>>>((GM_ADDR)data, 100 + argc - 1);
    return 0;
}
"""


def test_memory_of_a_program_is_that_of_a_device(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What was freed is used again, and a write behind a piece is found, with its name."""
    source = tmp_path / "memory.cpp"
    source.write_text(_MEMORY)
    assert main(["sim", str(source)]) == 1
    told = capfd.readouterr().err
    assert "something was written 0 bytes past the end of buffer `memory301`" in told
    assert "launch of `store`" in told


def test_the_toolkit_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERKERNEL_ASCENDC", raising=False)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    assert header_folder() is None
    (tmp_path / "asc" / "include").mkdir(parents=True)
    (tmp_path / "asc" / "impl" / "basic_api" / "dav_c220").mkdir(parents=True)
    (tmp_path / "asc" / "include" / "kernel_operator.h").touch()
    assert header_folder() == str(tmp_path)
    with superkernel.configure(ascendc=""):
        assert header_folder() is None


_MATMUL = """
#include <cstdio>
#include <fstream>
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;
constexpr int M = 48, K = 80, N = 32;

// Row-major halves in, row-major floats out.
__global__ __aicore__ void multiply(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    GlobalTensor<half> ag, bg;
    GlobalTensor<float> cg;
    ag.SetGlobalBuffer((__gm__ half *)a);
    bg.SetGlobalBuffer((__gm__ half *)b);
    cg.SetGlobalBuffer((__gm__ float *)c);
    TPipe pipe;
    TQue<TPosition::A1, 1> qa1;
    TQue<TPosition::B1, 1> qb1;
    TQue<TPosition::A2, 1> qa2;
    TQue<TPosition::B2, 1> qb2;
    TQue<TPosition::CO1, 1> qc;
    pipe.InitBuffer(qa1, 1, M * K * 2);
    pipe.InitBuffer(qb1, 1, K * N * 2);
    pipe.InitBuffer(qa2, 1, M * K * 2);
    pipe.InitBuffer(qb2, 1, K * N * 2);
    pipe.InitBuffer(qc, 1, M * N * 4);
    LocalTensor<half> a1 = qa1.AllocTensor<half>(), b1 = qb1.AllocTensor<half>();
    DataCopy(a1, ag, Nd2NzParams{1, M, K, 0, K, M, 1, 0});
    DataCopy(b1, bg, Nd2NzParams{1, K, N, 0, N, K, 1, 0});
    qa1.EnQue(a1);
    qb1.EnQue(b1);
    a1 = qa1.DeQue<half>();
    b1 = qb1.DeQue<half>();
    LocalTensor<half> a2 = qa2.AllocTensor<half>(), b2 = qb2.AllocTensor<half>();
    for (int i = 0; i < M / 16; ++i) {
        LoadData2DParams load;
        load.repeatTimes = K / 16;
        load.srcStride = M / 16;
        LoadData(a2[i * 16 * K], a1[i * 256], load);
    }
    for (int i = 0; i < K / 16; ++i) {
        LoadData2DParams load;
        load.repeatTimes = N / 16;
        load.srcStride = K / 16;
        load.ifTranspose = true;
        LoadData(b2[i * 16 * N], b1[i * 256], load);
    }
    qa2.EnQue(a2);
    qb2.EnQue(b2);
    a2 = qa2.DeQue<half>();
    b2 = qb2.DeQue<half>();
    LocalTensor<float> result = qc.AllocTensor<float>();
    MmadParams multiply;
    multiply.m = M;
    multiply.n = N;
    multiply.k = K;
    Mmad(result, a2, b2, multiply);
    qc.EnQue(result);
    result = qc.DeQue<float>();
    FixpipeParamsV220 out;
    out.nSize = N;
    out.mSize = M;
    out.srcStride = M;
    out.dstStride = N;
    out.ndNum = 1;
    Fixpipe(cg, result, out);
    qa1.FreeTensor(a1);
    qb1.FreeTensor(b1);
    qa2.FreeTensor(a2);
    qb2.FreeTensor(b2);
    qc.FreeTensor(result);
}

void *load(const char *path, size_t bytes) {
    void *memory = nullptr;
    aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    std::ifstream(path, std::ios::binary).read((char *)memory, bytes);
    return memory;
}
int main() {
    void *a = load("a.bin", M * K * 2), *b = load("b.bin", K * N * 2), *c = load("none", M * N * 4);
    multiply<<<1, nullptr, nullptr>>>((GM_ADDR)a, (GM_ADDR)b, (GM_ADDR)c);
    std::ofstream("c.bin", std::ios::binary).write((char *)c, M * N * 4);
    return 0;
}
"""


@pytest.mark.parametrize("tree", trees())
def test_a_multiplication_by_hand(tmp_path: Path, tree: str) -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.uniform(-2, 2, shape).astype(np.float16) for shape in ((48, 80), (80, 32)))
    a.tofile(tmp_path / "a.bin")
    b.tofile(tmp_path / "b.bin")
    with superkernel.configure(ascendc=tree):
        build_program(write(tmp_path, _MATMUL), tmp_path / "multiply.so")
    done = run_program(tmp_path / "multiply.so", cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = np.fromfile(tmp_path / "c.bin", np.float32).reshape(48, 32)
    np.testing.assert_allclose(found, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)


_POLL = """
#include "acl/acl.h"
#include "kernel_operator.h"
using namespace AscendC;

// The first core waits for the second one by copies to UB alone.
__global__ __aicore__ void poll(GM_ADDR x) {
    GlobalTensor<int32_t> xg;
    xg.SetGlobalBuffer((__gm__ int32_t *)x, 8);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 32);
    LocalTensor<int32_t> local = buffer.Get<int32_t>();
    if (GetBlockIdx() == 1) {
        Duplicate(local, 7, 8);
        SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
        WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
        DataCopy(xg, local, 8);
        return;
    }
    do {
        DataCopy(local, xg, 8);
        SetFlag<HardEvent::MTE2_S>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_S>(EVENT_ID0);
    } while (local.GetValue(0) != 7);
}

int main() {
    int32_t *x = nullptr;
    aclrtMalloc((void **)&x, 32, ACL_MEM_MALLOC_NORMAL_ONLY);
    poll<<<2, nullptr, nullptr>>>((GM_ADDR)x);
    return x[0] + (aclFloat16ToFloat(aclFloatToFloat16(-1.5f)) == -1.5f ? 0 : 1);
}
"""


@needs_tree
def test_checks_of_the_high_level_interface_know_the_memories(tmp_path: Path) -> None:
    with superkernel.configure(ascendc=TREE):
        text = _ADD.replace("Adds(c, c, (T)tiling.extra, part);", "Tanh(c, a, part);")
        build_program(write(tmp_path, text), tmp_path / "tanh.so")
    done = run_program(tmp_path / "tanh.so", ["4"], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr  # no sum, but a result


@needs_tree
def test_a_core_that_polls_through_ub(tmp_path: Path) -> None:
    with superkernel.configure(ascendc=TREE):
        build_program(write(tmp_path, _POLL), tmp_path / "poll.so")
    done = run_program(tmp_path / "poll.so", timeout=200, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr


_OBJECT = """
#include <cmath>
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
constexpr int M = 64, N = 96, K = 128, CORES = 4;

// Vector cores ask cube cores, each for its rows.
__global__ __aicore__ void multiply(GM_ADDR a, GM_ADDR b, GM_ADDR c, TCubeTiling tiling) {
    GlobalTensor<half> ag, bg;
    GlobalTensor<float> cg;
    ag.SetGlobalBuffer((__gm__ half *)a, M * K);
    bg.SetGlobalBuffer((__gm__ half *)b, K * N);
    cg.SetGlobalBuffer((__gm__ float *)c, M * N);
    TPipe pipe;
    matmul::Matmul<matmul::MatmulType<TPosition::GM, CubeFormat::ND, half>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, half>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, float>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, float>>
        object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
    const int first = GetBlockIdx() * (M / CORES);
    for (int round = 0; round < 20; ++round) {
        object.SetTensorA(ag[first * K]);
        object.SetTensorB(bg);
        object.IterateAll(cg[first * N]);
    }
    object.End();
}

int main() {
    TCubeTiling tiling{};
    tiling.usedCoreNum = CORES;
    tiling.M = M, tiling.N = N, tiling.Ka = tiling.Kb = K;
    tiling.singleCoreM = M / CORES, tiling.singleCoreN = N, tiling.singleCoreK = K;
    tiling.baseM = 16, tiling.baseN = 32, tiling.baseK = 64;
    tiling.depthA1 = tiling.depthB1 = tiling.stepKa = tiling.stepKb = 2;
    tiling.stepM = tiling.stepN = tiling.dbL0C = 1;
    tiling.dbL0A = tiling.dbL0B = 2;
    std::vector<half> a(M * K), b(K * N);
    for (int i = 0; i < M * K; ++i) {
        a[i] = (float)(i * 7 % 13 - 6);
    }
    for (int i = 0; i < K * N; ++i) {
        b[i] = (float)(i * 5 % 11 - 5);
    }
    void *x = nullptr, *y = nullptr, *z = nullptr;
    aclrtMalloc(&x, M * K * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&y, K * N * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&z, M * N * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, M * K * 2, a.data(), M * K * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(y, K * N * 2, b.data(), K * N * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    multiply<<<CORES / 2, nullptr, nullptr>>>((GM_ADDR)x, (GM_ADDR)y, (GM_ADDR)z, tiling);
    int wrong = 0;
    for (int i = 0; i < M; ++i) {
        for (int j = 0; j < N; ++j) {
            float sum = 0;
            for (int k = 0; k < K; ++k) {
                sum += (float)a[i * K + k] * (float)b[k * N + j];
            }
            wrong += std::fabs(((float *)z)[i * N + j] - sum) > 1e-3f;
        }
    }
    printf("%d wrong\\n", wrong);
    return 0;
}
"""


@needs_tree
def test_an_object_of_the_high_level_interface(tmp_path: Path) -> None:
    with superkernel.configure(ascendc=TREE):
        build_program(write(tmp_path, _OBJECT), tmp_path / "object.so")
    for seed in (None, 1, 2):
        done = run_program(tmp_path / "object.so", seed=seed, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stderr


def test_a_name_that_the_subset_does_not_have_names_the_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path, '#include "kernel_operator.h"\nint main() { return AscendC::NotThere<int>(1); }\n')
    assert main(["sim", str(source)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"superkernel: error [SK0958]: {source}:2: ") and "`SUPERKERNEL_ASCENDC`" in told
    source.write_text("int main() { return 1 }\n")
    assert main(["sim", str(source)]) == 1
    told = capsys.readouterr().err
    assert "SK0958" in told and "correct the source at the place named" in told
