"""The native core. Not for direct use: the modules beside it are the interface."""

__all__ = [
    "__version__",
    "default_cores",
    "nearest",
    "option_table",
    "parse_options",
    "refresh_log_levels",
]

__version__: str

# -- support ---------------------------------------------------------------------------------------------------------

def default_cores(soc: str) -> tuple[int, int] | None: ...
def nearest(name: str, candidates: list[str], limit: int) -> list[str]: ...
def refresh_log_levels() -> None: ...

# -- options ---------------------------------------------------------------------------------------------------------

def parse_options(text: str, underscores: bool) -> tuple[dict[str, object], list[str]]: ...
def option_table() -> list[tuple[str, str, str, str]]: ...
