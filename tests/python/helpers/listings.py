"""The listings that follow from the tables of the native core: options, settings, statuses, steps, instructions, ...

A listing stands in its file between two comment lines, ``table: <key> (...)`` and ``end of table``. What stands there
is written by ``make tables`` and never by hand.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from pathlib import Path

from kernels.planted import PLANTED
from superkernel import _core
from superkernel._migration import MODULES
from superkernel.cli._variables import variables

ROOT = Path(__file__).parents[3]


def options_table() -> Iterable[str]:
    """The options, for the README."""
    yield "| option | value | default | effect |"
    yield "|---|---|---|---|"
    for row in _core.option_table():
        default = f"`{row['default']}`" if row["default"] else ""
        yield f"| `{row['name']}` | {row['accepts']} | {default} | {row['effect']} |"


def switches() -> list[tuple[str, str, list[str]]]:
    """The enum of every option that is a switch: its name, what the option does, its members."""
    found = []
    for row in _core.option_table():
        if row["samples"] == ["0", "1"]:
            values = [_core.parse_options(f"{row['name']}={sample}", False)[0][row["name"]] for sample in ("0", "1")]
            classes, members = zip(*(tuple(value) for value in values))  # type: ignore[call-overload]
            found.append((classes[0], f"``{row['name']}``: {row['effect']}.", list(members)))
    return found


def switch_enums() -> Iterable[str]:
    """The enums of the switches, as Python."""
    for name, text, members in switches():
        yield from ("", "", f"class {name}(Enum):", f'    """{text}"""', "")
        yield from (f"    {member} = {number}" for number, member in enumerate(members))
    yield from ("", "")


_CANN_CALLS = {"soc": "get_soc_spec", "cores": "get_soc_spec", "build config": "get_current_build_config"}


def settings_table() -> Iterable[str]:
    """The settings, for the documents."""
    yield "| setting | value | from CANN | environment variable | default |"
    yield "|---|---|---|---|---|"
    for row in _core.setting_table():
        cann = f'`{_CANN_CALLS[row["cann"][0]]}("{row["cann"][1]}")`' if row["cann"] else ""
        variable = f"`{row['variable']}`" if row["variable"] else ""
        yield f"| `{row['name']}` | {row['meaning']} | {cann} | {variable} | {row['default']} |"


def variables_table() -> Iterable[str]:
    """The environment variables, for the documents."""
    yield "| variable | what it does | without it |"
    yield "|---|---|---|"
    for variable in variables():
        yield f"| `{variable.name}` | {variable.meaning} | {variable.default} |"


def setting_arguments() -> Iterable[str]:
    """The arguments of ``configure``."""
    for row in _core.setting_table():
        yield f"{row['name']}: {row['type']} | None = _KEEP,"


_NUMBERED = {"op": ("SkOp", "uint16_t"), "type": ("SkType", "uint8_t"), "register": ("SkRegister", "uint32_t")}


def instruction_numbers() -> Iterable[str]:
    """The numbers by which kernel code names instructions, types and registers, as C++."""
    for number, (what, rows) in enumerate(_core.instruction_numbers()):
        name, kind = _NUMBERED[what]
        yield from ([""] if number else [])
        yield f"enum {name} : {kind} {{"
        # Instructions are called as they are written, the others are constants.
        yield from (f"    SK_{what.upper()}_{row if what == 'op' else row.upper()} = {value}," for row, value in rows)
        yield "};"


def memory_sizes() -> Iterable[str]:
    """Sizes of a core's memories in the order in which CPU mode numbers them, as C++."""
    sizes = {name: size for name, size, _ in _core.memories()}
    order = ("GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB")
    yield f"constexpr uint64_t sizes[] = {{{', '.join(f'{sizes[name]}' for name in order)}}};"


def memory_rates() -> Iterable[str]:
    """Bytes per cycle, of the model that prices instructions and not measured, as C++."""
    rates = {name: rate for name, _, rate in _core.memories()}
    yield f"bytesPerCycle = isDevice ? {rates['GM']} : {rates['UB']};"


def words(kind: str) -> list[tuple[str, str, str | None]]:
    """Name and meaning of every word of a kind, and the id of a status."""
    rows = _core.documented_words()
    return [(name, meaning.removesuffix("."), error) for what, name, meaning, error in rows if what == kind]


def statuses_table() -> Iterable[str]:
    """How a run ends, for the documents."""
    yield "| status | id | what it means |"
    yield "|---|---|---|"
    yield from (f"| `{name}` | {error or ''} | {meaning} |" for name, meaning, error in words("status"))


def tools_table() -> Iterable[str]:
    """What can be looked for, for the documents."""
    yield "| tool | finds |"
    yield "|---|---|"
    yield from (f"| `{name}` | {meaning} |" for name, meaning, _ in words("tool"))


def tool_members() -> Iterable[str]:
    """The same as members of an enum, as Python."""
    for name, meaning, _ in words("tool"):
        yield from (f"#: {meaning}.", f'{name.upper()} = "{name}"')


