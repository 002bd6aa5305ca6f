"""CANN's way of raising."""


class TBEPythonError(RuntimeError):
    def __init__(self, errorinfo):
        super().__init__(errorinfo)
        self.errorinfo = errorinfo
        self.logged = True


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
