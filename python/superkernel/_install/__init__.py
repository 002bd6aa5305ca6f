"""Which package ``superkernel`` is imported on this machine, and how to make it this one."""
