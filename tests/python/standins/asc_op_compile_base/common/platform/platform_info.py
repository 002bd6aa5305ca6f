"""What the platform is; tests change ``SPEC``."""

SPEC = {"SHORT_SOC_VERSION": "Ascend910B", "ai_core_cnt": "20", "vector_core_cnt": "40"}


def get_soc_spec(key):
    return SPEC[key]
