"""Helpers of the sample: the order of launch arguments, and memory by name."""

from __future__ import annotations

import numpy as np
from compile_sk import Node
from superkernel.sim import Buffer, Device


def argument_names(nodes: list[Node]) -> list[str]:
    """The memory each launch argument points to, by name: the parameters of every operator, in order.

    Outputs are arguments like inputs:
    [pow_in1, pow_in2, pow_out, pow_workspace, pow_out, isinf_out, isinf_workspace].
    (On chips with a cross-core scheduler its address comes first; the device puts it there by itself.)
    """
    return [name for node in nodes for name in node.memory]


def allocate(device: Device, names: list[str], contents: dict[str, np.ndarray]) -> dict[str, Buffer]:
    """One piece of device memory for every name, however often it occurs."""
    return {name: device.buffer(contents[name], name) for name in dict.fromkeys(names)}
