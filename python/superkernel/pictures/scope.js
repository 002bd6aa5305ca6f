// The picture of a scope plan: a row per stream, an op as a box in the colour of its super kernel, cuts as lines through all rows.
"use strict";

const [ROW, APART, FIRST, LEFT, BOX, STEP] = [58, 34, 64, 110, 112, 128];

const plan = DATA.plan;
const nodes = DATA.nodes.map((node) => ({...node, stream: node.stream ?? -1})).sort((left, right) => left.id - right.id);
const place = new Map(nodes.map((node, number) => [node.name, number]));
const pieceOf = new Map();
/** Pieces by the node that stands for their super kernel. */
const pieceOfNode = new Map(plan.pieces.map((piece, number) => [piece.node_name, number]));
/** The colour of a piece: that of the first one with the same kernel. */
const firstOf = new Map();
plan.pieces.forEach((piece, number) => { if (piece.kernel_name && !firstOf.has(piece.kernel_name)) firstOf.set(piece.kernel_name, number); });
const pieceColour = (number, lightness) => colour(firstOf.get(plan.pieces[number].kernel_name) ?? number, lightness);
plan.pieces.forEach((piece, number) => piece.members.forEach((name) => pieceOf.set(name, number)));
const leftOut = new Map();
for (const scope of plan.scopes) for (const one of scope.left_out) leftOut.set(one.node, {...one, scope: scope.name});
const streams = [...new Set(nodes.map((node) => node.stream))].sort((left, right) => left - right);
const row = new Map(streams.map((stream, number) => [stream, FIRST + number * (ROW + APART)]));
const cuts = plan.scopes.flatMap((scope) => scope.cuts.map((cut) => ({...cut, scope: scope.name})));

/** Of names like paths the last part tells most. */
const tail = (name) => name.slice(name.lastIndexOf("/") + 1) || name;
const xOf = (number) => LEFT + number * STEP;
const size = {width: LEFT + nodes.length * STEP + 30, height: FIRST + streams.length * (ROW + APART) + 20};
const view = new View(document.querySelector(".drawing"), size, document.querySelector(".overview"));
const layers = {rows: draw("g"), bands: draw("g"), edges: draw("g"), boxes: draw("g"), cuts: draw("g")};
view.group.append(layers.rows, layers.bands, layers.edges, layers.boxes, layers.cuts);
const boxes = new Map();
let chosen = null;

function drawRows() {
  for (const stream of streams) {
    layers.rows.append(
      draw("rect", {class: "lane", x: 0, y: row.get(stream) - 8, width: size.width, height: ROW + 16, rx: 8}),
      draw("text", {class: "title", x: 12, y: row.get(stream) + 26}, stream < 0 ? "no stream" : `stream ${stream}`));
  }
}

/** Behind the boxes of a super kernel: how far it reaches on each stream. */
function drawBands() {
  plan.pieces.forEach((piece, number) => {
    const reach = new Map();
    for (const name of piece.members) {
      const at = place.get(name);
      if (at === undefined) continue;
      const [least, most] = reach.get(nodes[at].stream) ?? [at, at];
      reach.set(nodes[at].stream, [Math.min(least, at), Math.max(most, at)]);
    }
    for (const [stream, [least, most]] of reach) {
      const band = draw("rect", {
        x: xOf(least) - 7, y: row.get(stream) - 7, width: (most - least) * STEP + BOX + 14, height: ROW + 14, rx: 9,
        fill: pieceColour(number, 60), opacity: 0.28, click: () => showPiece(number),
      });
      layers.bands.append(tips.set(band, `super kernel ${piece.name}\n${counted(piece.ops.length, "op")}${piece.kernel_name ? `, kernel ${piece.kernel_name}` : ""}`));
    }
  });
}

