"""A stand-in for CANN's Python: exactly the names superkernel uses. Tests put it on ``sys.path`` of a subprocess."""
