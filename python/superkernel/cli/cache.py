"""``superkernel cache``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any, Callable, TextIO

from superkernel.cli._input import add_kernel_infos, read_op_list
from superkernel.cli._settings import add_settings, given_settings


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the sub-command."""
    command = subparsers.add_parser(
        "cache",
        help="look at, empty, save or fill the cache of built kernels",
        description="The cache keeps finished kernels, found by everything they depend on. Where it is: "
        "`--cache-dir`, `SUPERKERNEL_CACHE_DIR`, else `~/.cache/superkernel`; how large it may grow: "
        "`SUPERKERNEL_CACHE_SIZE` (default 5G). Precompiled AscendC headers of the simulator are beside it, under the "
        "same limit.",
    )
    actions = command.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (
        ("stats", "show what the cache holds and how often it was used"),
        ("ls", "list every kernel: size, time of last use, name"),
        ("verify", "read every kernel and report what is wrong; the exit status is 1 if something is"),
        (
            "why",
            "say whether the cache has the kernel of an op list; if not, which one comes closest and what is different",
        ),
        ("clear", "remove all kernels and everything else that the cache has written"),
        ("export", "write all kernels to a tar file"),
        ("import", "take over the kernels of such a file"),
    ):
        action = actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        if name in ("export", "import"):
            action.add_argument("file", metavar="FILE.tar")
        if name == "why":
            add_kernel_infos(action)
        if name in ("stats", "ls", "verify", "why"):
            action.add_argument("--json", action="store_true", help="print as JSON")
        add_settings(
            action, *([] if name == "why" else ["cache_dir", "cache_shared"] if name == "import" else ["cache_dir"])
        )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Does what is asked for."""
    import superkernel
    from superkernel import _build, _core
    from superkernel._environment import in_force

    with superkernel.configure(**given_settings(options)):
        directory, limit = _build.cache_directory(), _build.cache_limit()
        shared = bool(in_force("cache_shared")[0])
        if directory is not None and options.action == "why":
            # Trouble with the folder is no miss.
            _core.cache_stats(directory, limit)
            infos, name, settings = read_op_list(options)
            with superkernel.configure(**settings):
                return show(_core.cache_why(infos, name, _build.settings(use_cache=True)), why_lines, options)
    # They are not in a folder that was named.
    headers = None if "cache_dir" in given_settings(options) else header_folder()
    if options.action == "clear" and headers is not None and (removed := _core.header_cache_clear(headers)):
        print(f"removed {_build.number_of(removed, 'set')} of precompiled headers from {headers}")
    kept = [] if headers is None else _core.header_cache(headers)
    if directory is None:
        print("there is no cache: it is switched off")
    elif options.action == "stats":
        stats = _core.cache_stats(directory, limit)
        stats["headers"] = {"directory": headers, "entries": len(kept), "bytes": sum(row["bytes"] for row in kept)}
        return show(stats, stats_lines, options)
    elif options.action == "ls":
        rows = [{**row, "kernel": "(AscendC headers)", "problem": None} for row in kept]
        return show(_core.cache_list(directory, False) + rows, list_lines, options)
    elif options.action == "verify":
        found = _core.cache_list(directory, True)
        show(found, verify_lines, options)
        return 1 if any(row["problem"] for row in found) else 0
    elif options.action == "clear":
        entries, left = _core.cache_clear(directory)
        print(f"removed {_build.number_of(entries, 'kernel')} from {directory}")
        if left is not None:
            print(f"what else is in {left} is not the cache's and stays")
    elif options.action == "export":
        # The tar itself may go to standard output.
        wrote = _build.number_of(export(directory, options.file), "kernel")
        print(f"wrote {wrote} to {options.file}", file=_told_on(options.file))
    else:
        taken = take(directory, limit, options.file, shared=shared)
        print(f"took {_build.number_of(taken, 'kernel')} from {options.file}")
    return 0


def header_folder() -> str:
    """Where the simulator keeps precompiled headers."""
    from superkernel.sim.device import cache_directory

    return str(cache_directory())


def _told_on(path: str) -> TextIO:
    import sys

    from superkernel.cli import _streams

    return sys.stdout if _streams.stream_number(path) is None else sys.stderr


def show(found: Any, lines: Callable[[Any], Iterable[str]], options: argparse.Namespace) -> int:
    """For programs or for people."""
    if options.json:
        import json

        print(json.dumps(found, indent=2))
    else:
        for line in lines(found):
            print(line)
    return 0


def stats_lines(stats: dict[str, Any]) -> Iterable[str]:
    """Size, age, and how often it helped."""
    hits, misses = stats["hits"], stats["misses"]
    asked = hits + misses
    yield f"directory  {stats['directory']}"
    yield f"kernels    {stats['entries']}"
    yield f"size       {mebibytes(stats['bytes'])} of {stats['limit'] / (1 << 20):.0f} MiB"
    if stats["entries"]:
        yield f"last used  from {ago(stats['oldest'])} to {ago(stats['newest'])}"
    yield f"hits       {hits}"
    yield f"misses     {misses}"
    yield f"hit rate   {f'{100 * hits / asked:.1f} %' if asked else 'never asked'}"
    if stats["headers"]["entries"]:
        kept = stats["headers"]
        yield f"headers    {kept['entries']}, {mebibytes(kept['bytes'])} in {kept['directory']}"


def list_lines(found: list[dict[str, Any]]) -> Iterable[str]:
    """A line per kernel, the least recently used first."""
    from superkernel.cli._forecast import table

    rows = [
        (mebibytes(row["bytes"]), ago(row["idle_seconds"]), (row["key"] or "")[:12], row["kernel"] or row["problem"])
        for row in found
    ]
    yield from table(("size", "last used", "key", "kernel"), rows, left=0, last=2) if rows else ["no kernels"]


def verify_lines(found: list[dict[str, Any]]) -> Iterable[str]:
    """What is wrong, and a summary."""
    from superkernel._build import number_of

    wrong = [row for row in found if row["problem"]]
    for row in wrong:
        yield row["problem"]
    yield f"{number_of(len(found), 'kernel')} read, {len(wrong)} damaged" + (
        ": a build that meets one removes it" if wrong else ""
    )


def why_lines(answer: dict[str, Any]) -> Iterable[str]:
    """A hit, or the nearest kernel and how it differs."""
    if answer["answer"] != "miss":
        told = {"hit": "hit: the cache has this kernel", "no cache": "no cache that may be used"}
        yield told[answer["answer"]]
    elif answer["nearest"] is None:
        yield "miss: the cache has nothing to compare with"
    else:
        yield f"miss: closest is {answer['nearest']}, last used {ago(answer['idle_seconds'])}, which differs:"
        for change in answer["changes"]:
            yield f"  {change}"


def mebibytes(count: int) -> str:
    """A size with one decimal."""
    return f"{count / (1 << 20):.1f} MiB"


def ago(seconds: int) -> str:
    """A time in the past, roughly."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}s ago"
    return f"{seconds} s ago"


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
