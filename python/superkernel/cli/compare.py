"""``superkernel compare``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from superkernel.compare import Change


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "compare",
        help="compare profiler results with and without super kernels",
        description="Print the op_statistic.csv of a model without and with super kernels, the totals, the benefit, "
        "which op types went into super kernels, and what changed: by op type, and op by op where op_summary*.csv or "
        "kernel_details*.csv is shown beside both.",
    )
    command.add_argument(
        "folder",
        metavar="DIR",
        help="folder with no_sk_model and sk_model, usually prof_result",
    )
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.set_defaults(run=run)


def _change(row: Change) -> dict[str, Any]:
    times = {"before_us": row.before, "after_us": row.after, "change_us": row.change}
    told = {key: None if value is None else float(value) for key, value in times.items()}
    return {"op_type": row.op_type, "core_type": row.core_type, **told}


def run(options: argparse.Namespace) -> None:
    """Prints the comparison."""
    from superkernel.compare import compare, number, percent

    comparison = compare(options.folder)
    if not options.json:
        print(comparison)
        return
    import json

    print(
        json.dumps(
            {
                "unfused_us": float(comparison.unfused.total),
                "fused_us": float(comparison.fused.total),
                "benefit_percent": float(percent(comparison.benefit)),
                "went_in": [
                    {"op_type": entry.op_type, "core_type": entry.core_type, "us": float(number(entry.before))}
                    for entry in comparison.went_in
                ],
                "op_types": [_change(row) for row in comparison.types],
                "ops": [{"op": row.op, **_change(row)} for row in comparison.ops],
            },
            indent=2,
        )
    )
