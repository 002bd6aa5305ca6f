"""What a launch reports: the native core's own classes."""

from __future__ import annotations

from superkernel._core import CoreReport, Event, Finding, Hazard, Instruction, Report

__all__ = ["CoreReport", "Event", "Finding", "Hazard", "Instruction", "Report"]
