"""``superkernel op``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from superkernel.cli._parser import add_asserts, count, text
from superkernel.cli._settings import add_settings, given_settings

if TYPE_CHECKING:
    from superkernel.sim import Device, Operator, OperatorRun, Tiling, Verdict

#: Exit status where nothing could be run.
NO_ANSWER = 2
#: Statuses of runs whose cores all came to their end, so that outputs are what they are.
_ENDED = ("ok", "leak")
#: Seconds for one run: far more than any needs that ends.
_TIMEOUT = 300.0
#: Seeds of the gate where their number is not given.
_SEEDS = 8


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "op",
        help="run an operator from its folder on the simulator",
        description="Read an operator's definition, have its own host code decide about shapes and tiling, build its "
        "kernel for this machine and run it with every AI core simulated; print what went in and what came out, and "
        "compare it. Exit status 0: it ran, and everything is as expected; 1: something was found, or differs; 2: "
        "nothing could be run.",
    )
    command.add_argument("folder", metavar="DIR", help="the operator's folder, which has `op_kernel`")
    _add_values(command)
    _add_tiling(command)
    _add_comparison(command)
    _add_launch(command)
    command.add_argument(
        "--sub-kernel", metavar="OUT", help="write its object and JSON, as `superkernel compile` takes them, there"
    )
    command.add_argument(
        "--form",
        choices=("dynamic", "static"),
        default="dynamic",
        help="with --sub-kernel: its tiling is read while it runs (default), or is part of its code",
    )
    command.add_argument("--keep", metavar="FOLDER", help="keep what is built in this folder, and use it again")
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    add_settings(command, "soc", "aic_num", "aiv_num", "ascendc", "tool_timeout")
    command.set_defaults(run=run, failed=NO_ANSWER)


def _add_values(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an input: @FILE.npy; TYPE:SHAPE for random values (float16:16x1024), followed by :LOW..HIGH for a range, "
        "with :FORMAT for another format than ND; zeros:TYPE:SHAPE; TYPE:@FILE.npy; commas between those of a list",
    )
    command.add_argument(
        "--attr", action="append", default=[], metavar="NAME=VALUE", help="an attribute: a number, true, text, [1,2]"
    )
    command.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="NAME=TYPE:SHAPE",
        help="an output whose shape the operator does not give, or an optional one",
    )
    command.add_argument(
        "--input-seed", type=int, default=0, metavar="N", help="start of the random values (default: 0)"
    )


def _add_tiling(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tiling", metavar="FILE", help="tiling data, in place of what the operator's host code makes"
    )
    command.add_argument("--key", type=int, default=0, metavar="K", help="with --tiling: the tiling key (default: 0)")
    command.add_argument("--blocks", type=count, default=1, metavar="N", help="with --tiling: blocks (default: 1)")
    command.add_argument(
        "--workspace", type=count, action="append", default=[], metavar="BYTES", help="with --tiling: scratch memory"
    )
    command.add_argument(
        "--tiling-function",
        type=text,
        metavar="MODULE:FUNCTION",
        help="tiling data from a Python function (docs/operators.md)",
    )


def _add_comparison(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--expect", action="append", default=[], metavar="NAME=FILE.npy", help="what an output must be"
    )
    command.add_argument(
        "--reference",
        type=text,
        metavar="MODULE:FUNCTION",
        help="a Python function that makes the outputs: inputs as arrays in the definition's order, attributes by name",
    )
    command.add_argument("--rtol", type=float, help="relative difference that counts as equal (default: by data type)")
    command.add_argument("--atol", type=float, help="absolute difference that counts as equal (default: by data type)")


def _add_launch(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tool",
        type=text,
        metavar="NAMES",
        help="look for these with several seeds too: order, race, pipe, cache, init, bounds, autosync, with commas "
        "between them; `all` for the usual ones",
    )
    command.add_argument(
        "--seeds", type=count, metavar="N", help=f"with --tool, or alone for the usual tools: seeds (default: {_SEEDS})"
    )
    command.add_argument("--seed", type=int, metavar="N", help="let cores go on in the random order of this seed")
    command.add_argument(
        "--allow-unchecked",
        type=text,
        action="append",
        default=[],
        metavar="NAMES",
        help="do not fail where these could not be checked: names of tools, or `results`",
    )
    command.add_argument(
        "--pipes", choices=("in-order", "checked", "reordered"), help="how the pipes of a core work (see `sim`)"
    )
    add_asserts(command)
    command.add_argument("--cache", choices=("coherent", "strict"), help="what scalar accesses see (see `sim`)")
    command.add_argument(
        "--timeout", type=float, default=_TIMEOUT, metavar="SECONDS", help="for one run (default: %(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Runs it and tells what came out."""
    import json

    import superkernel
    from superkernel.cli import _op_report, _verdicts
    from superkernel.sim import Device, Operator

    allowed = _verdicts.allowed(options.allow_unchecked)
    with superkernel.configure(**{**given_settings(options), "toolchain": "host"}):
        function = _imported(options.tiling_function) if options.tiling_function else None
        with (
            Operator(options.folder, tiling=function, out_dir=options.keep) as operator,
            Device(operator.soc) as device,
        ):
            inputs, attributes, outputs = _values(options)
            expected = _expected(options, operator, inputs, attributes, outputs)
            prepared = operator.prepare(inputs, attributes, outputs=outputs, tiling=_tiling(options), expected=expected)
            sub_kernel = None
            if options.sub_kernel is not None:
                sub_kernel = operator.build(prepared, form=options.form, out_dir=options.sub_kernel)
            done = operator.run_prepared(prepared, device, **_launch(options))
            verdict = _gate(options, operator, done, device) if done.report.ok else None
            tolerance = {"rtol": options.rtol, "atol": options.atol}
            differences = done.compare(expected, **tolerance) if done.report.status in _ENDED and expected else []
    told = _op_report.OpReport(done, verdict, differences, sub_kernel, allowed)
    print(json.dumps(told.to_dict(), indent=2) if options.json else told)
    return 0 if told.passed else 1


