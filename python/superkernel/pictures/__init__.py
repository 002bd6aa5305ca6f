"""Pictures as files: one HTML file each, with its data and its code inside and nothing from the network; and DOT.

The data come from the core (`plan_picture`, scope plans, build reports) and are embedded as JSON. Scripts and styles
are the files beside this one, put in as they are.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from superkernel import _core
from superkernel._build import settings
from superkernel._logging import building

if TYPE_CHECKING:
    from superkernel.scope import Graph, ScopePlan

__all__ = ["Kind", "dot", "of_program", "of_scopes", "page", "predictions"]

#: Scripts of this folder that draw something.
Kind = Literal["program", "scope", "report", "timeline"]

_FOLDER = Path(__file__).resolve().parent

_PICTURE = """<body class="picture">
<header class="bar"><h1>{title}</h1><span class="facts"></span><span class="controls"></span>
<span class="search"><input type="search" placeholder="search (key /)" aria-label="search"><span class="found"></span>
</span></header>
<main class="drawing"></main>
<canvas class="overview"></canvas>
<footer class="line mono"></footer>
<aside class="panel"></aside>
"""
_DOCUMENT = """<body class="document">
<main></main>
"""
_BODIES: dict[str, str] = {"program": _PICTURE, "scope": _PICTURE, "report": _DOCUMENT, "timeline": _PICTURE}


def of_program(kernel_infos: Mapping[str, Any], kernel_name: str) -> dict[str, Any]:
    """The data of the picture ``program``: a plan with its steps by lane. Nothing is built."""
    current = settings()
    with building(kernel_name):
        return _core.plan_picture(kernel_infos, kernel_name, current)


def predictions(forecast: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What ``superkernel.cost.predict`` says, by super kernel, as pictures show it: without single cores."""
    return {
        kernel["name"]: {key: value for key, value in kernel.items() if key not in ("cores", "parts")}
        for kernel in forecast["kernels"]
    }


def of_scopes(graph: Graph, planned: ScopePlan, links: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The data of the picture ``scope``; ``links`` are pages about single pieces."""
    plan = planned.to_dict()
    # As the core has it: with marks and ids, and with event ends as nodes of their own, which are shown as arrows.
    content = graph.native().to_dict()
    inputs: dict[str, list[tuple[int, str, int]]] = {}
    for edge in content["data"]:
        inputs.setdefault(edge["to"], []).append((edge["input"], edge["from"], edge["output"]))
    keys = ("name", "type", "id", "stream", "scope", "options")
    nodes = [
        {**{key: node.get(key) for key in keys}, "inputs": sorted(inputs.get(node["name"], ())), **_origin(node)}
        for node in content["nodes"]
        if node.get("event_id") is None
    ]
    if plan["prediction"] and plan["nodes"]:
        # Streams are the prediction's, and what the engine will take out is not there.
        streams = {node["name"]: node["stream"] for node in plan["nodes"]}
        nodes = [{**node, "stream": streams[node["name"]]} for node in nodes if node["name"] in streams]
    # What a build needs is not shown.
    unused = {"kernel_infos", "normalized_infos", "document"}
    pieces = [{key: value for key, value in piece.items() if key not in unused} for piece in plan["pieces"]]
    shown = ("graph", "mode", "status", "prediction", "findings", "mistakes", "scopes", "records")
    # Where nothing was fused the events are those of the graph.
    events = plan["events"] or _events(content)
    told = {**{key: plan[key] for key in shown}, "pieces": pieces, "events": events}
    return {"plan": told, "nodes": nodes, "links": dict(links or {})}


def _events(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The events of a graph: what comes before their sends and after their receives."""
    ends = {node["name"]: (node.get("branch", ""), node["event_id"]) for node in content["nodes"] if "event_id" in node}
    senders = {ends[after]: before for before, after in content["control"] if after in ends}
    receivers = {ends[before]: after for before, after in content["control"] if before in ends}
    return [
        {"id": event[1], "kind": "normal", "from": sender, "to": receivers[event], "created": False}
        for event, sender in senders.items()
        if event in receivers
    ]


def _origin(node: Mapping[str, Any]) -> dict[str, Any]:
    """What the user wrote that became a node: as it is, and in one line."""
    origin = node.get("origin") or {}
    told = ", ".join(value for value in (origin.get(key) for key in ("torch_op", "fx_node", "line")) if value)
    return {"from": told, "origin": origin} if told else {}


def page(kind: Kind, title: str, data: Mapping[str, Any]) -> str:
    """The HTML file of a picture."""
    body = _BODIES[kind].format(title=html.escape(title))
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            # Nothing is fetched and nothing is sent, whatever the data hold.
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ",
            "script-src 'unsafe-inline'; img-src data:\">\n",
            '<meta name="viewport" content="width=device-width">\n<meta name="generator" content="superkernel">\n',
            f"<title>{html.escape(title)}</title>\n<style>\n{_asset('common.css')}</style>\n</head>\n",
            body,
            f'<script type="application/json" id="data">{embedded(data)}</script>\n',
            f"<script>\n{_asset('common.js')}{_asset(f'{kind}.js')}</script>\n</body>\n</html>\n",
        )
    )


