"""TorchAir without a device: `make test-torch` runs this with every known release, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from superkernel import SuperKernelError
from superkernel.torchair import dry_run, prepare

HERE = Path(__file__).parent
#: None: the torch_npu that is installed.
WHEEL = os.environ.get("SUPERKERNEL_TORCH_NPU_WHEEL")
OF_WHEEL = () if WHEEL is None else ("--wheel", WHEEL)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "superkernel", "torchair", *arguments]
    # Scripts let TorchAir dump its graphs where they run.
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(line, capture_output=True, text=True, timeout=600, cwd=folder)


def plans(*arguments: str) -> list[list[str]]:
    """`scope: ops` of every super kernel, graph by graph."""
    done = command(*OF_WHEEL, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    assert "DRY RUN" in done.stderr
    start = done.stdout.index('{\n  "coarse"')
    graphs = json.loads(done.stdout[start:])["graphs"]
    return [[f"{piece['scope']}: {len(piece['ops'])}" for piece in graph["pieces"]] for graph in graphs]


def test_a_script_of_quantised_operators(tmp_path: Path) -> None:
    assert plans("--save", str(tmp_path), str(HERE / "quant_swiglu.py")) == [[], ["sp1: 2"]]
    (_, marked) = sorted(tmp_path.glob("*.json"))
    nodes = {node["type"]: node for node in json.loads(marked.read_text())["nodes"]}
    origin = nodes["QuantBatchMatmulV3"]["origin"]
    assert origin["torch_op"] == "npu.npu_quant_matmul.default"
    path, _, number = origin["line"].rpartition(":")
    assert path.endswith("quant_swiglu.py")
    assert "npu_quant_matmul" in (HERE / "quant_swiglu.py").read_text().splitlines()[int(number) - 1]


def test_a_script_of_six_fragments_with_arguments(tmp_path: Path) -> None:
    expected = [f"sk{number}: 3" for number in range(1, 7)]
    assert plans(str(HERE / "six_fragments.py"), str(tmp_path / "profile")) == [[], expected]


PARALLEL = """
import argparse, os, torch, torch_npu, torchair
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--processes", type=int)
device = torch.device(f"npu:{os.environ.get('LOCAL_RANK', 0)}" if torch.npu.is_available() else "cpu")
torch.npu.set_device(device)
dist.init_process_group("hccl", rank=1, world_size=parser.parse_args().processes)
torch.set_default_device(device)

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(32, 16, device=device))
        self.inner = torch.nn.Linear(16, 16, device="npu")

    def forward(self, x):
        with torchair.scope.super_kernel("parallel"):
            y = x @ self.weight
            dist.all_reduce(y)
            return torch.relu(self.inner(y) + torch.zeros(4, 16, device=x.device) + torch.ones(16, device="npu:0"))

model = torch.compile(Layer().to(device).eval(), backend=torchair.get_npu_backend(), dynamic=False, fullgraph=True)
begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
with torch.no_grad(), torch.npu.stream(torch.npu.Stream()):
    print(model(torch.rand(4, 32).to(device)).shape, isinstance(x := begin, torch.npu.Stream))
time = begin.elapsed_time(end)
print(f"{time:.1f} ms, {torch.npu.max_memory_allocated() / 1024**2:.1f} MB", 4 / time)
dist.barrier(group=dist.new_group([0, 1], backend="hccl"))
print(dist.get_rank(), "of", dist.get_world_size())
dist.destroy_process_group()
"""


def test_a_script_of_many_processes_on_devices(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PARALLEL)
    done = command(*OF_WHEEL, str(tmp_path / "script.py"), "--processes", "4")
    assert done.returncode == 0, done.stderr
    assert "torch.Size([4, 16]) False\n0.0 ms, 0.0 MB 0.0\n1 of 4\n" in done.stdout
    assert "scope parallel: 1 super kernel" in done.stdout and "HcomAllReduce" in done.stdout


TRANSFERRED = """
import os, torch, torch_npu, torchair
from torch_npu.contrib import transfer_to_npu

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 16)
        self.cached = torchair.inference.cache_compile(self.prompt)

    def forward(self, x):
        return self.cached(x)

    def prompt(self, x):
        return torch.exp(self.layer(x))

model = Model().cuda().eval()
torchair.use_internal_format_weight(model)
with torch.no_grad():
    print(model(torch.ones(3, 16, device="cuda:0")).shape)
torch.cuda.synchronize()
free, total = torch.npu.mem_get_info()

@torch.compile(backend=torchair.get_npu_backend(), dynamic=True)
def changing(x):
    return torch.relu(x), torch.exp(x).sum(0)

print([tuple(result.shape) for result in changing(torch.ones(5, 7).to("cuda"))], os.listdir())

@torch.compile(backend=torchair.get_npu_backend(), dynamic=True)
def with_sizes(x, y):
    joined = torch.cat([x, y[: x.shape[0] + 1]])
    return joined.reshape(-1), x.shape[0] * 2, torch.relu(x)

