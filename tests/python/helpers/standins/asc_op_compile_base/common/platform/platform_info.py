"""What the platform is. As in CANN, the import itself selects a SoC that nobody asked for.

``set_soc`` is a user's word. Tests may also change ``SPEC``.
"""

SPEC = {"SHORT_SOC_VERSION": "Ascend310B", "ai_core_cnt": "1", "vector_core_cnt": "1"}


def set_soc(short_version, cube_cores, vector_cores):
    SPEC.update(SHORT_SOC_VERSION=short_version, ai_core_cnt=str(cube_cores), vector_core_cnt=str(vector_cores))


def get_soc_spec(key):
    return SPEC[key]