def embedded(data: object) -> str:
    """Data as JSON that may stand in a script element: no character of it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Half a pair of surrogates cannot be written as UTF-8.
    text = text.encode("utf-8", "backslashreplace").decode()
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def dot(picture: Mapping[str, Any]) -> str:
    """A program for Graphviz: ops in a cluster per class of cores, order with its reasons, flags as bold edges."""
    lines = [
        f"digraph {_quoted(picture['kernel_name'])} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled"];',
    ]
    names = {"aic": "cube", "aiv": "vector", "mix": "cube and vector"}
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for op in picture["ops"]:
        kinds = [kind for kind in ("aic", "aiv") if op["cores"][kind]]
        groups.setdefault("mix" if len(kinds) == 2 else kinds[0] if kinds else "mix", []).append(op)
    for group, ops in groups.items():
        lines.append(f"  subgraph cluster_{group} {{")
        lines.append(f"    label={_quoted(names[group])};")
        lines += (f"    {_node(op)};" for op in ops)
        lines.append("  }")
    lines += (f"  {edge};" for edge in _edges(picture))
    return "\n".join([*lines, "}", ""])


def _node(op: Mapping[str, Any]) -> str:
    cores = ", ".join(f"{count} {kind}" for kind, count in op["cores"].items() if count)
    label = f"{op['index']} {op['kernel_name']}\n{cores}\nstream {op['stream_id']}"
    hue = (abs(op["stream_id"]) * 0.382 + 0.57) % 1
    return f'op{op["index"]} [label={_quoted(label)}, fillcolor="{hue:.3f} 0.25 1.0"]'


def _edges(picture: Mapping[str, Any]) -> Iterable[str]:
    ops = picture["ops"]
    if not picture["two_streams"]:
        reasons = _reasons_before(picture)
        for before, op in zip(ops, ops[1:]):
            reason = ", ".join(reasons.get(op["index"], ()))
            yield f"op{before['index']} -> op{op['index']} [label={_quoted(reason)}]"
        return
    for edge in picture["order"]:
        flags = [
            name for name, key in (("c2v", "cube_to_vec"), ("v2c", "vec_to_cube")) if (edge[key] or {}).get("flag")
        ]
        label = edge["reason"] + (f"\n{' and '.join(flags)} flag" if flags else "")
        style = "penwidth=2" if flags else "style=dashed"
        yield f"op{edge['from']} -> op{edge['to']} [label={_quoted(label)}, {style}]"


def _reasons_before(picture: Mapping[str, Any]) -> dict[int, list[str]]:
    """What orders each op after the one before it: actions with their reasons, each once."""
    found: dict[int, list[str]] = {}
    for step in picture["steps"]:
        if step["orders"] and step["op"] is not None and step["reason"]:
            text = f"{step['action']}: {step['reason']}"
            known = found.setdefault(picture["ops"][step["op"]]["index"], [])
            if text not in known:
                known.append(text)
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