function drawNodes() {
  nodes.forEach((node, number) => {
    const piece = pieceOf.get(node.name);
    const out = leftOut.get(node.name);
    const fillColour = piece !== undefined ? pieceColour(piece) : null;
    const left = xOf(number);
    const top = row.get(node.stream);
    const box = draw("rect", {
      class: `box${out ? " out" : ""}`, x: left, y: top, width: BOX, height: ROW, rx: 5, "data-node": node.name,
      style: fillColour ? `fill: ${fillColour}` : out ? null : "fill: var(--paper)", click: () => showNode(number),
    });
    const state = piece !== undefined ? `in super kernel ${plan.pieces[piece].name}`
      : out ? `left out of ${out.scope}: ${out.explanation} (${out.reason})` : node.scope ? `marked ${node.scope}` : "not marked";
    tips.set(box, `${node.id} ${node.name}\n${node.type}, stream ${node.stream}${node.from ? `\n${node.from}` : ""}\n${state}`);
    boxes.set(node.name, box);
    const ink = fillColour ? "fill: #111" : null;
    layers.boxes.append(box,
      draw("text", {class: "detail", x: left + 7, y: top + 17, style: ink}, fitted(tail(node.name), BOX - 14, 12)),
      draw("text", {class: "small detail", x: left + 7, y: top + 33, style: fillColour ? "fill: #333" : null}, fitted(node.type, BOX - 14, 10)),
      out ? draw("text", {class: "small detail", x: left + 7, y: top + 48, style: "fill: var(--bad)"}, fitted(out.reason, BOX - 14, 10)) : "");
    view.boxes.push({x: left, y: top, width: BOX, height: ROW, colour: fillColour ?? (out ? "#c0564a" : "#9aa3af")});
  });
}

/** The node at which an arrow begins or ends: of a super kernel its last or first op. */
function endOf(name, isSender) {
  if (place.has(name)) return place.get(name);
  const members = (plan.pieces[pieceOfNode.get(name)]?.members ?? []).map((one) => place.get(one)).filter((at) => at !== undefined);
  return members.length === 0 ? undefined : isSender ? Math.max(...members) : Math.min(...members);
}

/** Events: also those that leave a super kernel and go across cuts, which are its own and not one of its ops'. */
function drawEvents() {
  for (const event of plan.events) {
    const [from, to] = [endOf(event.from, true), endOf(event.to, false)];
    if (from === undefined || to === undefined) continue;
    const crosses = pieceOfNode.has(event.from) || pieceOfNode.has(event.to) || !event.created;
    const [x1, y1] = [xOf(from) + BOX, row.get(nodes[from].stream) + ROW / 2];
    const [x2, y2] = [xOf(to), row.get(nodes[to].stream) + ROW / 2];
    const path = draw("path", {
      class: `edge${crosses ? " outer" : ""}`, d: `M${x1} ${y1} C${x1 + 40} ${y1} ${x2 - 40} ${y2} ${x2} ${y2}`, "marker-end": "url(#head)", "data-event": event.id,
    });
    layers.edges.append(wire(path, `event ${event.id}: ${endName(event.from)} to ${endName(event.to)}\n${event.kind}${event.created ? ", made by the planner" : ""}`));
  }
}

/** How the end of an event is called. */
function endName(name) {
  const piece = pieceOfNode.get(name);
  return piece === undefined ? name : `super kernel ${plan.pieces[piece].name}`;
}

function endLink(name) {
  const piece = pieceOfNode.get(name);
  return piece === undefined ? link(name) : make("span", {class: "link", click: () => showPiece(piece)}, endName(name));
}

/** The events of a node, and those of the super kernel it is in. */
function eventRows(names) {
  return plan.events.flatMap((event) => [
    ...(names.includes(event.to) ? [[event.id, "waits for", endLink(event.from), event.kind]] : []),
    ...(names.includes(event.from) ? [[event.id, "is waited for by", endLink(event.to), event.kind]] : [])]);
}

const eventTable = (rows) => rows.length === 0 ? [] : [make("h3", {}, "events"), table(["#id", "", "other end", "kind"], rows)];

function cutText(cut) {
  return `scope ${cut.scope} is cut at ${cut.node}\nwhy: ${cut.reason}${cut.through ? `\nthrough ${cut.through}` : ""}`;
}

