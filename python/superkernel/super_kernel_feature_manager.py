"""Which features the super kernel and CANN's operator compiler both know, and in which version.

A feature has versions 1, 2, ...; each version has a value. Both sides name the versions they know, the smaller one is
*available*, and its value is *enabled*.
"""

from __future__ import annotations

import threading
from typing import Any

from superkernel import _environment

__all__ = [
    "BaseFeature",
    "SuperKernelFeatureManager",
    "get_features",
    "global_super_kernel_feature_manager",
    "register_feature",
]


class BaseFeature:
    """A feature with versions. Derive from it, then ``register_feature`` the class."""

    def __init__(self, feature_name: str, feature_version: int) -> None:
        self.feature_name = feature_name
        self.feature_version = feature_version

    def get_feature_version_of_value(self, value: Any) -> int:
        """The version from which on ``value`` can be used."""
        raise NotImplementedError(f"{type(self).__name__} must tell the version of a value")

    def get_feature_value_of_version(self, version: int) -> Any:
        """The value a version enables."""
        raise NotImplementedError(f"{type(self).__name__} must tell the value of a version")


class SuperKernelFeatureManager:
    """The features of this process; there is one manager."""

    _instance: SuperKernelFeatureManager | None = None
    _creation = threading.Lock()

    def __new__(cls) -> SuperKernelFeatureManager:
        with cls._creation:
            if cls._instance is None:
                instance = super().__new__(cls)
                instance._lock = threading.RLock()
                instance._features = {}
                instance._available = {}
                instance._enabled = {}
                cls._instance = instance
            return cls._instance

    _lock: threading.RLock
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
                name: min(feature.feature_version, theirs[name])
                for name, feature in self._features.items()
                if isinstance(theirs.get(name), int)
            }
            self._enabled = {
                name: self._features[name].get_feature_value_of_version(version)
                for name, version in self._available.items()
            }

    def set_feature_value(self, feature_name: str, value: Any) -> bool:
        """Enables ``value`` if its version is available; tells whether it was."""
        with self._lock:
            if feature_name not in self._available:
                return False
            needed = self._features[feature_name].get_feature_version_of_value(value)
            if not isinstance(needed, int) or needed > self._available[feature_name]:
                return False
            self._enabled[feature_name] = value
            return True

    def get_feature_value(self, feature_name: str) -> Any:
        """The enabled value; ``None`` for a feature that is not known to both sides."""
        with self._lock:
            return self._enabled.get(feature_name)

    def get_features(self) -> dict[str, int]:
        """Initialises, and tells the available version of every feature."""
        self.init_available_and_enable_features()
        with self._lock:
            return dict(self._available)


#: The manager of this process.
global_super_kernel_feature_manager = SuperKernelFeatureManager()


def register_feature(feature_class: type[BaseFeature]) -> type[BaseFeature]:
    """Adds a feature to the manager of this process; works as a class decorator."""
    return global_super_kernel_feature_manager.register_feature(feature_class)


def get_features() -> dict[str, int]:
    """The available version of every feature both sides know."""
    return global_super_kernel_feature_manager.get_features()
