"""Building super kernels on other machines, through any ``concurrent.futures.Executor``.

A task carries everything: the op list, the settings that decide about the result, the sub-kernels' files by content.
The worker builds in a folder of its own with its own tools and sends back one entry of its cache: object, description
and the digest of everything they depend on, its tools included. The caller checks the entry, takes it into a cache of
its own, and then builds as ever: it finds the entry if its own tools would have made the same, and publishes it. So
nothing half done is ever seen, and a worker with other tools costs time but never a wrong kernel.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor
from pathlib import Path
from typing import Any

import superkernel
from superkernel import _core
from superkernel._errors import SuperKernelError
from superkernel._fork import imported
from superkernel._logging import logger
from superkernel._scratch import ScratchFolder

__all__ = ["Remote", "connect"]

#: A worker may be killed, once or twice.
_ATTEMPTS = 3
_PATHS = ("json_path", "bin_path")


def build_entry(
    kernel_infos: dict[str, Any], kernel_name: str, settings: dict[str, Any], contents: dict[str, bytes]
) -> bytes:
    """On a worker: builds a kernel of files that came along; the entry of it for the caller's cache.

    ``kernel_infos`` names files by the digest of their content, ``contents`` has them.
    """
    with ScratchFolder("remote") as folder:
        for digest, content in contents.items():
            (Path(folder) / digest).write_bytes(content)
        infos = _with_paths(kernel_infos, lambda digest: os.path.join(folder, digest))
        cache = os.path.join(folder, "cache")
        with superkernel.configure(**{**settings, "kernel_meta_parent_dir": folder, "cache_dir": cache}):
            superkernel.compile(infos, kernel_name)
        return Path(_core.cache_entries(cache)[-1]).read_bytes()


def _with_paths(infos: dict[str, Any], change: Any) -> dict[str, Any]:
    ops = [{**op, **{key: change(op[key]) for key in _PATHS if op.get(key)}} for op in infos["op_list"]]
    return {**infos, "op_list": ops}


class Remote:
    """An executor that builds, and what has been sent to it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        # Dask keeps what is sent by its content, once per worker.
        self._client = getattr(executor, "_client", None)
        self._sent: dict[str, Any] = {}

    def entry(self, kernel_infos: dict[str, Any], kernel_name: str, settings: dict[str, Any]) -> bytes | None:
        """Has a kernel built elsewhere with ``settings``; the entry of it for a cache.

        An error of the build itself is raised as it would be here. Workers that die are replaced as far as the
        executor can; where it cannot, or where a file is missing, the caller builds for itself (``None``).
        """
        contents: dict[str, bytes] = {}
        digests: dict[str, str] = {}

        def take(path: str) -> str:
            if path not in digests:
                data = Path(path).read_bytes()
                digests[path] = hashlib.sha256(data).hexdigest()
                contents[digests[path]] = data
            return digests[path]

        try:
            infos = _with_paths(kernel_infos, take)
        except OSError:
            # A build here says which file of which op it is.
            return None
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                future = self._executor.submit(build_entry, infos, kernel_name, settings, self._sent_contents(contents))
                entry: bytes = future.result()
                return entry
            except SuperKernelError:
                raise
            except BrokenExecutor as error:
                logger.warning("%s: the executor is broken (%s); built here instead", kernel_name, error)
                return None
            except Exception as error:
                logger.warning("%s: attempt %d on another machine failed: %r", kernel_name, attempt, error)
        logger.warning("%s: built here instead", kernel_name)
        return None

    def _sent_contents(self, contents: dict[str, bytes]) -> dict[str, Any]:
        if self._client is None:
            return dict(contents)
        for digest, data in contents.items():
            if digest not in self._sent:
                self._sent[digest] = self._client.scatter(data, hash=True)
        return {digest: self._sent[digest] for digest in contents}


@contextlib.contextmanager
def connect(address: str) -> Iterator[Executor]:
    """The executor an address names, ``dask://HOST:PORT`` or ``processes://NUMBER``, as long as it is needed."""
    from superkernel._errors import make_error

    scheme, _, rest = address.partition("://")
    if scheme == "processes" and rest.isdecimal() and int(rest) > 0:
        from superkernel.scope._processes import Processes

        with Processes(int(rest)) as pool:
            yield pool
    elif scheme == "dask" and rest:
        try:
            distributed = imported("distributed")
        except ImportError as error:
            raise make_error(
                "SK1040", "executor `dask://` needs the package `distributed`", "install it: pip install distributed"
            ) from error
        with distributed.Client(f"tcp://{rest}") as client, client.get_executor() as executor:
            yield executor
    else:
        raise make_error(
            "SK1040",
            f"no executor is called `{address[:80]}`",
            "name a Dask scheduler, `dask://HOST:PORT`, or a number of processes, `processes://4`",
        )