for rows in (3, 5):
    flat, twice, same = with_sizes(torch.ones(rows, 4), torch.ones(20, 4))
    print(tuple(flat.shape), twice, tuple(same.shape))
"""


def test_a_script_written_for_another_device(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TRANSFERRED)
    done = command(*OF_WHEEL, str(tmp_path / "script.py"))
    assert done.returncode == 0, done.stderr
    # Where shapes change results have the sizes that follow from the inputs; nothing is left for a run on a device.
    expected = "torch.Size([3, 16])\n[(5, 7), (7,)] []\n(28,) 6 (3, 4)\n(44,) 10 (5, 4)\n"
    assert done.stdout.startswith(expected), done.stdout


def test_a_picture_per_graph(tmp_path: Path) -> None:
    done = command(*OF_WHEEL, "--html", str(tmp_path / "out.html"), str(HERE / "quant_swiglu.py"))
    assert done.returncode == 0 and "prediction" in done.stdout
    assert "npu_quant_matmul" in (tmp_path / "out_2.html").read_text()


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("raise ValueError('of the script')", "of the script"),
        ("pass", "handed no graph"),
        ("raise SystemExit('enough')", "enough\nsuperkernel: the script ended with exit status 1; the plans are"),
        ("raise SystemExit(3)", "the script ended with exit status 3; the plans are"),
    ],
)
def test_a_script_that_fails_or_compiles_nothing(body: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(body)
    done = command(*OF_WHEEL, str(tmp_path / "script.py"))
    assert done.returncode == 1 and part in done.stderr


def test_three_layers_stay_one_kernel() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 16, bias=False) for _ in range(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torchair.scope.super_kernel("layers", "stream-fusion=1"):
                for layer in self.layers:
                    x = torch.relu(layer(x))
            return x

    planned = dry_run(Layers(), torch.ones(4, 16))
    (kernel,) = planned.pieces
    assert kernel.scope == "layers" and not planned.blocked and not planned.findings
    assert [op["type"] for op in kernel.ops].count("Relu") == 3


def test_mistakes_and_the_engines_order_are_told() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    def model(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with torchair.scope.super_kernel("cut"):
            product = torch.mm(x, w)
            inner = torch.exp(torch.relu(product))
            outer = torch.tanh(inner)
        with torchair.scope.super_kernel("typo", "stream-funsion=1"):
            other = torch.sigmoid(torch.mm(w, w))
        return outer, torch.abs(product), torch.neg(inner), other

    planned = dry_run(model, (torch.ones(8, 8), torch.ones(8, 8)))
    assert [piece.scope for piece in planned.pieces] == ["cut"]
    assert [mistake["scope"] for mistake in planned.mistakes] == ["typo"]
    assert [(finding["kind"], finding["scope"]) for finding in planned.findings] == [("engine-order", "cut")]
    engine = dry_run(model, (torch.ones(8, 8), torch.ones(8, 8)), order="engine")
    assert sum(len(piece.ops) for piece in engine.pieces) < 4


ORDERED = """
import sys, torch, torchair

def model(x, w):
    with torchair.scope.super_kernel("cut"):
        product = torch.mm(x, w)
        outer = torch.tanh(torch.exp(torch.relu(product)))
    return outer, torch.abs(product)

config = torchair.CompilerConfig()
config.experimental_config.topology_sorting_strategy = sys.argv[1]
backend = torchair.get_npu_backend(compiler_config=config)
torch.compile(model, backend=backend, dynamic=False)(torch.ones(8, 8), torch.ones(8, 8))
"""


def test_the_order_that_a_script_asks_for(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(ORDERED)
    for strategy, findings in (("DFS", 1), ("StableRDFS", 0)):
        done = command(*OF_WHEEL, str(tmp_path / "script.py"), strategy)
        assert done.returncode == 0 and "1 super kernel" in done.stdout, done.stderr
        assert done.stdout.count("finding: ") == findings, done.stdout


def test_dynamic_shapes_are_told() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    def model(x: torch.Tensor) -> torch.Tensor:
        with torchair.scope.super_kernel("s"):
            return torch.tanh(torch.exp(x))

    assert "not static" in str(dry_run(model, torch.ones(5, 7), dynamic=True))
    assert len(dry_run(model, {"x": torch.ones(5, 7)}).pieces) == 1


def test_a_model_that_fails_leaves_nothing_to_the_next_one() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    def broken(x: torch.Tensor) -> torch.Tensor:
        with torchair.scope.super_kernel("broken"):
            # Nobody converts it.
            return torch.linalg.eigvals(torch.exp(x))

    def model(x: torch.Tensor) -> torch.Tensor:
        y = torch.exp(torch.abs(x))
        with torchair.scope.super_kernel("whole"):
            return torch.tanh(torch.neg(y))

    with pytest.raises(Exception, match="eigvals"):
        dry_run(broken, torch.ones(4, 4))
    assert [scope["name"] for scope in dry_run(model, torch.ones(4, 4)).scopes] == ["whole"]


def test_operators_whose_overloads_have_changed_are_converted() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    def model(x: torch.Tensor) -> torch.Tensor:
        with torchair.scope.super_kernel("s"):
            return x[0] * torch.full((16,), 2.0) + torch.ones(16) + torch.zeros(16)

    (kernel,) = dry_run(model, torch.ones(4, 16)).pieces
    assert "Mul" in [op["type"] for op in kernel.ops]


def test_attention_is_made_of_parts() -> None:
    prepare(WHEEL)
    import torch
    import torchair

    def model(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        with torchair.scope.super_kernel("attention"):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    (kernel,) = dry_run(model, tuple(torch.ones(2, 4, 16, 8) for _ in range(3))).pieces
    types = [op["type"] for op in kernel.ops]
    assert sum("MatMul" in found for found in types) == 2 and "SoftmaxV2" in types, types


OWN_OPERATORS = """
import torch, torch_npu, torchair
from torchair import ge, register_fx_node_ge_converter

