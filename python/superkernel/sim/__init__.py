"""The simulator: builds operators for the host and runs kernels with every AI core simulated."""

from superkernel.sim.agents import Agent, Word, aicpu_tiling, event_partner
from superkernel.sim.device import Device
from superkernel.sim.elements import Tensor, tensor
from superkernel.sim.kernel import Kernel
from superkernel.sim.memory import Buffer
from superkernel.sim.op_builder import INCLUDE_DIR, BuiltOp, build_op
from superkernel.sim.operator import Comparison, Operator, OperatorRun, Tiling
from superkernel.sim.profiling import ProfilingBuffer, ProfilingRecord
from superkernel.sim.report import CoreReport, Event, Finding, Hazard, Instruction, Report
from superkernel.sim.variation import Tool, Variation
from superkernel.sim.verdict import FailedSeed, Verdict

__all__ = [
    "INCLUDE_DIR",
    "Agent",
    "Buffer",
    "BuiltOp",
    "Comparison",
    "CoreReport",
    "Device",
    "Event",
    "FailedSeed",
    "Finding",
    "Hazard",
    "Instruction",
    "Kernel",
    "Operator",
    "OperatorRun",
    "ProfilingBuffer",
    "ProfilingRecord",
    "Report",
    "Tensor",
    "Tiling",
    "Tool",
    "Variation",
    "Verdict",
    "Word",
    "aicpu_tiling",
    "build_op",
    "event_partner",
    "tensor",
]
