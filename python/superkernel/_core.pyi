"""The native core. Not for direct use: the modules beside it are the interface."""

from os import PathLike
from pathlib import Path
from typing import Any, Callable, final

__all__ = [
    "KernelDescription",
    "OpDescription",
    "__version__",
    "build",
    "build_op",
    "build_stages",
    "cache_clear",
    "cache_entries",
    "cache_import",
    "cache_stats",
    "check_setting",
    "compare_build",
    "default_cores",
    "default_setting",
    "elf_edit",
    "elf_identity",
    "elf_is_archive",
    "elf_read_archive",
    "elf_section_bytes",
    "elf_sections",
    "elf_split_copies",
    "elf_symbols",
    "elf_text_size",
    "elf_write_archive",
    "generate",
    "nearest",
    "option_table",
    "parse_options",
    "plan",
    "program_text",
    "refresh_log_levels",
    "scope_launch_layout",
    "scope_plan",
    "scope_read",
    "setting_table",
    "sim_arena_attach",
    "sim_arena_create",
    "sim_arena_detach",
    "sim_arena_protect",
    "sim_describe",
    "sim_launch",
    "sim_link",
    "toolchain_facts",
]

_BytesLike = bytes | bytearray | memoryview

__version__: str

# -- support ---------------------------------------------------------------------------------------------------------

def default_cores(soc: str) -> tuple[int, int] | None: ...
def nearest(name: str, candidates: list[str], limit: int) -> list[str]: ...
def refresh_log_levels() -> None: ...

# -- options ---------------------------------------------------------------------------------------------------------

def parse_options(text: str, underscores: bool) -> tuple[dict[str, object], list[str]]: ...
def option_table() -> list[dict[str, Any]]: ...

# -- settings --------------------------------------------------------------------------------------------------------

def setting_table() -> list[dict[str, Any]]: ...
def check_setting(name: str, value: object) -> tuple[bool, Any]: ...
def default_setting(name: str, soc: str) -> tuple[Any, str]: ...

# -- elf -------------------------------------------------------------------------------------------------------------

def elf_identity(object: _BytesLike, /) -> tuple[int, int]: ...
def elf_text_size(object: _BytesLike, /) -> int: ...
def elf_symbols(object: _BytesLike, /) -> list[tuple[str, str, str, str, int | None, int, int, str]]: ...
def elf_sections(object: _BytesLike, /) -> list[tuple[str, int, int, int, int, int, int, int, int]]: ...
def elf_section_bytes(object: _BytesLike, name: str, /) -> bytes | None: ...
def elf_edit(
    object: _BytesLike,
    rename: list[tuple[str, str]],
    localize: list[str],
    keep: list[str] | None,
    strip: list[str],
    drop_sections: list[str],
    dissolve_groups: bool,
    missing_ok: bool,
    /,
) -> bytes: ...
def elf_split_copies(object: _BytesLike, functions: list[str], count: int, /) -> list[bytes]: ...
def elf_is_archive(data: _BytesLike, /) -> bool: ...
def elf_read_archive(data: _BytesLike, /) -> list[tuple[str, bytes]]: ...
def elf_write_archive(members: list[tuple[str, _BytesLike]], /) -> bytes: ...

# -- plan ------------------------------------------------------------------------------------------------------------

def plan(
    kernel_infos: object, kernel_name: object, soc: str, aic_num: int | None = None, aiv_num: int | None = None
) -> dict[str, Any]: ...
def generate(
    kernel_infos: object, kernel_name: object, soc: str, aic_num: int | None = None, aiv_num: int | None = None
) -> tuple[str, list[str]]: ...
def program_text(
    kernel_infos: object, kernel_name: object, soc: str, aic_num: int | None = None, aiv_num: int | None = None
) -> tuple[str, list[str]]: ...

# -- operator builder ------------------------------------------------------------------------------------------------

def build_op(request: dict[str, object], emulation_dir: str, timeout: float | None) -> dict[str, Any]: ...

# -- scope -----------------------------------------------------------------------------------------------------------

def scope_read(data: bytes, compile_results: bool) -> dict[str, Any]: ...
def scope_plan(graph: str, request: dict[str, object]) -> tuple[dict[str, Any], str]: ...
def scope_launch_layout(
    ffts: bool, entries: list[tuple[int, list[str], int | None, list[int], list[int]]], workspace: bool
) -> tuple[list[tuple[int, int | None, int, int]], int | None, int, str]: ...

# -- loader ----------------------------------------------------------------------------------------------------------

@final
class OpDescription:
    @property
    def name(self) -> str: ...
    @property
    def param_offset(self) -> int: ...
    @property
    def param_count(self) -> int | None: ...

@final
class KernelDescription:
    @property
    def name(self) -> str: ...
    @property
    def object(self) -> Path: ...
    @property
    def kernel_type(self) -> str: ...
    @property
    def block_dim(self) -> int | None: ...
    @property
    def is_super_kernel(self) -> bool: ...
    @property
    def functions(self) -> dict[str, str]: ...
    @property
    def ops(self) -> list[OpDescription]: ...
    @property
    def params(self) -> list[str]: ...
    @property
    def tiling_keys(self) -> dict[int, tuple[str, dict[str, str]]]: ...

def sim_describe(
    path: str | PathLike[str],
    bin_path: str | PathLike[str] | None,
    functions: dict[str, str] | None,
    kernel_type: str | None,
    block_dim: int | None,
    soc: str,
) -> KernelDescription: ...

# -- sim -------------------------------------------------------------------------------------------------------------

def sim_link(objects: list[str], output: str, cache: str) -> None: ...
def sim_launch(request: str) -> str: ...
def sim_arena_create(size: int) -> tuple[int, int]: ...
def sim_arena_attach(file: int, address: int, size: int) -> None: ...
def sim_arena_detach(address: int, size: int) -> None: ...
def sim_arena_protect(address: int, size: int, open: bool) -> None: ...

# -- build -----------------------------------------------------------------------------------------------------------

def build(
    kernel_infos: object,
    kernel_name: object,
    settings: dict[str, Any],
    keep: bool,
    rebuild: bool,
    progress: Callable[[str], object] | None,
) -> dict[str, Any]: ...
def compare_build(kernel_infos: object, kernel_name: object, settings: dict[str, Any]) -> tuple[str, list[str]]: ...
def toolchain_facts(settings: dict[str, Any]) -> list[tuple[str, str]]: ...
def build_stages() -> list[str]: ...
def cache_stats(directory: str | PathLike[str], limit: int) -> dict[str, Any]: ...
def cache_clear(directory: str | PathLike[str]) -> int: ...
def cache_entries(directory: str | PathLike[str]) -> list[Path]: ...
def cache_import(directory: str | PathLike[str], limit: int, file: str | PathLike[str]) -> str: ...
