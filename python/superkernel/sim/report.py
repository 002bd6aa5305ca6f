"""What a launch tells about itself: the native core's own classes."""

from __future__ import annotations

from superkernel import _core

__all__ = ["CoreReport", "Event", "Finding", "Hazard", "Instruction", "Report"]

#: The outcome of one launch.
Report = _core.Report
#: One entry of the timeline.
Event = _core.Event
#: Two operators, or two cores of one, that share memory without an order between them.
Hazard = _core.Hazard
#: One instruction, with the time a model gives it.
Instruction = _core.Instruction
#: A mistake inside a core that did no harm in this order.
Finding = _core.Finding
#: Where one core was when the run ended.
CoreReport = _core.CoreReport
