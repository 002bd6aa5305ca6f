"""Torch alone in place of TorchAir, in processes of their own: one process is made for one of the two."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MODEL = """
import torch, torchair
from torchair.configs.compiler_config import CompilerConfig

class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(16, 16)

    def forward(self, x, kept):
        with torchair.scope.super_kernel("sp", "stream-fusion=1"):
            y = torch.relu(self.first(x))
            with torchair.scope.npu_stream_switch("side", 1), torchair.scope.limit_core_num(4, 8):
                z = torch.tanh(torchair.scope.npu_wait_tensor(x, y))
            a, b = torch.split(y.float().view(2, 32), 16, -1)
        kept.add_(1)
        with torchair.scope.super_kernel("typo", "split-mode=0"):
            w = torch.exp(kept) + a.sum() * b.sum()
        return z + w, y
"""


def run(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in torch alone."""
    (folder / "script.py").write_text(MODEL + code)
    line = [sys.executable, "-m", "superkernel", "torchair", "--backend", "fx", *arguments, "script.py"]
    return subprocess.run(line, capture_output=True, text=True, timeout=600, cwd=folder)


RUN = """
torch.manual_seed(0)
model, x, kept = Layers().npu(), torch.ones(4, 16, device="npu"), torch.zeros(4, 16)
config = CompilerConfig()
config.debug.graph_dump.type = "txt"
backend = torchair.get_npu_backend(compiler_config=config)
got = torch.compile(model, backend=backend, dynamic=False)(x, kept.clone())
y = torch.relu(model.first(x))
a, b = torch.split(y.view(2, 32), 16, -1)
wanted = torch.tanh(x) + torch.exp(kept + 1) + a.sum() * b.sum()
print("results:", torch.allclose(got[0], wanted) and torch.allclose(got[1], y))
"""


def test_a_script_is_planned_and_its_results_are_real(tmp_path: Path) -> None:
    done = run(tmp_path, RUN)
    # One scope has a mistake in its options.
    assert done.returncode == 1, done.stderr
    assert "results: True" in done.stdout and "results are real" in done.stderr and "COARSE" in done.stdout
    assert "option `split-mode`" in done.stdout and "script.py:" in done.stdout
    done = run(tmp_path, RUN, "--json", "--save", "graphs")
    document = json.loads(done.stdout[done.stdout.index("{\n") :])
    assert document["coarse"] is True
    (plan,) = document["graphs"]
    (piece,) = plan["pieces"]
    assert piece["scope"] == "sp"
    assert [op["type"] for op in piece["ops"]] == ["linear", "relu", "tanh", "split"]
    assert piece["core_limits"] == [4, 8] and len(piece["ops"][2]["recv_event_list"]) == 1
    (saved,) = (tmp_path / "graphs").glob("*.json")
    nodes = {node["name"]: node for node in json.loads(saved.read_text())["nodes"]}
    assert nodes["y"]["type"] == "relu" and nodes["y"]["origin"]["line"].startswith("script.py:")


def test_the_operators_of_torch_npu_need_its_wheel(tmp_path: Path) -> None:
    code = "import torch_npu\ntorch_npu.npu_quant_matmul(1, 2, 3)\n"
    done = run(tmp_path, code)
    assert done.returncode == 1 and "npu_quant_matmul" in done.stderr and "--wheel" in done.stderr


def test_the_same_from_python(tmp_path: Path) -> None:
    code = f"""
from superkernel import SuperKernelError
from superkernel.torchair import dry_run, prepare
prepare(backend="fx")
{MODEL}
planned = dry_run(Layers(), (torch.ones(4, 16), torch.zeros(4, 16)))
assert planned.coarse and str(planned).startswith("COARSE"), planned
assert [piece.scope for piece in planned.pieces] == ["sp"]
def dynamic(x):
    with torchair.scope.super_kernel("s"):
        return torch.tanh(torch.exp(x))
assert "not static" in str(dry_run(dynamic, torch.ones(5, 7), dynamic=True))
try:
    prepare(backend="torchair")
except SuperKernelError as error:
    print(error)
"""
    (tmp_path / "script.py").write_text(code)
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[SK1053] this process runs torch alone already" in done.stdout