def steps_table() -> Iterable[str]:
    """The steps of a program, for the documents."""
    yield "| step | what it does |"
    yield "|---|---|"
    yield from (f"| `{name}` | {meaning} |" for name, meaning, _ in words("step"))


def planted_mistakes() -> Iterable[str]:
    """The mistakes that tests plant in kernels, with what finds them."""
    yield "| kind | mistake | tool | id | command |"
    yield "|---|---|---|---|---|"
    for planted in PLANTED:
        tool = planted.tool
        command = "superkernel run ops.json" + (f" --tool {tool}" if tool == "autosync" else "")
        yield f"| {planted.kind} | {planted.what} | `{tool}` | {planted.error_id} | `{command}` |"


def migration_table() -> Iterable[str]:
    """Where names of the replaced software are now."""
    yield "| module | name | now |"
    yield "|---|---|---|"
    for module, row in MODULES.items():
        for name, home in row.works.items():
            yield f"| `{module}` | `{name}` | {'here' if home == module else f'the same as `{home}.{name}`'} |"
        for name, instead in row.native.items():
            yield f"| `{module}` | `{name}` | ImportError: {instead} |"


def recorded_ratios() -> Iterable[str]:
    """The ratios that `make bench` compares with."""
    yield "| ratio | value | better |"
    yield "|---|---|---|"
    for name, row in json.loads((ROOT / "benches" / "recorded.json").read_text()).items():
        value = f"{row['value']:,.0f}" if row["value"] >= 100 else f"{row['value']:.2g}"
        yield f"| {name} | {value} | {row['better']} |"


def passed_on(module: str) -> Iterable[str]:
    """A module that only passes names on, as Python."""
    works, native = MODULES[module].works, MODULES[module].native
    homes = sorted(set(works.values()))
    if native:
        yield "from superkernel._migration import moved"
    for home in homes:
        yield from _listed(f"from superkernel.{home} import ", "(", sorted(works), ")")
    yield ""
    yield from _listed(
        "__all__: list[str] = " if not works else "__all__ = ", "[", [f'"{n}"' for n in sorted(works)], "]"
    )
    if native:
        yield from ("", "__getattr__ = moved(__name__)")


def _listed(start: str, opening: str, words: list[str], closing: str) -> Iterable[str]:
    """Words on one line, or on a line each."""
    line = start + (", ".join(words) if opening == "(" else f"{opening}{', '.join(words)}{closing}")
    if len(line) <= 120:
        yield line
        return
    yield f"{start}{opening}"
    yield from (f"    {word}," for word in words)
    yield closing


#: The modules without code of their own.
PASSED_ON = [module for module, row in MODULES.items() if module not in {*row.works.values()}]

#: (file, key): the lines between the comments.
LISTINGS = {
    ("README.md", "options"): options_table,
    ("docs/configuration.md", "settings"): settings_table,
    ("docs/configuration.md", "variables"): variables_table,
    ("docs/migration.md", "names"): migration_table,
    ("docs/performance.md", "recorded"): recorded_ratios,
    ("docs/simulator.md", "mistakes"): planted_mistakes,
    ("docs/simulator.md", "statuses"): statuses_table,
    ("docs/simulator.md", "tools"): tools_table,
    ("docs/device-program.md", "steps"): steps_table,
    ("python/superkernel/sim/variation.py", "tools"): tool_members,
    ("python/superkernel/super_kernel_constants.py", "switches"): switch_enums,
    ("python/superkernel/_config.py", "settings"): setting_arguments,
    ("python/superkernel/include/sk_core/issue.h", "numbers"): instruction_numbers,
    ("python/superkernel/include/sk_cpu/definitions.h", "memories"): memory_sizes,
    ("python/superkernel/include/sk_program/platform_definitions.h", "rates"): memory_rates,
    **{(f"python/superkernel/{module}.py", "names"): functools.partial(passed_on, module) for module in PASSED_ON},
}


def check(file: str, key: str) -> None:
    """Compares a listing with the table; ``SUPERKERNEL_BLESS=1`` writes it anew."""
    path = ROOT / file
    lines = path.read_text().split("\n")
    starts = [number for number, line in enumerate(lines) if f"table: {key} (" in line]
    assert len(starts) == 1, f"{file} has {len(starts)} places for the table `{key}`"
    start = starts[0] + 1
    end = next(number for number in range(start, len(lines)) if "end of table" in lines[number])
    indent = " " * (len(lines[start - 1]) - len(lines[start - 1].lstrip()))
    wanted = [f"{indent}{line}".rstrip() for line in LISTINGS[file, key]()]
    if os.environ.get("SUPERKERNEL_BLESS"):
        path.write_text("\n".join([*lines[:start], *wanted, *lines[end:]]))
    else:
        assert lines[start:end] == wanted, f"{file} does not follow the table; `make tables` rewrites it"
