"""The way into the distribution ``superkernel-rs`` that no other package called ``superkernel`` can stand in.

CANN's toolkits bring a package of that name and put it in front of the installed ones (``PYTHONPATH``). The commands
start here, and use the package ``superkernel`` that was installed with them, whatever ``import superkernel`` finds.
"""