# -- what was asked for ----------------------------------------------------------------------------------------------


def _values(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    from superkernel.sim.inputs import shaped, tensors

    inputs = {name: tensors(name, value, options.input_seed) for name, value in _pairs("--input", options.input)}
    attributes = {name: _attribute(value) for name, value in _pairs("--attr", options.attr)}
    outputs: dict[str, Any] = {}
    for name, value in _pairs("--output", options.output):
        listed = [shaped(name, part) for part in value.split(",")]
        shapes = [(shape, data_type) for data_type, shape, _ in listed]
        outputs[name] = shapes if len(shapes) > 1 else shapes[0]
    return inputs, attributes, outputs


def _pairs(flag: str, given: list[str]) -> list[tuple[str, str]]:
    from superkernel.sim import _arguments as check

    pairs = []
    for word in given:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise check.refuse(f"{flag} {word[:80]}", "write NAME=VALUE")
        pairs.append((name, value))
    return pairs


def _attribute(word: str) -> Any:
    """JSON, or text."""
    import json

    try:
        return json.loads(word)
    except ValueError:
        return {"True": True, "False": False}.get(word, word)


def _tiling(options: argparse.Namespace) -> Tiling | None:
    from superkernel._files import read
    from superkernel.sim import Tiling

    if options.tiling is None:
        return None
    return Tiling(read(options.tiling), options.key, options.blocks, tuple(options.workspace))


def _imported(path: str) -> Any:
    """`module:function`, also from the folder one is in."""
    import importlib
    import os
    import sys

    from superkernel.sim import _arguments as check

    module, mark, name = path.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), name) if mark and name else None
    except (ImportError, AttributeError, ValueError) as error:
        raise check.refuse(f"`{path[:80]}` cannot be imported: {error}", "write MODULE:FUNCTION") from None
    finally:
        sys.path.remove(os.getcwd())
    if not callable(found):
        raise check.refuse(f"`{path[:80]}` is no function", "write MODULE:FUNCTION")
    return found


def _launch(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in ("seed", "pipes", "cache", "asserts", "timeout")}
    return {name: value for name, value in given.items() if value is not None}


# -- what came out ---------------------------------------------------------------------------------------------------


def _gate(options: argparse.Namespace, operator: Operator, done: OperatorRun, device: Device) -> Verdict | None:
    """Many seeds with the tools of the gate, if any of it was asked for."""
    if options.tool is None and options.seeds is None:
        return None
    tools = None if options.tool in (None, "all") else options.tool
    return operator.check(done, device, seeds=options.seeds or _SEEDS, tools=tools, timeout=options.timeout)


def _expected(
    options: argparse.Namespace,
    operator: Operator,
    inputs: dict[str, Any],
    attributes: dict[str, Any],
    outputs: dict[str, Any],
) -> dict[str, Any]:
    """What outputs will be compared with, by name."""
    from superkernel.sim.inputs import expected

    found = expected(options.expect) if options.expect else {}
    if options.reference is not None:
        found.update(operator.expected(inputs, _imported(options.reference), attributes, outputs))
    return found
