"""Whatever comes in, ``plan`` gives a plan or a ``SuperKernelError``: no other exception, no panic, no hang.

``SUPERKERNEL_FUZZ_EXAMPLES`` sets how many inputs each test tries.
"""

from __future__ import annotations

import copy
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
import superkernel
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from op_lists import AIC, AIV, MIX_1_1, MIX_1_2, OpList
from superkernel import SuperKernelError

EXAMPLES = int(os.environ.get("SUPERKERNEL_FUZZ_EXAMPLES", "250"))
fuzz = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

pytestmark = pytest.mark.timeout(600 if EXAMPLES > 1000 else 120)


class Opaque:
    """Not data, and not even printable."""

    def __repr__(self):
        raise ValueError("no")

    __str__ = __repr__


surrogates = st.sampled_from(["\ud800", "a\udcff", "\udc00b"])
numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400]),
    st.floats(),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -0.0, 0.5]),
)
names = st.sampled_from(
    [
        "op_list",
        "json_path",
        "bin_path",
        "stream_id",
        "task_type",
        "send_event_list",
        "recv_event_list",
        "super_kernel_options",
        "normal",
        "dynamic",
        "dynamic_func_names",
        "kernel_type",
        "AiCore",
        "dav-c220-vec",
        AIV,
        AIC,
        MIX_1_1,
        MIX_1_2,
        "split-mode=1:stream-fusion=1",
        "/dev/zero",
        "/",
        "",
        "a\0b",
    ]
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    st.text(max_size=12),
    names,
    surrogates,
    st.binary(max_size=4),
    st.builds(Opaque),
    st.sampled_from([{1, 2}, frozenset(), range(3), object, complex(1, 2), Path("x"), Ellipsis, print]),
)
keys = st.one_of(names, st.text(max_size=6), surrogates, st.integers(), st.none(), st.booleans())
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=5),
        st.dictionaries(names, inner, max_size=6),
    ),
    max_leaves=25,
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=8), names),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(names | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def attempt(infos: Any, name: Any = "sk") -> str | None:
    """The id of the error, or ``None`` for a plan. Anything but these two fails the test."""
    try:
        plan = superkernel.plan(infos, name)
    except SuperKernelError as error:
        assert error.errorinfo["errId"].startswith("SK")
        assert error.errorinfo["errSolution"]
        assert len(str(error)) < 5000
        return error.errorinfo["errId"]
    json.dumps(plan, allow_nan=False)
    return None


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> tuple[Path, dict[str, Any], list[bytes]]:
    """A correct op list of every kind of op, and the bytes of its JSONs."""
    folder = tmp_path_factory.mktemp("good")
    ops = (
        OpList(folder)
        .op(AIV, 32, send_event_list=[1], debugOptions="printf", debugBufSize=1024)
        .op(MIX_1_2, 20, stream_id=1, recv_event_list=[1], sub_operator_op_type="MatMul", split_mode=None)
        .op(AIC, 4, stream_id=1, sub_op_with_sync_all=True)
        .op(MIX_1_1, 4, stream_id=1)
        .dynamic(MIX_1_2, stream_id=1)
    )
    infos = ops.infos("feed-sync-all=1:profiling=1:split-mode=2")
    assert attempt(infos) is None
    return folder, infos, [Path(op["json_path"]).read_bytes() for op in ops.ops]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in nested data."""
    found = [path]
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        found.extend(places(inner, (*path, key)))
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of ``value`` with ``new`` at ``path``."""
    if not path:
        return new
    result = copy.copy(value)
    result[path[0]] = changed(value[path[0]], path[1:], new)
    return result


@fuzz
@given(infos=anything, name=st.one_of(st.just("sk"), anything))
def test_any_object(infos, name):
    attempt(infos, name)


@fuzz
@given(data=st.data())
def test_one_place_of_a_good_op_list_replaced(good, data):
    _, infos, _ = good
    place = data.draw(st.sampled_from(places(infos)))
    attempt(changed(infos, place, data.draw(anything)))


@fuzz
@given(data=st.data())
def test_one_place_of_a_good_json_replaced(good, data):
    folder, infos, contents = good
    number = data.draw(st.integers(0, len(contents) - 1))
    kernel = json.loads(contents[number])
    place = data.draw(st.sampled_from(places(kernel)))
    path = folder / "changed.json"
    path.write_text(json.dumps(changed(kernel, place, data.draw(json_values))))
    attempt(changed(infos, ("op_list", number, "json_path"), str(path)))


@fuzz
@given(data=st.data())
def test_a_key_of_a_good_json_removed_or_renamed(good, data):
    folder, infos, contents = good
    number = data.draw(st.integers(0, len(contents) - 1))
    kernel = json.loads(contents[number])
    key = data.draw(st.sampled_from(sorted(kernel)))
    value = kernel.pop(key)
    if data.draw(st.booleans()):
        kernel[key + "_"] = value
    path = folder / "changed.json"
    path.write_text(json.dumps(kernel))
    attempt(changed(infos, ("op_list", number, "json_path"), str(path)))


@fuzz
@given(data=st.data())
def test_bytes_of_a_good_json_damaged(good, data):
    folder, infos, contents = good
    number = data.draw(st.integers(0, len(contents) - 1))
    content = bytearray(contents[number])
    kind = data.draw(st.sampled_from(["cut", "flip", "insert", "replace"]))
    position = data.draw(st.integers(0, len(content) - 1))
    if kind == "cut":
        del content[position:]
    elif kind == "flip":
        content[position] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "insert":
        content[position:position] = data.draw(st.binary(min_size=1, max_size=20))
    else:
        content = bytearray(data.draw(st.binary(max_size=200)))
    path = folder / "damaged.json"
    path.write_bytes(bytes(content))
    attempt(changed(infos, ("op_list", number, "json_path"), str(path)))


@fuzz
@given(
    st.lists(
        st.tuples(
            st.sampled_from([AIV, AIC, MIX_1_1, MIX_1_2]),
            st.integers(1, 60),
            st.integers(-1, 2),
            st.lists(st.integers(0, 5), max_size=2),
            st.lists(st.integers(0, 5), max_size=2),
            st.booleans(),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["", "stream-fusion=1", "feed-sync-all=1", "early-start=0", "debug-aic-num=8:debug-aiv-num=16"]),
)
def test_any_op_list_of_good_ops(good, rows, options):
    folder, _, _ = good
    ops = OpList(folder / "any")
    ops.folder.mkdir(exist_ok=True)
    for kernel_type, blocks, stream, sends, receives, is_dynamic in rows:
        events = {"stream_id": stream, "send_event_list": sends, "recv_event_list": receives}
        if is_dynamic:
            table = {
                "1": {"kernel_type": kernel_type, "AiCore": "f", "dav-c220-cube": "f_aic", "dav-c220-vec": "f_aiv"}
            }
            ops.dynamic(kernel_type, table, **events)
        else:
            ops.op(kernel_type, blocks, **events)
    attempt(ops.infos(options))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf{}",
        b"\xff\xfe{\x00}\x00",
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b"1" * 1_000_000,
        b"1e999999999",
        b'{"blockDim": NaN}',
        b'{"kernelName": "\\ud800"}',
        b'{"kernelName": "\xed\xa0\x80"}',
        b"null",
        b'"text"',
        b"{} {}",
        b"\x00" * 100,
    ],
    ids=range(14),
)
def test_peculiar_files(good, content):
    folder, infos, _ = good
    path = folder / "peculiar.json"
    path.write_bytes(content)
    assert attempt(changed(infos, ("op_list", 0, "json_path"), str(path))) in ("SK0202", "SK0203", "SK0204")