library = torch.library.Library("mine", "DEF")
for schema in ("scale(Tensor x, float factor) -> Tensor", "add_scaled(Tensor x, Tensor y, float factor=1.0) -> Tensor"):
    library.define(schema)
    for key in ("Meta", "CPU"):
        library.impl(schema.split("(")[0], lambda x, *_: torch.empty_like(x), key)

@register_fx_node_ge_converter(torch.ops.mine.scale.default)
def convert(x, factor, meta_outputs=None):
    return ge.custom_op("MyScale", inputs={"x": x}, attrs={"factor": ge.attr.Float(factor)}, outputs=["y"])

@torch.compile(backend=torchair.get_npu_backend(), dynamic=False, fullgraph=True)
def model(x):
    with torchair.scope.super_kernel("mine"):
        return torch.ops.mine.add_scaled(torch.relu(x), torch.ops.mine.scale(x, 2.0), 0.5)

print(tuple(model(torch.ones(4, 3)).shape))
"""


def test_operators_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(OWN_OPERATORS)
    done = command(*OF_WHEEL, str(tmp_path / "script.py"))
    assert done.returncode == 0 and done.stdout.startswith("(4, 3)\n"), done.stderr
    assert "piece mine: 3 ops" in done.stdout and " MyScale " in done.stdout and " AddScaled " in done.stdout


def test_marked_collectives_run_inside() -> None:
    prepare(WHEEL)
    import torch
    import torchair
    from torch import distributed
    from torch.testing._internal.distributed.fake_pg import FakeStore

    def model(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        with torchair.scope.super_kernel("inside"):
            y = torch.mm(x, w)
            distributed.all_reduce(y)
            y = torch.relu(y)
            gathered = torch.empty(4 * 8, 16)
            distributed.all_gather_into_tensor(gathered, y)
            z = torch.tanh(gathered)
        distributed.all_reduce(z)
        return torch.abs(z)

    # A group of one process that says it is four.
    distributed.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    try:
        inputs = (torch.ones(8, 16), torch.ones(16, 16))
        planned = dry_run(model, inputs)
        without = dry_run(model, inputs, not_fusable=["HcomAllGather"])
    finally:
        distributed.destroy_process_group()
    (kernel,) = planned.pieces
    wanted = ["MatMul", "HcomAllReduce", "Relu", "HcomAllGather", "Tanh"]
    assert [op["type"] for op in kernel.ops if not op["type"].startswith(("Fill", "Cast"))] == wanted
    assert any("HcomAllReduce" in note and "streams of their own" in note for note in planned.prediction)
    origins = {op["name"]: op["origin"]["line"] for op in kernel.ops}
    assert all(line.rpartition(":")[0].endswith("test_dry_run.py") for line in origins.values()), origins
    assert "HcomAllGather" not in [op["type"] for piece in without.pieces for op in piece.ops]


def test_predictions_with_a_profile(tmp_path: Path) -> None:
    profile = tmp_path / "op_summary_1.csv"
    profile.write_text(
        "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim,Mix Block Dim\n"
        "QuantBatchMatmulV3,QuantBatchMatmulV3,AI_CORE,30,1,20,0\n"
        "DequantSwigluQuant,DequantSwigluQuant,AI_VECTOR_CORE,9,1,40,0\n"
    )
    done = command(*OF_WHEEL, "--profile", str(tmp_path), str(HERE / "quant_swiglu.py"))
    assert done.returncode == 0, done.stderr
    # The model without a scope is not predicted, but suggested to be marked.
    assert done.stdout.count("with torchair.scope.super_kernel(") == 2
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("  sp1 "))
    assert row.split()[1:3] == ["2", "40.00"], row


@pytest.mark.skipif(WHEEL is None, reason="of wheels only")
def test_another_wheel_needs_another_process(tmp_path: Path) -> None:
    prepare(WHEEL)
    with pytest.raises(SuperKernelError, match="SK1051"):
        prepare(tmp_path / "nothing.whl")
