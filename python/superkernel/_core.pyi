"""The native core. Not for direct use: the modules beside it are the interface."""

__all__ = ["__version__", "option_table", "parse_options"]

__version__: str

# -- options ---------------------------------------------------------------------------------------------------------

def parse_options(text: str, underscores: bool) -> tuple[dict[str, object], list[str]]: ...
def option_table() -> list[tuple[str, str, str, str]]: ...