function drawCuts() {
  cuts.forEach((cut, number) => {
    const at = place.get(cut.node);
    if (at === undefined) return;
    const x = xOf(at) - 8;
    const line = wire(draw("line", {class: "cut", x1: x, x2: x, y1: 34, y2: size.height - 16, "data-cut": number}), cutText(cut));
    line.addEventListener("click", () => showNode(at));
    layers.cuts.append(line, draw("text", {class: "small", x: x - 4, y: 26, style: "fill: var(--bad)"}, `cut: ${shortened(cut.reason, 30)}`));
  });
}

function goTo(name) {
  const box = boxes.get(name);
  if (!box) return;
  const value = (key) => Number(box.getAttribute(key));
  view.to({x: value("x"), y: value("y"), width: value("width"), height: value("height")});
}

function link(name) {
  return make("span", {class: "link", click: () => { const at = place.get(name); if (at !== undefined) { showNode(at); goTo(name); } }}, name);
}

function mark(name) {
  if (chosen) boxes.get(chosen)?.classList.remove("chosen");
  chosen = name;
  boxes.get(name)?.classList.add("chosen");
}

const readers = new Map();
for (const node of nodes) {
  for (const [, from] of node.inputs) {
    const known = readers.get(from) ?? [];
    readers.set(from, known.includes(node.name) ? known : [...known, node.name]);
  }
}

function showNode(number) {
  const node = nodes[number];
  mark(node.name);
  const piece = pieceOf.get(node.name);
  const out = leftOut.get(node.name);
  const told = plan.records.filter((record) => record.node === node.name);
  const own = cuts.filter((cut) => cut.node === node.name);
  panel(
    make("h2", {id: "chosen"}, node.name),
    make("div", {}, make("span", {class: "chip"}, node.type), " ", make("span", {class: "chip"}, `id ${node.id}`), " ", make("span", {class: "chip"}, `stream ${node.stream}`)),
    ...Object.entries({"torch op": node.origin?.torch_op, "fx node": node.origin?.fx_node, "source": node.origin?.line}).filter(([, text]) => text)
      .map(([what, text]) => make("div", {}, make("span", {class: "soft"}, `${what} `), make("span", {class: "mono"}, text))),
    node.scope ? make("div", {}, make("span", {class: "soft"}, "scope "), node.scope, node.options ? make("span", {class: "mono"}, `  ${node.options}`) : null) : null,
    piece !== undefined ? make("p", {}, "in super kernel ", make("span", {class: "link", click: () => showPiece(piece)}, plan.pieces[piece].name)) : null,
    out ? make("p", {class: "bad"}, `left out of scope ${out.scope}: ${out.explanation} (${out.reason})`) : null,
    ...own.map((cut) => make("p", {class: "bad", style: "white-space: pre-line"}, cutText(cut))),
    ...(node.inputs.length === 0 ? [] : [make("h3", {}, "inputs"), table(["#input", "from", "#output"], node.inputs.map(([input, from, output]) => [input, link(from), output]))]),
    ...(readers.has(node.name) ? [make("h3", {}, "read by"), make("div", {}, ...readers.get(node.name).flatMap((name) => [link(name), " "]))] : []),
    ...eventTable(eventRows([node.name])),
    told.length > 0 ? make("h3", {}, "said about it") : null,
    ...told.map((record) => make("div", {class: "mono"}, `${record.level} ${record.text}`)));
}

function showPiece(number) {
  const piece = plan.pieces[number];
  if (piece.members.length > 0) { mark(piece.members[0]); goTo(piece.members[0]); }
  panel(
    make("h2", {id: "chosen"}, piece.name),
    make("div", {class: "mono"}, piece.kernel_name),
    make("div", {}, `scope ${piece.scope}, main stream ${piece.main_stream}, ${counted(piece.ops.length, "op")}`),
    piece.options ? make("div", {class: "mono"}, piece.options) : null,
    DATA.links[piece.name] ? make("p", {}, make("a", {href: DATA.links[piece.name]}, "its program")) : null,
    ...piece.problems.map((problem) => make("p", {class: "bad"}, `${problem.message} [${problem.id}]: ${problem.solution}`)),
    ...piece.warnings.map((text) => make("p", {class: "warn"}, text)),
    ...eventTable(eventRows([piece.node_name])),
    make("h3", {}, "ops"),
    table(["op", "type", "#stream", "waits", "sends"], piece.ops.map((op) => [link(op.name), op.type, op.stream, op.recv_event_list.join(" "), op.send_event_list.join(" ")])));
}

