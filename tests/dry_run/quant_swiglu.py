"""A quantised matmul and its activation, alone and as one super kernel, compared: what a user's first script does."""

import numpy as np
import torch
import torch_npu
import torchair
from torchair.configs.compiler_config import CompilerConfig


class Alone(torch.nn.Module):
    def forward(self, x1, x2, scale, pertoken_scale, weight_scale):
        y = torch_npu.npu_quant_matmul(
            x1, x2, scale, offset=None, bias=None, pertoken_scale=pertoken_scale, output_dtype=torch.bfloat16
        )
        return torch_npu.npu_dequant_swiglu_quant(y, weight_scale=weight_scale), y


class Fused(Alone):
    def forward(self, *inputs):
        with torchair.scope.super_kernel("sp1", ""):
            return super().forward(*inputs)


def main() -> None:
    m, k, n = 64, 256, 128
    weight = torch.randint(-10, 10, (n, k), dtype=torch.int8)
    inputs = (
        torch.randint(-10, 10, (m, k), dtype=torch.int8).npu(),
        torch_npu.npu_format_cast(weight.npu().transpose(1, 0).contiguous(), 29),
        torch.randn((n,), dtype=torch.float32).npu(),
        torch.randn((m,), dtype=torch.float32).npu(),
        torch.randn((m, n), dtype=torch.float32, device="npu"),
    )
    config = CompilerConfig()
    config.debug.graph_dump.type = "txt"
    backend = torchair.get_npu_backend(compiler_config=config)
    results = []
    for model in (Alone(), Fused()):
        (activated, scale), product = torch.compile(model, backend=backend, dynamic=False)(*inputs)
        assert product.shape == (m, n) and product.dtype == torch.bfloat16
        assert activated.shape == (m, n // 2) and activated.dtype == torch.int8
        results.append((activated.cpu().numpy(), scale.cpu().numpy()))
    equal = all(np.array_equal(left, right) for left, right in zip(*results))
    print("equal" if equal else "different")


if __name__ == "__main__":
    main()
