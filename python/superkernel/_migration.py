"""Where the names of ``tbe.superkernel`` and of AscendC's compile scripts are now: one table.

``make tables`` writes the modules that only pass names on, and the table of docs/migration.md, from it; a name that has
become part of the native core, or is called otherwise, raises an ``ImportError`` with the text that stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, NoReturn

__all__ = ["MODULES", "Module", "moved"]


class Module(NamedTuple):
    """One module of the plan by which super kernels left AscendC."""

    #: What it is about, as its own text says.
    about: str
    #: Names that can be used, each with the module of this package that has it.
    works: Mapping[str, str]
    #: Names that cannot be imported any more, each with what took its place.
    native: Mapping[str, str]


_PARSE = "`parse_super_kernel_options` does all of it; what an option is, is a row of a table in the core"
_PRINTED = "the core prints the whole C++: `superkernel.generate(kernel_infos, name)` returns it"
_BUILT = "`superkernel.compile` builds the kernel in memory; `superkernel.compile_kernel` also returns what was built"
_FLAGS = "the core passes them to the compiler; the option `compile-options` adds others"
_HIDDEN = "`superkernel.compile` does it in memory; for objects of your own: `superkernel.elf.localize_symbols`"
_COPIES = "`superkernel.compile` makes the copies (option `split-mode`); for objects: `superkernel.elf.split_copies`"

_CONSTANTS = "super_kernel_constants"
_SUPER = {"SuperOperatorInfos": "super_kernel_op_infos"}
_SUB = {"SubOperatorInfos": "super_kernel_sub_op_infos"}

MODULES: Mapping[str, Module] = {
    "super_kernel": Module(
        "The entry the graph engine calls",
        {"compile": "super_kernel"},
        {"ascendc_super_kernel_plus": "the entry is called `compile`, and takes the same arguments"},
    ),
    "super_kernel_op_infos": Module(
        "What is known of a super kernel",
        _SUPER,
        {"split_dynamic_o_in_super_kernel": _COPIES},
    ),
    "super_kernel_sub_op_infos": Module("What is known of an op of a super kernel", _SUB, {}),
    "super_kernel_utils": Module(
        "What code around super kernels needs of CANN",
        {
            "ERR_CODE": _CONSTANTS,
            "get_compile_config_info": "super_kernel_utils",
            "get_soc_version": "super_kernel_utils",
            "is_support_super_kernel": "super_kernel_utils",
            "super_kernel_raise_err": "super_kernel_utils",
        },
        {
            "CommonUtility": "of it there is `is_support_super_kernel`, a function of this module",
            "TBE_DEFAULT_PYTHON_ERROR_CODE": "it is `ERR_CODE` here",
            "get_current_build_config": "it is `get_compile_config_info(name)` here",
            "get_soc_spec": "it is `get_soc_version()` here",
            "raise_tbe_python_err": "it is `super_kernel_raise_err(message)` here",
        },
    ),
    "super_kernel_types": Module(
        "The kinds and modes of super kernels and their ops",
        dict.fromkeys(
            (
                "STR_TO_SUPER_TASK_TYPE",
                "SubOperatorType",
                "SuperKernelDataCacheMode",
                "SuperKernelDebugDcciAllMode",
                "SuperKernelDebugSyncAllMode",
                "SuperKernelEarlyStartMode",
                "SuperKernelFeedSyncAllMode",
                "SuperKernelLinkMode",
                "SuperKernelPreLoadMode",
                "SuperKernelProfilingMode",
                "SuperKernelStreamFusionMode",
            ),
            _CONSTANTS,
        ),
        {"gen_super_dump_code": _PRINTED},
    ),
    "super_kernel_options": Module(
        "The option string of a super kernel",
        {"parse_super_kernel_options": "super_kernel_option_parse"},
        dict.fromkeys(
            (
                "OptionParser",
                "ParserFactory",
                "CodeTextAlignParser",
                "EunmParser",
                "EnumParser",
                "BinaryParser",
                "NumberParser",
                "NonEmptyParser",
                "setup_super_kernel_option_parsers",
            ),
            _PARSE,
        ),
    ),
    "super_kernel_compile_base": Module(
        "Names of symbols and alignment of code",
        {},
        {
            "gen_symbol_rename_file": "`superkernel.compile` renames in memory; for objects of your own: "
            "`superkernel.elf.rename_symbols`",
            "gen_func_align_attribute": f"the option `func-align` says the alignment, and {_PRINTED}",
        },
    ),
    "super_kernel_gen_entry_code": Module(
        "The C++ of a super kernel",
        {},
        {
            "super_kernel_gen_entry": _PRINTED,
            "gen_spk_kernel_call": _PRINTED,
            "split_spk_kernel_objs": _COPIES,
            "gen_file_header": _PRINTED,
            "gen_system_run_cfg": _PRINTED,
        },
    ),
    "super_kernel_compile": Module(
        "From C++ and sub-kernels to the kernel file",
        {},
        {
            "compile_super_kernel": _BUILT,
            "gen_super_kernel_compile_info": "`superkernel.plan(kernel_infos, name)` returns what a compile would do",
            "gen_sub_super_kernel_early_start_compile_options": _FLAGS,
            "gen_sub_super_kernel_compile_options": _FLAGS,
            "split_sub_kernel_obbjs": _COPIES,
            "split_sub_kernel_objs": _COPIES,
            "split_kernel_arch_str": _COPIES,
            "split_kernel": _COPIES,
            "gen_super_kernel_link_obj_sequence": _BUILT,
            "localization_sub_op_func_sym": _HIDDEN,
            "localize_symbol_of_sk": _HIDDEN,
        },
    ),
    "sub_operator_infos": Module("What is known of an op of a super kernel", _SUB, {}),
    "super_operator_infos": Module("What is known of a super kernel", _SUPER, {}),
}


def moved(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of the table: it says what took the place of a name that is gone."""

    def missing(name: str) -> NoReturn:
        instead = MODULES[module.rpartition(".")[2]].native.get(name)
        if instead is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise ImportError(f"`{module}.{name}` is no longer available: {instead} (docs/migration.md)", name=module)

    return missing
