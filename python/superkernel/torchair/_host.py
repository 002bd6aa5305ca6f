"""What a script puts on a device stays on the host: tensors, modules, contexts, and groups of processes."""

from __future__ import annotations

import functools
import importlib.abc
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: Makers of tensors that take a device, beside those torch lists for `with torch.device(...)`.
_LIKE = ("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like", "zeros_like", "normal")
_NEW = ("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros")


class _Transfer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the module that a script imports to run on an NPU what was written for another device."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == "torch_npu.contrib.transfer_to_npu" else None

    def exec_module(self, module: ModuleType) -> None:
        transfer()


def install() -> None:
    """Takes `npu` wherever a script names a device, and uses the host."""
    import torch
    from torch.utils import _device

    torch.utils.rename_privateuse1_backend("npu")
    # With that name torch looks for streams of the device while it traces.
    torch.accelerator.is_available = lambda: False
    torch.accelerator.current_accelerator = lambda *_, **__: None
    for owner in (torch.Tensor, torch.nn.Module):
        owner.npu = lambda self, *_, **__: self
        _on_the_host(owner, "to")
    for name in _NEW:
        _on_the_host(torch.Tensor, name)
    makers = {maker.__name__ for maker in _device._device_constructors()}
    for name in sorted({*makers, *_LIKE, "load"}):
        if hasattr(torch, name):
            _on_the_host(torch, name)
    for context in (_device.DeviceContext, torch.autocast):
        _on_the_host(context, "__init__")
    sys.meta_path.insert(0, _Transfer())
    if torch.distributed.is_available():
        _groups_of_one(torch.distributed)


#: Devices that are not there.
_absent = {"npu", "privateuseone"}


def transfer() -> None:
    """What `torch_npu.contrib.transfer_to_npu` stands for: `cuda` is the device, too."""
    import torch

    _absent.add("cuda")
    for owner in (torch.Tensor, torch.nn.Module):
        owner.cuda = owner.npu
    for name in ("synchronize", "set_device", "empty_cache", "memory_allocated", "max_memory_allocated"):
        setattr(torch.cuda, name, getattr(torch.npu, name))


def _is_npu(device: Any) -> bool:
    return str(device).split(":")[0] in _absent


def _on_the_host(owner: Any, name: str) -> None:
    """Replaces every argument of a call that names an NPU."""
    import torch

    original = getattr(owner, name)

    def host(value: Any) -> Any:
        return "cpu" if isinstance(value, (str, torch.device)) and _is_npu(value) else value

    @functools.wraps(original)
    def call(*arguments: Any, **more: Any) -> Any:
        return original(*map(host, arguments), **{key: host(value) for key, value in more.items()})

    setattr(owner, name, call)


def _groups_of_one(distributed: Any) -> None:
    """Groups with the device's collectives have one process here, which says it is one of many.

    Nothing is sent: the size and the number of the process are those given, or those of the environment.
    """
    begin, new_group, barrier = distributed.init_process_group, distributed.new_group, distributed.barrier
    mesh = distributed.device_mesh.init_device_mesh

    def is_the_devices(backend: Any) -> bool:
        return "hccl" in str(backend).lower()

    @functools.wraps(begin)
    def init_process_group(backend: Any = None, init_method: Any = None, **more: Any) -> Any:
        if backend is not None and not is_the_devices(backend):
            return begin(backend, init_method, **more)
        from torch.testing._internal.distributed.fake_pg import FakeStore

        def number(name: str, otherwise: int) -> int:
            given = more.pop(name, -1)
            return given if given >= 0 else int(os.environ.get(name.upper(), otherwise))

        for unused in ("store", "device_id", "pg_options"):
            more.pop(unused, None)
        return begin("fake", world_size=number("world_size", 1), rank=number("rank", 0), store=FakeStore(), **more)

    @functools.wraps(new_group)
    def of_some(ranks: Any = None, timeout: Any = None, backend: Any = None, *others: Any, **more: Any) -> Any:
        more.pop("pg_options", None)
        return new_group(ranks, timeout, "fake" if is_the_devices(backend) else backend, *others[1:], **more)

    @functools.wraps(barrier)
    def of_one(*arguments: Any, **more: Any) -> Any:
        # With a device registered by name only, torch asks it for a stream.
        return None if distributed.get_backend() == "fake" else barrier(*arguments, **more)

    distributed.barrier = distributed.distributed_c10d.barrier = of_one
    distributed.init_process_group = distributed.distributed_c10d.init_process_group = init_process_group
    distributed.new_group = distributed.distributed_c10d.new_group = of_some
    _on_the_host(distributed.device_mesh, "init_device_mesh")
    distributed.init_device_mesh = functools.wraps(mesh)(distributed.device_mesh.init_device_mesh)
