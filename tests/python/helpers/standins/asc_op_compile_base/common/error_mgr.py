"""CANN's way of raising: the exception's arguments are the parts of its text, and the text is a line per part."""

PARTS = ("errClass", "errCode", "message", "errPcause", "errSolution")


class TBEPythonError(RuntimeError):
    def __init__(self, errorinfo):
        super().__init__()
        self.args = tuple(errorinfo[key] for key in ("errCode", "errClass", "errPcause", "errSolution", "message"))
        self.errorinfo = errorinfo
        self.made_by_cann = True

    def __str__(self):
        return "".join(f"\n[{key}:{self.errorinfo.get(key) or 'N/A'}]" for key in PARTS)


def raise_tbe_python_err(err_code, message):
    raise TBEPythonError(
        {
            "errCode": err_code,
            "message": message,
            "errClass": "Compile Error",
            "errPcause": "N/A",
            "errSolution": "N/A",
        }
    )
