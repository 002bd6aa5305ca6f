"""A minimal schema of graph dumps, built at run time: what the planner reads, and some of what it must skip."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

#: Message -> (field, number, type, repeated). A type that is not a scalar is a message; ``map`` is a map of attributes.
SCHEMA: dict[str, list[tuple[str, int, str, bool]]] = {
    "ListValue": [("s", 2, "bytes", True), ("i", 3, "int64", True), ("f", 4, "float", True)],
    "AttrDef": [
        ("list", 1, "ListValue", False),
        ("s", 2, "bytes", False),
        ("i", 3, "int64", False),
        ("f", 4, "float", False),
        ("b", 5, "bool", False),
        ("bt", 7, "bytes", False),
    ],
    "TensorDescriptor": [("name", 1, "string", False), ("size", 7, "int64", False), ("weight", 8, "double", False)],
    "OpDef": [
        ("name", 1, "string", False),
        ("type", 2, "string", False),
        ("input", 5, "string", True),
        ("attr", 10, "map", True),
        ("has_out_attr", 20, "int32", False),
        ("id", 21, "int64", False),
        ("stream_id", 22, "int64", False),
        ("workspace_bytes", 31, "int64", True),
        ("output_desc", 34, "TensorDescriptor", True),
        ("subgraph_name", 35, "string", True),
        ("checksum", 900, "fixed32", False),
    ],
    "GraphDef": [("name", 1, "string", False), ("op", 6, "OpDef", True), ("attr", 11, "map", True)],
    "ModelDef": [
        ("name", 1, "string", False),
        ("version", 2, "uint32", False),
        ("graph", 7, "GraphDef", True),
        ("attr", 11, "map", True),
    ],
}


def _build() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="scope_dump.proto", package="scope_dump", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in SCHEMA.items():
        described = file.message_type.add(name=message)
        for name, number, kind, repeated in fields:
            label = kinds.LABEL_REPEATED if repeated else kinds.LABEL_OPTIONAL
            field = described.field.add(name=name, number=number, label=label)
            if kind == "map":
                entry = described.nested_type.add(name="AttrEntry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, type=kinds.TYPE_STRING, label=kinds.LABEL_OPTIONAL)
                value = entry.field.add(name="value", number=2, type=kinds.TYPE_MESSAGE, label=kinds.LABEL_OPTIONAL)
                value.type_name = ".scope_dump.AttrDef"
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".scope_dump.{message}.AttrEntry"
            elif kind in SCHEMA:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".scope_dump.{kind}"
            else:
                field.type = getattr(kinds, f"TYPE_{kind.upper()}")
            # In the dumps only one value of an attribute is set; also a zero must then be written.
            if message == "AttrDef":
                field.oneof_index = 0
        if message == "AttrDef":
            described.oneof_decl.add(name="value")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("scope_dump.ModelDef"))


#: The class of whole dumps.
ModelDef: Any = _build()

ATTRIBUTES = {
    "scope": "_super_kernel_scope",
    "options": "_super_kernel_options",
    "support": "supportSuperKernel",
    "local_memory_size": "local_memory_size",
    "tiling_sink": "_tiling_sink_op",
    "reuse_binary": "_op_ensure_reuse_binary",
    "hccl": "_hccl",
    "aicore_num": "_op_aicore_num",
    "vectorcore_num": "_op_vectorcore_num",
    "kernel_name": "superkernel_kernelname",
    "bin_path": "bin_file_path",
    "task_type": "SPK_task_type",
    "no_task": "_no_task",
}


def dump(graph: dict[str, Any]) -> Any:
    """A graph in JSON form as a dump, each of its branches as a graph of its own."""
    model = ModelDef(name="model", version=3)
    model.attr["om_info"].list.i.extend([1, 2, 3])
    branches = ["", *dict.fromkeys(node["branch"] for node in graph["nodes"] if node.get("branch"))]
    graphs = {branch: model.graph.add(name=branch or graph["name"]) for branch in branches}
    number = -1
    for node in graph["nodes"]:
        # Event ends have ids too: one list, one count.
        number = node["id"] if not node["type"].startswith(("Send", "Recv")) else number
        op = graphs[node.get("branch", "")].op.add(
            name=node["name"], type=node["type"], id=number, stream_id=node["stream"], has_out_attr=1, checksum=7
        )
        op.workspace_bytes.extend([512, -1])
        op.output_desc.add(name="y", size=1 << 40, weight=0.5)
        for field, attribute in ATTRIBUTES.items():
            if field in node:
                _set(op.attr[attribute], str(node[field]) if field.endswith("core_num") else node[field])
        if "event_id" in node:
            _set(op.attr["notify_id" if node["type"].endswith("Notify") else "event_id"], node["event_id"])
        op.attr["shape"].list.i.extend([4, 8])
        op.attr["blob"].bt = b"\xff\x00\x01"
        edges = sorted((e for e in graph["data"] if e["to"] == node["name"]), key=lambda e: e["input"])
        for edge in edges:
            op.input.append(f"{edge['from']}:{edge['output']}")
        op.input.extend(f"{before}:-1" for before, after in graph["control"] if after == node["name"])
    return model


def _set(attribute: Any, value: Any) -> None:
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.i = value
    else:
        attribute.s = value.encode()
