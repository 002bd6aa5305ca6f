"""``superkernel cache``."""

from __future__ import annotations

import argparse
from typing import Any, TextIO

from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "cache",
        help="look at, empty, save or fill the cache of built kernels",
        description="The cache keeps finished kernels, found by everything they depend on. Where it is: "
        "`--cache-dir`, `SUPERKERNEL_CACHE_DIR`, else `~/.cache/superkernel`; how large it may grow: "
        "`SUPERKERNEL_CACHE_SIZE` (default 5G).",
    )
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (
        ("stats", "what it holds and how often it helped"),
        ("clear", "remove everything"),
        ("export", "write all kernels to a tar file"),
        ("import", "take over the kernels of such a file"),
    ):
        action = actions.add_parser(name, help=text)
        if name in ("export", "import"):
            action.add_argument("file", metavar="FILE.tar")
        if name == "stats":
            action.add_argument("--json", action="store_true", help="print as JSON")
        add_settings(action, "cache_dir", *(["cache_shared"] if name == "import" else []))
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Does what is asked for."""
    import superkernel
    from superkernel import _build, _core
    from superkernel._environment import in_force

    with superkernel.configure(**given_settings(options)):
        directory, limit = _build.cache_directory(), _build.cache_limit()
        shared = bool(in_force("cache_shared")[0])
    if directory is None:
        print("there is no cache: it is switched off")
    elif options.action == "stats":
        print_stats(_core.cache_stats(directory, limit), as_json=options.json)
    elif options.action == "clear":
        print(f"removed {_core.cache_clear(directory)} kernels from {directory}")
    elif options.action == "export":
        # The tar itself may go to standard output.
        print(f"wrote {export(directory, options.file)} kernels to {options.file}", file=_told_on(options.file))
    else:
        print(f"took {take(directory, limit, options.file, shared=shared)} kernels from {options.file}")


def _told_on(path: str) -> TextIO:
    import sys

    from superkernel.cli import _streams

    return sys.stdout if _streams.stream_number(path) is None else sys.stderr


def print_stats(stats: dict[str, Any], *, as_json: bool) -> None:
    """Numbers for people or for programs."""
    if as_json:
        import json

        print(json.dumps(stats, indent=2))
        return
    print(f"directory  {stats['directory']}")
    print(f"kernels    {stats['entries']}")
    print(f"size       {stats['bytes'] / (1 << 20):.1f} MiB of {stats['limit'] / (1 << 20):.0f} MiB")
    print(f"hits       {stats['hits']}")
    print(f"misses     {stats['misses']}")


def export(directory: str, path: str) -> int:
    """Writes all entries to a tar file."""
    from superkernel import _core
    from superkernel.cli import _streams

    count = 0
    try:
        with _streams.tar_to(path) as archive:
            for entry in _core.cache_entries(directory):
                try:
                    archive.add(entry, arcname=entry.name, recursive=False)
                except FileNotFoundError:
                    # Another process made room meanwhile.
                    continue
                count += 1
    except OSError as error:
        raise _trouble("write", path, error) from None
    return count


def take(directory: str, limit: int, path: str, *, shared: bool = False) -> int:
    """Takes over the entries of a tar file; each is checked."""
    import os
    import tarfile

    from superkernel import _core, _files
    from superkernel._reproducer import check_member
    from superkernel._scratch import ScratchFolder
    from superkernel.cli import _streams

    count = 0
    try:
        with ScratchFolder("cache") as folder:
            tar = _streams.as_file(path, folder)
            with _files.open_tar(tar) as archive:
                for member in archive:
                    check_member(member, tar)
                    content = archive.extractfile(member) if member.isreg() else None
                    if content is None:
                        continue
                    # Under a name of our own: what stands in the archive may come from anywhere.
                    file = os.path.join(folder, "entry")
                    with open(file, "wb") as target:
                        while piece := content.read(1 << 20):
                            target.write(piece)
                    _core.cache_import(directory, limit, shared, file)
                    count += 1
    except (OSError, tarfile.TarError) as error:
        raise _trouble("read", path, error) from None
    return count


def _trouble(action: str, path: str, error: Exception) -> Exception:
    from superkernel._errors import make_error

    text = getattr(error, "strerror", None) or error
    return make_error("SK0001", f"cannot {action} `{path}`: {text}", "check the file and its directory")