def cycle_in_a_list() -> Any:
    data: list[Any] = []
    data.append(data)
    return data


def cycle_in_a_dict() -> Any:
    data: dict[str, Any] = {}
    data["op_list"] = [data]
    return data


def shared_many_times() -> Any:
    """Small in memory, 10 to the power of 60 when written out."""
    data: list[Any] = [1]
    for _ in range(60):
        data = [data] * 10
    return {"op_list": data}


def deep() -> Any:
    data: Any = 1
    for _ in range(100_000):
        data = [data]
    return {"op_list": data}


class Growing(list):
    """A list that grows while it is read."""

    def __iter__(self):
        self.append(1)
        return super().__iter__()


@pytest.mark.parametrize("make", [cycle_in_a_list, cycle_in_a_dict, shared_many_times, deep, Growing])
def test_peculiar_objects(make):
    assert attempt(make()) == "SK0203"


def test_huge_and_tiny_names(tmp_path):
    ops = OpList(tmp_path).op()
    assert attempt(ops.infos(), "a" * 1_000_000) is None
    for name in ("", " ", "a b", "1a", "ä", "a\n", "a\0"):
        assert attempt(ops.infos(), name) == "SK0206"
    for wrong in (None, 3, b"sk", ["sk"], "\ud800"):
        assert attempt(ops.infos(), wrong) == "SK0203"


def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert attempt({"op_list": [{"json_path": str(tmp_path / "pipe.json")}]}) == "SK0201"
