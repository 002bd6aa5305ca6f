"""A fixture for tests of kernels: ``superkernel_gate`` checks a kernel as ``superkernel run`` does.

pytest finds it where the package is installed; nothing needs to be imported. Nothing else is loaded until it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from superkernel.sim import Device, Verdict

__all__ = ["Gate", "superkernel_gate"]


class Gate:
    """Checks kernels on a simulated device of its own; a test fails where something is found, or not looked at."""

    def __init__(self, folder: Any, seeds: int | None, tools: str | None) -> None:
        self._folder = folder
        self._seeds, self._tools = seeds, tools
        self._device: Device | None = None
        self._built = 0

    @property
    def device(self) -> Device:
        """The device that kernels are loaded on: for buffers that tests want to look at."""
        from superkernel.sim import Device

        if self._device is None:
            self._device = Device()
        return self._device

    def __call__(self, kernel: Any, args: Any, *, allow_unchecked: Iterable[str] = (), **options: Any) -> Verdict:
        """Checks a kernel: one that is loaded, the path of its JSON, or ``kernel_infos`` with its ``op_list``.

        ``options`` are those of :meth:`superkernel.sim.Kernel.check`; ``allow_unchecked`` names what need not be
        looked at (tools, or ``results``).
        """
        loaded = self._loaded(kernel)
        if self._seeds is not None:
            options["seeds"] = self._seeds
        if self._tools is not None:
            options["tools"] = self._tools
        verdict: Verdict = loaded.check(args, **options)
        refused = verdict.not_allowed(frozenset(allow_unchecked))
        if not verdict.ok or refused:
            pytest.fail(f"{verdict}\n{_again(verdict, refused)}", pytrace=False)
        return verdict

    def _loaded(self, kernel: Any) -> Any:
        import superkernel
        from superkernel.sim import Kernel

        if isinstance(kernel, Kernel):
            return kernel
        if not isinstance(kernel, dict):
            return self.device.load(kernel)
        self._built += 1
        name = f"te_superkernel_gate{self._built}"
        with superkernel.configure(toolchain="host", kernel_meta_parent_dir=self._folder, soc=self.device.soc):
            superkernel.compile(kernel, name)
        return self.device.load(f"{self._folder}/kernel_meta/{name}.json")

    def close(self) -> None:
        """Gives the device back."""
        if self._device is not None:
            self._device.close()


def _again(verdict: Verdict, refused: dict[str, str]) -> str:
    """How to see it again."""
    found = next((finding for finding in verdict.findings if finding.repeatable), None)
    if found is None:
        return f"allow_unchecked={sorted(refused)} accepts what could not be checked" if refused else ""
    tools = f', tools="{",".join(map(str, found.again_with))}"' if found.again_with else ""
    return f"repeat: seeds=1, first_seed={found.variation.seed}{tools}; `superkernel explain {found.id}`"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options by which a whole run of tests looks longer, or for something else."""
    group = parser.getgroup("superkernel")
    group.addoption("--superkernel-seeds", type=int, metavar="N", help="seeds of every `superkernel_gate`")
    group.addoption("--superkernel-tools", metavar="NAMES", help="what every `superkernel_gate` looks for")


@pytest.fixture
def superkernel_gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """Checks a kernel in many orders and all modes of the simulator: ``superkernel_gate(kernel, args, seeds=40)``."""
    config = request.config
    gate = Gate(
        tmp_path_factory.mktemp("superkernel"),
        config.getoption("--superkernel-seeds", None),
        config.getoption("--superkernel-tools", None),
    )
    yield gate
    gate.close()
