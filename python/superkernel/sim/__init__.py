"""The simulator: builds operators for the host and runs them with every AI core simulated."""

from superkernel.sim.op_builder import BuiltOp, build_op

__all__ = ["BuiltOp", "build_op"]