function summary() {
  panel(
    make("h2", {}, plan.graph || "graph"),
    make("div", {}, `${counted(nodes.length, "node")} on ${counted(streams.length, "stream")}, ${counted(plan.pieces.length, "super kernel")}, ${counted(cuts.length, "cut")}, ${leftOut.size} left out; mode ${plan.mode}`),
    make("div", {class: "soft"}, "A box is an op, in the colour of its super kernel (equal kernels have one colour); hatched: marked, but left out; a dashed line: a cut; an arrow: an event, of a super kernel as a whole in another colour. Keys: / search, f everything, + and -."),
    ...plan.prediction.map((note) => make("p", {class: "soft"}, note)),
    ...plan.mistakes.map((mistake) => make("p", {class: "bad", style: "white-space: pre-line"}, `scope ${mistake.scope}: ${mistake.message} [${mistake.id}]: ${mistake.solution}`)),
    ...plan.findings.map((finding) => make("p", {class: "warn"}, `${finding.message}: ${finding.solution}`)),
    plan.status === "planned" ? null : make("p", {class: "bad"}, `nothing was planned: ${plan.status}`),
    ...plan.scopes.flatMap((scope) => [
      make("h3", {}, `scope ${scope.name}${scope.branch ? ` in ${scope.branch}` : ""}: ${scope.outcome === "fused" && scope.pieces.length === 0 ? "no super kernel" : scope.outcome}`),
      table(["super kernel", "#ops", ""], scope.pieces.map((name) => {
        const number = plan.pieces.findIndex((piece) => piece.name === name);
        const piece = plan.pieces[number];
        const state = piece.problems.length > 0 ? make("span", {class: "bad whole"}, piece.problems[0].id) : "";
        return [make("span", {class: "link", click: () => showPiece(number), style: `border-left: 12px solid ${pieceColour(number)}; padding-left: 6px`}, name), piece.ops.length, state];
      })),
      ...scope.cuts.map((cut) => make("div", {}, make("span", {class: "bad"}, "cut "), `at `, link(cut.node), `: ${cut.reason}${cut.through ? `, through ${cut.through}` : ""}`)),
      ...scope.left_out.map((one) => make("div", {}, make("span", {class: "soft"}, "left out "), link(one.node), `: ${one.explanation} (${one.reason})`)),
    ]));
}

drawRows();
drawBands();
drawEvents();
drawNodes();
drawCuts();
document.querySelector(".facts").append(
  make("span", {class: "chip"}, counted(nodes.length, "node")), " ", make("span", {class: "chip"}, counted(plan.pieces.length, "super kernel")), " ",
  make("span", {class: cuts.length > 0 ? "chip bad" : "chip"}, counted(cuts.length, "cut")), " ", make("span", {class: "link", click: summary}, "summary"));
controls(view);
search(nodes.map((node, number) => ({text: `${node.id} ${node.name}  ${node.type} stream ${node.stream} ${node.from ?? ""}`, go: () => { showNode(number); goTo(node.name); }})));
tips.follow(document.querySelector(".drawing"));
view.rows = streams.map((stream) => ({y: row.get(stream) - 8, text: stream < 0 ? "no stream" : `stream ${stream}`}));
// Nodes that share an id are named once.
view.signs = nodes.map((node, number) => ({x: xOf(number), text: `node ${node.id}`})).filter(({text}, number, signs) => number === 0 || signs[number - 1].text !== text);
summary();
view.start();
document.body.dataset.ready = "yes";
