"""Building and reading graphs; the checking is done by the native core."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Union

from superkernel import _core, _files
from superkernel._errors import make_error
from superkernel.scope import _marking
from superkernel.types import EventKind

PathLike = Union[str, "os.PathLike[str]"]


def refuse_view(path: PathLike) -> None:
    """Refuses what the engine writes for people; it is known by its name alone."""
    if os.path.basename(os.fspath(path)).startswith("ge_readable_"):
        raise make_error(
            "SK1002",
            f"`{os.fspath(path)}` is a view for people (ge_readable_*), which does not have what a plan needs",
            "give the ge_proto_*.txt of the same stage (DUMP_GE_GRAPH=2), or what TorchAir dumped (dynamo_optimized_*)",
        )


class Node:
    """A node of a :class:`Graph`; ``node[1]`` is its second output."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name

    def __getitem__(self, output: int) -> tuple[Node, int]:
        return (self, output)

    def __repr__(self) -> str:
        return f"Node({self.name!r})"


#: A node, its name, or one of its outputs.
Source = Union[Node, str, tuple[Union[Node, str], int]]


class Graph:
    """A model after streams were assigned: nodes in execution order, data edges, events.

    As a ``with`` block it checks that every mark that was entered inside was left again.
    """

    def __init__(self, name: str = "graph", *, unknown_shape: bool = False) -> None:
        #: The JSON form, and the graph as the core has it; one of them is made of the other when it is asked for.
        self._content: dict[str, Any] | None = {
            "name": name,
            "unknown_shape": unknown_shape,
            "nodes": [],
            "events": [],
            "data": [],
            "control": [],
        }
        self._native: _core.ScopeGraph | None = None
        #: Above all ids of events.
        self._free_event = 0
        self._labels: dict[str, int] = {}
        self._depths: list[int] = []

    # -- building --------------------------------------------------------------------------------------------------

    def op(
        self,
        name: str,
        type: str,
        inputs: Sequence[Source | None] = (),
        *,
        stream: int | None = None,
        **fields: Any,
    ) -> Node:
        """Appends a node; ``fields`` are those of the JSON form. Marks in force apply unless ``scope`` is given.

        ``None`` among the inputs is an optional input that is not connected.
        """
        attributes = _marking.current_attributes()
        label = attributes.pop("_user_stream_label", None)
        if stream is None:
            stream = 0 if label is None else self._labels.setdefault(str(label), len(self._labels) + 1)
        if "scope" in fields:
            attributes.pop(_marking.SCOPE, None)
            attributes.pop(_marking.OPTIONS, None)
        attributes.update(fields.pop("attrs", {}))
        node = {"name": name, "type": type, "stream": stream, **fields}
        if attributes:
            node["attrs"] = attributes
        _core.ScopeGraph.check_node(name, json.dumps(node))
        content = self._changing()
        content["nodes"].append(node)
        for number, source in enumerate(inputs):
            if source is not None:
                origin, output = source if isinstance(source, tuple) else (source, 0)
                content["data"].append(
                    {"from": _name(origin), "output": output, "to": name, "input": number},
                )
        return Node(self, name)

    def branch(self, name: str, parent: str = "") -> str:
        """Declares a nested graph, a branch of the model; nodes enter it with ``op(..., branch=name)``.

        A branch that is not declared is nested in the root.
        """
        self._changing().setdefault("branches", []).append({"name": name, "parent": parent})
        return name

    def event(
        self,
        producer: Node | str,
        consumer: Node | str,
        id: int | None = None,
        *,
        kind: EventKind = "normal",
        send_stream: int | None = None,
        recv_stream: int | None = None,
    ) -> int:
        """Lets ``consumer`` wait for ``producer``; the id of the event."""
        for end in (producer, consumer):
            if not isinstance(end, (Node, str)):
                raise make_error(
                    "SK1001",
                    f"an event is between two nodes or their names, not `{str(end)[:80]}`",
                    "write graph.event(producer, consumer, id=1)",
                )
        content = self._changing()
        if id is None:
            id = self._free_event
        event: dict[str, Any] = {"id": id, "from": _name(producer), "to": _name(consumer), "kind": kind}
        if send_stream is not None:
            event["send_stream"] = send_stream
        if recv_stream is not None:
            event["recv_stream"] = recv_stream
        _core.ScopeGraph.check_event(id, json.dumps(event))
        self._free_event = max(self._free_event, id + 1)
        content["events"].append(event)
        return id

    def control(self, before: Node | str, after: Node | str) -> None:
        """A control edge; between ordinary nodes it carries no order."""
        self._changing()["control"].append([_name(before), _name(after)])

    def __enter__(self) -> Graph:
        self._depths.append(_marking.depth())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        entered = self._depths.pop()
        if error is None and _marking.depth() != entered:
            raise make_error(
                "SK1024",
                f"scopes are not paired in graph `{self.name}`: {_marking.depth()} frames at its end, "
                f"{entered} at its start",
                "leave every mark that was entered; a graph break inside a `with` block keeps one",
            )

    # -- reading and writing ---------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: PathLike, *, compile_results: bool = False) -> Graph:
        """Reads the JSON form or a dump in protobuf text or binary form, recognised by content.

        With ``compile_results`` the flags of the operators come from the JSONs their ``json_path`` names. Relative
        paths are looked for beside the file, then in the current folder.
        """
        refuse_view(path)
        folder = os.path.dirname(_files.checked_path(path))
        return cls.parse(_files.read(path), compile_results=compile_results, folder=folder)

    @classmethod
    def parse(cls, data: bytes | str, *, compile_results: bool = False, folder: PathLike = "") -> Graph:
        """Like :meth:`read`, from the content of the file; ``folder`` is where that is."""
        graph = cls()
        raw = data.encode() if isinstance(data, str) else data
        graph._content, graph._native = None, _core.ScopeGraph(raw, compile_results, folder or None)
        return graph

    def to_dict(self) -> dict[str, Any]:
        """The JSON form as plain data."""
        copied: dict[str, Any] = json.loads(self.to_json())
        return copied

    def to_json(self, indent: int | None = None) -> str:
        """The JSON form."""
        return json.dumps(self._data(), indent=indent, ensure_ascii=False)

    def write(self, path: PathLike) -> None:
        """Writes the JSON form."""
        _files.write(path, (self.to_json(indent=2) + "\n").encode())

    def take_compile_results(self) -> Graph:
        """A copy whose operators have the flags of the JSONs their ``json_path`` names."""
        return self.parse(self.to_json(), compile_results=True)

    def native(self) -> _core.ScopeGraph:
        """The graph as the core has it."""
        if self._native is None:
            self._native = _core.ScopeGraph(self.to_json().encode())
        return self._native

    def _data(self) -> dict[str, Any]:
        if self._content is None:
            self._content = {"events": [], **self.native().to_dict()}
            self._free_event = 1 + max((event["id"] for event in self._content["events"]), default=-1)
        return self._content

    def _changing(self) -> dict[str, Any]:
        """The content, of which the core has not heard yet."""
        content = self._data()
        self._native = None
        return content

    def add_origins(self, origins: Mapping[str, Mapping[str, str]]) -> None:
        """Says where nodes come from: ``torch_op``, ``fx_node`` and ``line`` by the name of the node."""
        for node in self._changing()["nodes"]:
            known = origins.get(node["name"])
            if known is not None and node["type"] not in _NOT_WRITTEN:
                node["origin"] = {**node.get("origin", {}), **{key: value for key, value in known.items() if value}}

    # -- asking ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Name of the graph."""
        name: str = self._data()["name"] if self._native is None else self._native.name
        return name

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes as in the JSON form."""
        nodes: list[dict[str, Any]] = self.to_dict()["nodes"]
        return nodes

    def __len__(self) -> int:
        return len(self._data()["nodes"])

    def __repr__(self) -> str:
        return f"Graph({self.name!r}, {len(self)} nodes)"


#: Nodes that no operator of the user's became.
_NOT_WRITTEN = ("Data", "RefData", "Const", "NetOutput")


def _name(node: Node | str) -> str:
    return node.name if isinstance(node, Node) else node


def as_graph(graph: Graph | PathLike | dict[str, Any]) -> Graph:
    """A graph from whatever a user may have."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, dict):
        return Graph.parse(json.dumps(graph))
    return Graph.read(graph)


def names(values: Iterable[str]) -> list[str]:
    """A list of names, where a single string is a mistake people make."""
    if isinstance(values, str):
        raise TypeError("expected a list of names, not one string")
    return list(values)
