"""The build configuration of the running graph engine; tests change ``CONFIG``."""

CONFIG = {"kernel_meta_parent_dir": "/from/cann", "tir.op_debug_config": ["dump_cce"]}


def get_current_build_config(key):
    return CONFIG[key]
