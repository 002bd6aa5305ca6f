"""The feature manager, in both worlds."""

from __future__ import annotations

import pytest
from interpreter import STANDINS, output_of
from superkernel import super_kernel_feature_manager as manager_module
from superkernel.super_kernel_feature_manager import (
    BaseFeature,
    SuperKernelFeatureManager,
    get_features,
    global_super_kernel_feature_manager,
    register_feature,
)


class Greeting(BaseFeature):
    """Version 1 says hello, version 2 also hi, version 3 also hey."""

    VALUES = ("hello", "hi", "hey")

    def __init__(self):
        super().__init__("greeting", 3)

    def get_feature_version_of_value(self, value):
        return self.VALUES.index(value) + 1

    def get_feature_value_of_version(self, version):
        return self.VALUES[version - 1]


@pytest.fixture
def greeting():
    register_feature(Greeting)
    yield
    global_super_kernel_feature_manager.unregister_feature("greeting")


def test_there_is_one_manager():
    assert SuperKernelFeatureManager() is SuperKernelFeatureManager()
    assert SuperKernelFeatureManager() is global_super_kernel_feature_manager


def test_without_cann_nothing_is_available(greeting):
    assert get_features() == {}
    assert global_super_kernel_feature_manager.get_feature_value("greeting") is None
    assert global_super_kernel_feature_manager.set_feature_value("greeting", "hello") is False


def test_registering_refuses_what_is_no_feature():
    class Unrelated:
        pass

    for wrong in (Unrelated, Greeting(), "greeting", None, int):
        with pytest.raises(ValueError, match="must be a class derived from BaseFeature"):
            register_feature(wrong)


def test_registering_refuses_a_name_that_is_taken(greeting):
    with pytest.raises(ValueError, match="feature `greeting` is already registered"):
        register_feature(Greeting)


def test_unregistering_needs_a_registered_feature():
    with pytest.raises(KeyError, match="feature `nothing` is not registered"):
        global_super_kernel_feature_manager.unregister_feature("nothing")


def test_registering_is_a_decorator():
    assert register_feature(Greeting) is Greeting
    global_super_kernel_feature_manager.unregister_feature("greeting")


def test_registering_is_a_decorator_with_a_manager_too():
    @register_feature(global_super_kernel_feature_manager)
    class Farewell(Greeting):
        def __init__(self):
            BaseFeature.__init__(self, "farewell", 1)

    assert issubclass(Farewell, BaseFeature)
    with pytest.raises(ValueError, match="feature `farewell` is already registered"):
        register_feature(Farewell)
    global_super_kernel_feature_manager.unregister_feature("farewell")
    with pytest.raises(ValueError, match="must be a class derived from BaseFeature"):
        register_feature(global_super_kernel_feature_manager)(int)


def test_a_feature_s_name_and_version_have_types():
    class Named(Greeting):
        def __init__(self, *values):
            BaseFeature.__init__(self, *values)

    for wrong, message in (
        ((1, 1), "`feature_name` must be of type str, not int"),
        (("x", "1"), "`feature_version` must be of type int, not str"),
        (("x", 1.0), "`feature_version` must be of type int, not float"),
        (("x", True), "`feature_version` must be of type int, not bool"),
    ):
        with pytest.raises(TypeError, match=message):
            Named(*wrong)
    with pytest.raises(TypeError, match="`others_value` must be of type int, not str"):
        Greeting().get_intersection_version("2")


def test_a_feature_must_tell_its_values_and_versions():
    class Silent(BaseFeature):
        def __init__(self):
            super().__init__("silent", 1)

    with pytest.raises(TypeError, match="abstract"):
        register_feature(Silent)


def test_the_intersection_is_the_smaller_version():
    assert [Greeting().get_intersection_version(version) for version in (1, 3, 9)] == [1, 3, 3]


def test_the_public_names():
    assert set(manager_module.__all__) == {
        "BaseFeature",
        "SuperKernelFeatureManager",
        "register_feature",
        "global_super_kernel_feature_manager",
        "get_features",
    }


FEATURES = """
from superkernel.super_kernel_feature_manager import *
from superkernel.super_kernel_feature_manager import global_super_kernel_feature_manager as manager
from asc_op_compile_base.asc_op_compiler import ascendc_kernel_feature_manager as cann

def feature(name, version):
    class Feature(BaseFeature):
        def __init__(self):
            super().__init__(name, version)
        def get_feature_version_of_value(self, value):
            return int(value[1:])
        def get_feature_value_of_version(self, version):
            return f"v{version}"
    register_feature(Feature)

feature("both", 4)
feature("only-here", 4)
feature("newer-in-cann", 3)
"""


def with_cann(code: str) -> list[str]:
    return output_of(FEATURES + code, path=[STANDINS]).splitlines()


def test_the_smaller_version_is_available_and_enabled():
    assert with_cann(
        """
print(get_features())
for name in ("both", "newer-in-cann", "only-here", "only-cann"):
    print(name, manager.get_feature_value(name))
"""
    ) == ["{'both': 2, 'newer-in-cann': 3}", "both v2", "newer-in-cann v3", "only-here None", "only-cann None"]


def test_a_value_is_taken_only_if_its_version_is_available():
    assert with_cann(
        """
manager.init_available_and_enable_features()
for name, value in (("both", "v1"), ("both", "v3"), ("only-here", "v1"), ("nothing", "v1")):
    print(manager.set_feature_value(name, value), manager.get_feature_value(name))
"""
    ) == ["True v1", "False v1", "False None", "False None"]


def test_a_value_can_be_checked_without_taking_it():
    assert with_cann(
        """
print(manager.get_available_feature_versions(), manager.check_feature_valid("both", "v1"))
manager.init_available_and_enable_features()
print(manager.get_available_feature_versions())
for name, value in (("both", "v2"), ("both", "v3"), ("only-here", "v1"), ("nothing", "v1")):
    print(manager.check_feature_valid(name, value), end=" ")
print(manager.get_feature_value("both"))
manager.get_available_feature_versions()["both"] = 99
print(manager.get_available_feature_versions()["both"])
"""
    ) == ["{} False", "{'both': 2, 'newer-in-cann': 3}", "True False False False v2", "2"]


def test_cann_is_asked_anew():
    assert with_cann(
        """
print(get_features()["both"])
cann.FEATURES["both"] = 3
print(get_features()["both"])
"""
    ) == ["2", "3"]


@pytest.mark.parametrize(
    "broken", ["raise OSError", "return 5", "return None", "return {'both': 'x'}", "return {'both': True}"]
)
def test_a_broken_cann_has_no_features(broken):
    assert with_cann(
        f"""
def get_features_of_cann():
    {broken}
cann.get_features = get_features_of_cann
print(get_features())
"""
    ) == ["{}"]
