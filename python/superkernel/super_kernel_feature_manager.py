"""Which features the super kernel and CANN's operator compiler both know, and in which version.

A feature has versions 1, 2, ...; each version has a value. Both sides name the versions they know, the smaller one is
*available*, and its value is *enabled*.
"""

from __future__ import annotations

from _thread import RLock
from abc import ABC, abstractmethod
from typing import Any, Callable, TypeVar, overload

from superkernel import _environment
from superkernel._fork import new_lock

__all__ = [
    "BaseFeature",
    "SuperKernelFeatureManager",
    "get_features",
    "global_super_kernel_feature_manager",
    "register_feature",
]


class BaseFeature(ABC):
    """A feature with versions. Derive from it, then ``register_feature`` the class."""

    def __init__(self, feature_name: str, feature_version: int) -> None:
        _check_type("feature_name", feature_name, str)
        _check_type("feature_version", feature_version, int)
        self.feature_name = feature_name
        self.feature_version = feature_version

    def get_intersection_version(self, others_value: int) -> int:
        """The newest version that this side and one with version ``others_value`` both know."""
        _check_type("others_value", others_value, int)
        return min(self.feature_version, others_value)

    @abstractmethod
    def get_feature_version_of_value(self, feature_value: Any) -> int:
        """The version from which on ``feature_value`` can be used."""

    @abstractmethod
    def get_feature_value_of_version(self, feature_version: int) -> Any:
        """The value a version enables."""


def _check_type(name: str, value: object, wanted: type) -> None:
    # `True` is an `int` to Python, but no version.
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise TypeError(f"`{name}` must be of type {wanted.__name__}, not {type(value).__name__}")


class SuperKernelFeatureManager:
    """The features of this process; there is one manager."""

    _instance: SuperKernelFeatureManager | None = None
    _creation = new_lock()

    def __new__(cls) -> SuperKernelFeatureManager:
        with cls._creation:
            if cls._instance is None:
                instance = super().__new__(cls)
                instance._lock = new_lock()
                instance._features = {}
                instance._available = {}
                instance._enabled = {}
                cls._instance = instance
            return cls._instance

    _lock: RLock
    _features: dict[str, BaseFeature]
    _available: dict[str, int]
    _enabled: dict[str, Any]

    def register_feature(self, feature_class: type[BaseFeature]) -> type[BaseFeature]:
        """Adds a feature; refuses what is not a ``BaseFeature`` and a name that is taken (``ValueError``)."""
        if not (isinstance(feature_class, type) and issubclass(feature_class, BaseFeature)):
            raise ValueError(f"a feature must be a class derived from BaseFeature, not {feature_class!r}")
        feature = feature_class()  # type: ignore[call-arg]  # derived classes know their name and version
        with self._lock:
            if feature.feature_name in self._features:
                raise ValueError(f"feature `{feature.feature_name}` is already registered")
            self._features[feature.feature_name] = feature
        return feature_class

    def unregister_feature(self, feature_name: str) -> None:
        """Removes a feature; ``KeyError`` for one that is not there."""
        with self._lock:
            if feature_name not in self._features:
                raise KeyError(f"feature `{feature_name}` is not registered")
            del self._features[feature_name]
            self._available.pop(feature_name, None)
            self._enabled.pop(feature_name, None)

    def init_available_and_enable_features(self) -> None:
        """Asks CANN for its versions, anew; without CANN nothing is available."""
        theirs = _environment.cann_features()
        with self._lock:
            self._available = {
                name: feature.get_intersection_version(theirs[name])
                for name, feature in self._features.items()
                if isinstance(theirs.get(name), int) and not isinstance(theirs[name], bool)
            }
            self._enabled = {
                name: self._features[name].get_feature_value_of_version(version)
                for name, version in self._available.items()
            }

    def check_feature_valid(self, feature_name: str, feature_value: Any) -> bool:
        """Is the version that ``feature_value`` needs available? No for a feature that is not known to both sides."""
        with self._lock:
            if feature_name not in self._available:
                return False
            needed = self._features[feature_name].get_feature_version_of_value(feature_value)
            return isinstance(needed, int) and needed <= self._available[feature_name]

    def set_feature_value(self, feature_name: str, feature_value: Any) -> bool:
        """Enables ``feature_value`` if its version is available; tells whether it was."""
        with self._lock:
            if not self.check_feature_valid(feature_name, feature_value):
                return False
            self._enabled[feature_name] = feature_value
            return True

    def get_feature_value(self, feature_name: str) -> Any:
        """The enabled value; ``None`` for a feature that is not known to both sides."""
        with self._lock:
            return self._enabled.get(feature_name)

    def get_available_feature_versions(self) -> dict[str, int]:
        """The available version of every feature, as the last initialisation found them."""
        with self._lock:
            return dict(self._available)

    def get_features(self) -> dict[str, int]:
        """Initialises, and tells the available version of every feature."""
        self.init_available_and_enable_features()
        return self.get_available_feature_versions()


#: The manager of this process.
global_super_kernel_feature_manager = SuperKernelFeatureManager()

_Feature = TypeVar("_Feature", bound=type[BaseFeature])


@overload
def register_feature(target: SuperKernelFeatureManager) -> Callable[[_Feature], _Feature]: ...
@overload
def register_feature(target: _Feature) -> _Feature: ...
def register_feature(target: Any) -> Any:
    """A class decorator that adds a feature: ``@register_feature``, or ``@register_feature(manager)``."""
    if isinstance(target, SuperKernelFeatureManager):
        return target.register_feature
    return global_super_kernel_feature_manager.register_feature(target)


def get_features() -> dict[str, int]:
    """The available version of every feature both sides know."""
    return global_super_kernel_feature_manager.get_features()
