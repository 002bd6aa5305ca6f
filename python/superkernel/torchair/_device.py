"""Stands in for torch_npu and the device: tensors stay on the host, everything else is silent."""

from __future__ import annotations

import sys
from typing import Any

from superkernel.torchair import _host
from superkernel.torchair._silent import Silent, SilentModule
from superkernel.torchair._source import NO_VERSION, Source


class _TorchNpu(SilentModule):
    """`torch_npu`: operators by name, submodules from the wheel's Python where they need no device."""

    def __getattr__(self, name: str) -> Any:
        import torch

        if name.startswith(("npu_", "_npu_")) and hasattr(torch.ops.npu, name):
            return getattr(torch.ops.npu, name)
        if name.startswith(("npu_", "_npu_")) and self.__version__ == NO_VERSION:
            raise AttributeError(
                f"`torch_npu.{name}` is an operator of torch_npu, which is not installed here: name its wheel with "
                "`--wheel` (`pip download --no-deps torch_npu`)"
            )
        return super().__getattr__(name)


def install(source: Source, device: str, soc: int) -> None:
    """Makes `torch_npu` and `torch.npu` importable, and tensors movable."""
    import torch

    package = _TorchNpu("torch_npu")
    package.__path__ = [source.path()]
    package.__version__ = source.version
    sys.modules["torch_npu"] = package
    npu = _npu_module(device)
    package.npu = npu
    for name in ("npu", "_C", "profiler", "distributed", "utils"):
        _stand_in(package, name)
    npu.utils.get_soc_version = npu._backends.get_soc_version = lambda *_: soc
    _error_code(package)
    torch.npu = npu
    sys.modules["torch.npu"] = npu

    # TorchAir asks formats of what is on a device.
    torch.Tensor.is_npu = property(lambda tensor: False)
    package.get_npu_format = lambda tensor: 2
    _host.install()
    # On hosts torch has an attention of its own, which no device has and TorchAir does not convert.
    torch.backends.cuda.enable_flash_sdp(False)


def _npu_module(device: str) -> Any:
    npu = SilentModule("torch_npu.npu")
    npu.is_available = lambda: True
    npu.device_count = lambda: 1
    npu.current_device = lambda: 0
    npu.synchronize = lambda *_: None
    npu.set_device = lambda *_: None
    npu.get_device_name = lambda *_: device
    npu.mem_get_info = lambda *_: (0, 0)
    npu._get_deterministic_level = lambda: 0
    return npu


def _stand_in(package: Any, name: str) -> None:
    full = f"torch_npu.{name}"
    module = package.npu if name == "npu" else SilentModule(full)
    module.__path__ = []
    sys.modules[full] = module
    setattr(package, name, module)
    inner = {"npu": ("utils", "_backends"), "utils": ()}.get(name, ())
    for part in inner:
        child = SilentModule(f"{full}.{part}")
        sys.modules[child.__name__] = child
        setattr(module, part, child)
    if name == "npu":
        module.utils._is_gte_cann_version = lambda *_, **__: True
        module.utils.get_cann_version = lambda *_: "dry run"


def _error_code(package: Any) -> None:
    module = SilentModule("torch_npu.utils._error_code")
    for name in ("pta_error", "ops_error", "dist_error", "graph_error", "prof_error"):
        setattr(module, name, lambda code: "")
    module.ErrCode = Silent("ErrCode")
    sys.modules[module.__name__] = module
    package.utils._error_code = module
