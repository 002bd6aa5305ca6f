"""Operators as their authors keep them: from a folder and arrays to outputs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from superkernel import _core
from superkernel._build import cache_limit
from superkernel._environment import current_config
from superkernel._errors import SuperKernelError, make_error
from superkernel._files import checked_path
from superkernel._scratch import ScratchFolder
from superkernel.sim import _arguments as check
from superkernel.sim._comparison import Comparison, compared
from superkernel.sim._operator_memory import Memory, Prepared, Tiling, Value, listed, padded, parameter_name
from superkernel.sim._operator_shapes import Unknown
from superkernel.sim.device import cache_directory
from superkernel.sim.elements import Tensor, in_memory, tensor
from superkernel.sim.op_builder import INCLUDE_DIR, BuiltOp, build_op
from superkernel.sim.variation import Tool, chosen

if TYPE_CHECKING:
    from superkernel.sim.device import Device
    from superkernel.sim.report import Report
    from superkernel.sim.verdict import Verdict

__all__ = ["Comparison", "Operator", "OperatorRun", "Tiling"]

#: The error of host code that says nothing about shapes.
_NO_SHAPES = "SK0985"


@dataclass(frozen=True)
class OperatorRun:
    """What a launch of an operator came to."""

    op_type: str
    prepared: Prepared
    #: What was built: object and description.
    built: BuiltOp
    report: Report
    #: By name; those that are lists as lists.
    outputs: dict[str, Any]
    #: Seconds the build took.
    build_time: float = field(compare=False, default=0.0)

    @property
    def tiling(self) -> Tiling:
        """What host code decided."""
        return self.prepared.tiling

    @property
    def inputs(self) -> dict[str, Any]:
        """Its inputs by name."""
        return dict(self.prepared.inputs)

    def __getitem__(self, name: str) -> Any:
        value = self.outputs[name]
        return [one.values for one in value] if isinstance(value, list) else value.values

    def compare(
        self, expected: Mapping[str, Any], *, rtol: float | None = None, atol: float | None = None
    ) -> list[Comparison]:
        """Outputs beside what they should be; without tolerances by data type: whole numbers must be the same."""
        _known("output", expected, list(self.outputs), self.op_type)
        return compared(self.outputs, expected, rtol, atol)


class Operator:
    """An operator's folder (``op_kernel``, ``op_host``), ready to run on the simulator.

    ``tiling`` is a function that takes the inputs (a dict of :class:`Tensor`), the attributes and the chip's name and
    returns a :class:`Tiling`, in place of the operator's own host code. ``definition`` is what its definition says, for
    folders without one. Files go to ``out_dir``, or to a folder that disappears with the operator.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        tiling: Callable[[dict[str, Value], dict[str, Any], str], Tiling] | None = None,
        definition: Mapping[str, Any] | None = None,
        soc: str | None = None,
        out_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.folder = Path(checked_path(folder, "folder")).absolute()
        #: The chip it is built for.
        self.soc = soc or current_config()["soc"]
        self._tiling = tiling
        self._auto_sync = True
        self._host: _core.OperatorHost | None = None
        self._scratch = ScratchFolder("operator") if out_dir is None else None
        # Inside of it: a folder of files of one task is locked by its owner, as it is by who publishes into it.
        own = None if self._scratch is None else Path(self._scratch.name) / "kernel_meta"
        self._out_dir = own or Path(checked_path(out_dir or "", "out_dir"))
        #: Inputs, outputs and attributes, as its definition says for this chip.
        self.definition: Mapping[str, Any] = definition or self.host.definition()

    @property
    def op_type(self) -> str:
        """Its type."""
        return str(self.definition["op_type"])

    def close(self) -> None:
        """Removes its files, if they are not in a folder of the user's."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def __enter__(self) -> Operator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- what is decided before the build ----------------------------------------------------------------------------

    def prepare(
        self,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
        *,
        outputs: Mapping[str, Any] | None = None,
        tiling: Tiling | None = None,
        expected: Mapping[str, Any] | None = None,
    ) -> Prepared:
        """Checks inputs and attributes and decides outputs and tiling.

        ``outputs`` gives shape and data type of outputs (``{"y": ((16, 1024), "float16")}``) where host code does not
        tell them; where neither does, they have the shape of the array in ``expected``, or that of the inputs together.
        ``tiling`` takes the place of the host code's.
        """
        given = self._inputs(inputs)
        attributes = self._attributes(attributes or {})
        column = self._column(given)
        call = self._call(given, attributes)
        assumed: list[str] = []
        made = self._outputs(given, dict(outputs or {}), column, call, Unknown(expected or {}, assumed))
        complaints: list[str] = []
        if tiling is None:
            tiling = self._tile(given, attributes, made, call, complaints)
        tensors = []
        for side, values in (("inputs", given), ("outputs", made)):
            for parameter in self.definition[side]:
                name = parameter["name"]
                first = next(iter(listed(values.get(name))), None)
                declared = _at(parameter["dtypes"], column), _at(parameter["formats"], column)
                if side == "inputs":
                    types = declared if first is None else (first.data_type, first.format)
                else:
                    types = (declared[0] if first is None else first[1], declared[1])
                tensors.append((parameter_name(self.definition, side, name), *types))
        return Prepared(given, tuple(tensors), made, tiling, tuple(assumed), tuple(complaints))

    @property
    def host(self) -> _core.OperatorHost:
        """The operator's host code, compiled."""
        if self._host is None:
            config = current_config()
            self._host = _core.OperatorHost(
                self.folder,
                self.soc,
                config["aic_num"],
                config["aiv_num"],
                None,
                [],
                [],
                INCLUDE_DIR,
                (cache_directory(), cache_limit()),
                config["tool_timeout"],
            )
        return self._host

    def _inputs(self, inputs: Mapping[str, Any]) -> dict[str, Value]:
        names = [parameter["name"] for parameter in self.definition["inputs"]]
        _known("input", inputs, names, self.op_type)
        values: dict[str, Value] = {}
        for parameter in self.definition["inputs"]:
            name, presence = parameter["name"], parameter["presence"]
            value = inputs.get(name)
            if value is None:
                if presence == "required":
                    raise check.refuse(
                        f"`{self.op_type}` needs the input `{name}`", f"give it; inputs are {', '.join(names)}"
                    )
                values[name] = [] if presence == "dynamic" else None
            elif presence == "dynamic":
                listed = value if isinstance(value, (list, tuple)) else [value]
                values[name] = [tensor(one) for one in listed]
            else:
                values[name] = tensor(value)
        return values

    def _attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        names = [attribute["name"] for attribute in self.definition["attributes"]]
        _known("attribute", attributes, names, self.op_type)
        values = {}
        for attribute in self.definition["attributes"]:
            name = attribute["name"]
            if name not in attributes and attribute["required"]:
                raise check.refuse(f"`{self.op_type}` needs the attribute `{name}`", "give it")
            values[name] = attributes.get(name, attribute["default"])
        return values

    def _column(self, inputs: Mapping[str, Value]) -> int:
        """The place of the inputs' types in the lists of the definition, whose n-th entries belong together."""
        parameters = [parameter for parameter in self.definition["inputs"] if inputs.get(parameter["name"])]
        best = max((len(parameter["dtypes"]) for parameter in self.definition["inputs"]), default=0)

        def agrees(column: int, parameter: Mapping[str, Any], with_format: bool) -> bool:
            one: Tensor = listed(inputs[parameter["name"]])[0]
            same = _at(parameter["dtypes"], column) == one.data_type
            return same and (not with_format or _at(parameter["formats"], column) == one.format)

        for with_format in (True, False):
            for column in range(best):
                if all(agrees(column, parameter, with_format) for parameter in parameters):
                    return column
        if best == 0:
            return 0
        told = ", ".join(f"{parameter['name']} {_types(inputs[parameter['name']])}" for parameter in parameters)
        names = [parameter["name"] for parameter in parameters]
        known = dict.fromkeys(
            ", ".join(f"{name} {_at(parameter['dtypes'], column)}" for name, parameter in zip(names, parameters))
            for column in range(best)
        )
        raise check.refuse(f"`{self.op_type}` has no kernel for {told}", f"it has some for: {'; '.join(known)}")

    def _call(self, inputs: Mapping[str, Value], attributes: Mapping[str, Any]) -> dict[str, Any]:
        """A call without outputs, as host code is asked about it."""
        given = []
        for parameter in self.definition["inputs"]:
            entries = []
            for one in listed(inputs[parameter["name"]]):
                entry: dict[str, Any] = {"dtype": one.data_type, "format": one.format, "shape": list(one.shape)}
                if parameter["value_depend"]:
                    entry["data"] = in_memory(one).tobytes()
                entries.append(entry)
            given.append(entries)
        known = {name: value for name, value in attributes.items() if value is not None}
        return {"inputs": given, "outputs": [], "attributes": known}

    def _outputs(
        self,
        inputs: Mapping[str, Value],
        given: Mapping[str, Any],
        column: int,
        call: dict[str, Any],
        unknown: Unknown,
    ) -> dict[str, Any]:
        """Shape and data type of every output."""
        parameters = self.definition["outputs"]
        _known("output", given, [parameter["name"] for parameter in parameters], self.op_type)
        made: dict[str, Any] = {}
        for parameter in parameters:
            name, usual = parameter["name"], _at(parameter["dtypes"], column)
            if name in given:
                made[name] = _shaped(given[name], usual)
            elif inputs.get(name) is not None:
                shapes = [(one.shape, one.data_type) for one in listed(inputs[name])]
                made[name] = shapes if isinstance(inputs[name], list) else shapes[0]
            elif parameter["presence"] == "optional":
                made[name] = None
        open_ones = [parameter["name"] for parameter in parameters if parameter["name"] not in made]
        if open_ones:
            made.update(self._inferred(open_ones, inputs, made, column, call, unknown))
        return {parameter["name"]: made[parameter["name"]] for parameter in parameters}

    def _inferred(
        self,
        names: Sequence[str],
        inputs: Mapping[str, Value],
        made: Mapping[str, Any],
        column: int,
        call: dict[str, Any],
        unknown: Unknown,
    ) -> dict[str, Any]:
        """What the operator's own code says about outputs that were not given."""
        # A list is as long as the lists that come in.
        length = max((len(value) for value in inputs.values() if isinstance(value, list)), default=1)
        outputs = []
        for parameter in self.definition["outputs"]:
            name, usual = parameter["name"], _at(parameter["dtypes"], column)
            # Also for one that is left out: functions that infer shapes give every output one.
            shapes = made.get(name) or [((), usual)] * (length if parameter["presence"] == "dynamic" else 1)
            outputs.append(_entries(shapes, _at(parameter["formats"], column)))
        try:
            answers = self.host.infer_shapes({**call, "outputs": outputs})
        except SuperKernelError as error:
            if error.errorinfo["errId"] == _NO_SHAPES:
                types = {each["name"]: _at(each["dtypes"], column) for each in self.definition["outputs"]}
                several = [each["name"] for each in self.definition["outputs"] if each["presence"] == "dynamic"]
                guess = unknown.shapes(names, types, several, inputs)
                if guess is not None:
                    return guess
            told = ", ".join(f"`{name}`" for name in names)
            raise make_error(
                "SK0985",
                f"the shape of the output {told} of `{self.op_type}` is not known: {error.errorinfo['message']}",
                f"give it: `--output {names[0]}=TYPE:SHAPE`, `outputs={{{names[0]!r}: (shape, type)}}`",
            ) from None
        found: dict[str, Any] = {}
        for parameter, answer in zip(self.definition["outputs"], answers):
            shapes = [(tuple(entry["shape"]), entry["dtype"]) for entry in answer]
            if parameter["name"] in names:
                found[parameter["name"]] = shapes if parameter["presence"] == "dynamic" else shapes[0]
        return found

    def _tile(
        self,
        inputs: dict[str, Value],
        attributes: dict[str, Any],
        outputs: Mapping[str, Any],
        call: dict[str, Any],
        complaints: list[str],
    ) -> Tiling:
        if self._tiling is not None:
            made = self._tiling(inputs, attributes, self.soc)
            if not isinstance(made, Tiling):
                raise check.refuse(f"the tiling function returned a {type(made).__name__}", "it returns a `sim.Tiling`")
            return made
        listed = []
        for parameter in self.definition["outputs"]:
            listed.append(_entries(outputs[parameter["name"]], _at(parameter["formats"], 0)))
        told = self.host.tiling({**call, "outputs": listed})
        complaints += told["log"]
        return Tiling(told["bytes"], told["key"], told["blocks"], tuple(told["workspaces"]))

    # -- build and run -----------------------------------------------------------------------------------------------

    def build(self, prepared: Prepared, *, form: str = "dynamic", name: str | None = None, **options: Any) -> BuiltOp:
        """A sub-kernel of it: ``dynamic`` reads its tiling while it runs, ``static`` has it in its code.

        ``options`` are those of :func:`build_op`.
        """
        out_dir = Path(options.pop("out_dir", self._out_dir)).absolute()
        source = _core.operator_kernel(
            {
                "folder": str(self.folder),
                "op_type": self.op_type,
                "source": (self.definition.get("values") or {}).get("opFile.value"),
                "tensors": list(prepared.tensors),
                "key": prepared.tiling.key,
                "unit": _unit(self.soc),
                "view": str(out_dir / "view" / self.folder.name),
            }
        )
        self._auto_sync = source["auto_sync"] is not False
        params = [parameter for parameter, _, _ in prepared.tensors] + ["workspace"]
        dynamic = _form(form) == "dynamic"
        words = ["-g", *source["compile_options"], *options.pop("compile_options", ())]
        more: dict[str, Any] = (
            {"tiling_keys": [prepared.tiling.key]} if dynamic else {"tiling_data": padded(prepared.tiling)}
        )
        if not dynamic:
            words.append(f"-DTILING_KEY_VAR={prepared.tiling.key}UL")
        return build_op(
            source["source"],
            source["function"],
            [*params, "tiling"] if dynamic else params,
            None,
            prepared.tiling.blocks,
            op_type=self.op_type,
            name=name,
            prelude=source["prelude"],
            compile_options=words,
            include_dirs=source["include_dirs"],
            soc=self.soc,
            out_dir=out_dir,
            **more,
            **options,
        )

    def run(
        self,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
        *,
        outputs: Mapping[str, Any] | None = None,
        tiling: Tiling | None = None,
        device: Device | None = None,
        **launch: Any,
    ) -> OperatorRun:
        """Builds it for these inputs and launches it once; ``launch`` is passed on to :meth:`Kernel.launch`."""
        prepared = self.prepare(inputs, attributes, outputs=outputs, tiling=tiling)
        with _device(device, self.soc) as device:
            return self.run_prepared(prepared, device, **launch)

    def run_prepared(self, prepared: Prepared, device: Device, **launch: Any) -> OperatorRun:
        """The same for what :meth:`prepare` made."""
        began = time.monotonic()
        built = self.build(prepared)
        took = time.monotonic() - began
        memory = Memory(device, self.definition, prepared)
        options = {"auto_sync": self._auto_sync, **memory.launch, **launch}
        try:
            report = memory.kernel(built).launch(memory.arguments, **options)
            made = memory.outputs()
        finally:
            memory.free()
        return OperatorRun(self.op_type, prepared, built, report, made, took)

    def check(self, done: OperatorRun, device: Device, **options: Any) -> Verdict:
        """Many seeds of a run's kernel on its inputs; ``options`` are those of :meth:`Kernel.check`.

        Where the operator's CMake files switch off what device compilers put in, that is looked for too.
        """
        tools = options.pop("tools", None)
        if not self._auto_sync:
            tools = chosen(tools) | {Tool.AUTOSYNC}
        memory = Memory(device, self.definition, done.prepared)
        try:
            settings: dict[str, Any] = {**memory.launch, **options}
            return memory.kernel(done.built).check(memory.arguments, tools=tools, **settings)
        finally:
            memory.free()

    def reference(
        self, done: OperatorRun, function: Callable[..., Any], attributes: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """What a Python function makes of a run's inputs: arrays in the definition's order, attributes by name.

        It returns the outputs in their order, as many as it knows, or a dict of some; ``None`` stands for one it does
        not know.
        """
        return self.expected(done.inputs, function, attributes, done.outputs)

    def expected(
        self,
        inputs: Mapping[str, Any],
        function: Callable[..., Any],
        attributes: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The same before a run; ``outputs`` are those that were asked for by name."""

        def given(value: Any) -> Any:
            return [one.values for one in value] if isinstance(value, list) else None if value is None else value.values

        values = self._inputs(inputs)
        arrays = [given(values[parameter["name"]]) for parameter in self.definition["inputs"]]
        made = function(*arrays, **self._attributes(attributes or {}))
        if isinstance(made, Mapping):
            return dict(made)

        def is_made(output: Mapping[str, Any]) -> bool:
            name = output["name"]
            return output["presence"] != "optional" or name in (outputs or {}) or values.get(name) is not None

        parameters = [output for output in self.definition["outputs"] if is_made(output)]
        is_several = isinstance(made, tuple) or (
            isinstance(made, list) and len(parameters) > 1 and parameters[0]["presence"] != "dynamic"
        )
        results = list(made) if is_several else [made]
        if len(results) > len(parameters):
            names = ", ".join(output["name"] for output in parameters)
            raise check.refuse(
                f"the reference returned {len(results)} results for {len(parameters)} outputs of `{self.op_type}`",
                f"return them in the order {names}, or a dict by name",
            )
        pairs = zip((output["name"] for output in parameters), results)
        return {name: result for name, result in pairs if result is not None}

    def __repr__(self) -> str:
        return f"Operator({str(self.folder)!r}, {self.op_type})"


# -- small things ----------------------------------------------------------------------------------------------------


def _entries(shapes: Any, format: str) -> list[dict[str, Any]]:
    """Outputs as host code is asked about them."""
    return [{"dtype": data_type, "format": format, "shape": list(shape)} for shape, data_type in listed(shapes)]


def _device(device: Device | None, soc: str) -> Any:
    import contextlib

    from superkernel.sim.device import Device

    return Device(soc) if device is None else contextlib.nullcontext(device)


def _unit(soc: str) -> str:
    """The chip as definitions and CMake files name it."""
    lower = soc.lower()
    for name in ("ascend910_93", "ascend910b", "ascend950"):
        if lower.startswith(name):
            return name
    return lower


def _known(what: str, given: Mapping[str, Any], names: Sequence[str], op_type: str) -> None:
    for name in given:
        if name not in names:
            near = _core.nearest(str(name), list(names), 1)
            hint = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(names) or 'none'}"
            raise check.refuse(f"`{op_type}` has no {what} `{str(name)[:80]}`", hint)


def _at(listed: Sequence[str], column: int) -> str:
    """One entry for all, or one for each column."""
    return listed[column] if column < len(listed) else listed[-1] if listed else ""


def _types(value: Any) -> str:
    return str(listed(value)[0].data_type)


def _shaped(given: Any, usual: str) -> Any:
    """(shape, data type), or a list of them."""
    if given is None:
        return None
    if isinstance(given, Tensor):
        return given.shape, given.data_type
    if isinstance(given, list):
        return [_shaped(one, usual) for one in given]
    shape, data_type = given if len(given) == 2 and not isinstance(given[0], int) else (given, usual)
    return tuple(int(size) for size in shape), data_type or usual


def _form(form: str) -> str:
    if form not in ("dynamic", "static"):
        raise check.refuse(f"`form` cannot be `{form[:80]}`", "it is `dynamic` or `static`")
    return form
