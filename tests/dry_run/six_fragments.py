"""Six super kernels of three operators each, with and without an optional input, with several options; profiled."""

import sys
from contextlib import nullcontext

import torch
import torch_npu
import torchair

FRAGMENTS = [
    ("sk1", "", False),
    ("sk2", "", False),
    ("sk3", "", True),
    ("sk4", "feed-sync-all=1", False),
    ("sk5", "stream-fusion=1", False),
    ("sk6", "feed-sync-all=1:stream-fusion=1", True),
]


class Model(torch.nn.Module):
    def __init__(self, marked: bool) -> None:
        super().__init__()
        self.marked = marked

    def forward(self, x, weight, groups, scale, gates, bias):
        results = []
        for name, options, with_bias in FRAGMENTS:
            with torchair.scope.super_kernel(name, options) if self.marked else nullcontext():
                chosen, _, _ = torch_npu.npu_moe_gating_top_k(gates, 4, bias=bias if with_bias else None)
                (product,) = torch_npu.npu_grouped_matmul(
                    [x], [weight], group_list=groups, split_item=3, group_type=0, output_dtype=torch.int32
                )
                quantised, _ = torch_npu.npu_dequant_swiglu_quant(
                    product, weight_scale=scale, activate_left=True, quant_mode=1, group_index=groups
                )
            results.append((chosen, quantised))
            gates = torch.clamp(gates.reshape(8, 16, -1).transpose(0, 1).reshape(128, -1), -1, 1)
        return results


def main() -> None:
    inputs = (
        torch.randint(-5, 5, (128, 256), dtype=torch.int8),
        torch.randint(-5, 5, (8, 256, 512), dtype=torch.int8),
        torch.tensor([16] * 8, dtype=torch.int64),
        torch.rand(8, 512),
        torch.rand(128, 64),
        torch.rand(64),
    )
    backend = torchair.get_npu_backend(compiler_config=torchair.CompilerConfig())
    for marked in (False, True):
        model = torch.compile(Model(marked).npu(), backend=backend, dynamic=False)
        with torch_npu.profiler.profile(
            activities=[torch_npu.profiler.ProfilerActivity.NPU],
            on_trace_ready=torch_npu.profiler.tensorboard_trace_handler(sys.argv[1] if len(sys.argv) > 1 else "out"),
        ) as profile:
            model(*[tensor.npu() for tensor in inputs])
            torch.npu.synchronize()
            profile.step()
    print("done")


if __name__ == "__main__":
    main()
