"""The exception every failure of this package is."""

from __future__ import annotations

__all__ = ["SuperKernelError", "make_error"]

ERROR_CODE = "EB0500"


class SuperKernelError(RuntimeError):
    """A call failed; ``errorinfo`` tells code, stable id, message and what to do."""

    def __init__(self, errorinfo: dict[str, str]) -> None:
        super().__init__(errorinfo["message"])
        self.errorinfo = errorinfo


def make_error(error_id: str, message: str, solution: str) -> SuperKernelError:
    """The exception for one error of the native core."""
    return SuperKernelError(
        {
            "errCode": ERROR_CODE,
            "errId": error_id,
            "message": message,
            "errClass": "",
            "errPcause": "",
            "errSolution": solution,
        }
    )
