"""Reading ``kernel_infos`` from a file."""

from __future__ import annotations

import json
import sys
from typing import Any


def read_json(path: str) -> Any:
    """The content of a JSON file; ``-`` is standard input."""
    from superkernel._errors import make_error

    def refuse(problem: str) -> Exception:
        return make_error("SK0014", f"`{path}` is not JSON: {problem}", "correct the file")

    try:
        return json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise refuse(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except UnicodeDecodeError as error:
        raise refuse(f"no UTF-8 text at byte {error.start}") from None
    except RecursionError:
        raise refuse("nested too deeply") from None
    except ValueError as error:
        # Python limits how long a number may be.
        raise refuse(str(error)) from None


def _read(path: str) -> str:
    from superkernel._errors import make_error

    try:
        if path == "-":
            return sys.stdin.buffer.read().decode()
        with open(path, "rb") as file:
            return file.read().decode()
    except OSError as error:
        raise make_error(
            "SK0001",
            f"cannot read `{path}`: {error.strerror or error}",
            "check that the path exists and that this user may access it",
        ) from None
