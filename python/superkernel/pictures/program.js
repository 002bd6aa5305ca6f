// The picture of a device program: a lane per kind of core, an op as a box whose height tells how many cores run it,
// steps that order cores as marks between the boxes, flags between the lanes as arrows.
"use strict";

const [LANE, BETWEEN, TOP, LEFT, WIDTH, SLOT] = [150, 64, 56, 92, 124, 13];

/** How a step is drawn: its colour, its shape, and whether it is shown from far away. */
const MARKS = {
  "barrier": {colour: "#d9480f", shape: "bar", name: "barrier"},
  "pipe-barrier": {colour: "#8a94a3", shape: "thin", name: "pipe barrier of one core", fine: true},
  "set-flag": {colour: "#1f6feb", shape: "disc", name: "set of a flag to the other kind"},
  "wait-flag": {colour: "#1f6feb", shape: "ring", name: "wait for such a flag"},
  "early-start-set": {colour: "#2b8a3e", shape: "out", name: "early start: set"},
  "early-start-wait": {colour: "#2b8a3e", shape: "in", name: "early start: wait"},
  "notify": {colour: "#b46a00", shape: "diamond", name: "outer event sent"},
  "wait-event": {colour: "#b46a00", shape: "hollow", name: "outer event waited for"},
  "clear-event": {colour: "#b46a00", shape: "dot", name: "outer event cleared", fine: true},
  "switch": {colour: "#8338ec", shape: "square", name: "tiling waited for, functions picked"},
  "release-lock": {colour: "#8338ec", shape: "dot", name: "tiling lock released", fine: true},
  "flush": {colour: "#0b7285", shape: "drop", name: "data cache flushed"},
  "clear-workspace": {colour: "#a0522d", shape: "square", name: "workspace cleared"},
  "complement-sync-all": {colour: "#c2255c", shape: "ring", name: "idle cores follow SyncAll", fine: true},
  "end-sync-all": {colour: "#c2255c", shape: "dot", name: "end of SyncAll sent to idle cores", fine: true},
  "preload": {colour: "#8a94a3", shape: "tick", name: "code preloaded", fine: true},
  "preload-here": {colour: "#8a94a3", shape: "tick", name: "code preloaded", fine: true},
  "preload-picked": {colour: "#8a94a3", shape: "tick", name: "code preloaded", fine: true},
};

const KINDS = {aic: "cube", aiv: "vector"};
const {ops, steps} = DATA;
const lanes = DATA.lanes.map((lane, number) => ({...lane, y: TOP + number * (LANE + BETWEEN), before: new Map(), behind: new Map(), order: []}));
const laneOf = new Map(lanes.map((lane) => [lane.kind, lane]));

const stepText = (step) => [step.cores, step.action, ...step.fields.map(([name, value]) => `${name}=${value}`)].join(" ");
const opLabel = (op) => `${op.index} ${op.kernel_name}`;
const shortType = (op) => op.kernel_type.replace("KERNEL_TYPE_", "");

/**
 * Which steps stand before and behind which op: behind it those that still belong to it, and preloads among them.
 * With one stream all cores take the steps in one order, otherwise each lane has its own.
 */
function arrange() {
  const walk = (ofLane, targets) => {
    let waiting = [];
    let last = null;
    // A step that lanes share stands at one place in all of them: the others leave it free.
    const add = (place, op, numbers) => {
      for (const lane of targets) {
        const own = numbers.map((one) => steps[one].kinds.includes(lane.kind) ? one : null);
        if (own.length > 0) lane[place].set(op, [...(lane[place].get(op) ?? []), ...own]);
      }
    };
    steps.forEach((step, number) => {
      if (!ofLane(step)) return;
      if (step.calls && step.op !== null) {
        add("before", step.op, waiting);
        for (const lane of targets) {
          if (step.kinds.includes(lane.kind) && lane.order[lane.order.length - 1] !== step.op) lane.order.push(step.op);
        }
        waiting = [];
        last = step.op;
      } else if (MARKS[step.action]) {
        const belongs = last !== null && waiting.length === 0 && (step.op === last || step.action.startsWith("preload"));
        if (belongs) add("behind", last, [number]);
        else waiting.push(number);
      }
    });
    if (last !== null) add("behind", last, waiting);
  };
  if (DATA.two_streams) {
    for (const lane of lanes) walk((step) => step.kinds.includes(lane.kind), [lane]);
  } else {
    walk(() => true, lanes);
  }
}

/** The column of each op: one after another, or as early as what must come before allows. */
function columns() {
  if (!DATA.two_streams) return ops.map((_, number) => number);
  const before = ops.map((op) => new Set(op.after));
  for (const lane of lanes) lane.order.forEach((op, place) => place > 0 && before[op].add(lane.order[place - 1]));
  const column = ops.map(() => -1);
  // The program has been checked: there is no circle. Should there be one, its ops stand at the start.
  const visiting = new Set();
  const find = (first) => {
    const stack = [first];
    while (stack.length > 0) {
      const op = stack[stack.length - 1];
      const open = [...before[op]].filter((other) => column[other] < 0 && !visiting.has(other));
      visiting.add(op);
      if (open.length > 0) { stack.push(...open); continue; }
      stack.pop();
      column[op] = Math.max(-1, ...[...before[op]].map((other) => column[other])) + 1;
    }
  };
  ops.forEach((_, number) => column[number] < 0 && find(number));
  return column;
}

arrange();
const column = columns();
const count = Math.max(-1, ...column) + 1;
// Room for marks before and behind the boxes of each column.
const room = Array.from({length: count}, () => ({before: 0, behind: 0}));
for (const lane of lanes) {
  for (const place of ["before", "behind"]) {
    for (const [op, marks] of lane[place]) room[column[op]][place] = Math.max(room[column[op]][place], marks.length);
  }
}
// Where each column's boxes begin.
const at = [];
let x = LEFT;
for (const {before, behind} of room) {
  x += 9 + before * SLOT;
  at.push(x);
  x += WIDTH + 9 + behind * SLOT;
}
const size = {width: x + 20, height: TOP + lanes.length * LANE + (lanes.length - 1) * BETWEEN + 40};

const view = new View(document.querySelector(".drawing"), size, document.querySelector(".overview"));
const layers = {under: draw("g"), edges: draw("g"), boxes: draw("g"), marks: draw("g")};
view.group.append(layers.under, layers.boxes, layers.edges, layers.marks);
const boxesOf = ops.map(() => []);
let chosen = null;

function drawLanes() {
  for (const lane of lanes) {
    layers.under.append(
      draw("rect", {class: "lane", x: 0, y: lane.y, width: size.width, height: LANE, rx: 8}),
      draw("text", {class: "title", x: 12, y: lane.y + 26}, KINDS[lane.kind] ?? lane.kind),
      draw("text", {class: "small", x: 12, y: lane.y + 44}, `${lane.cores} cores`));
  }
}

function drawOps() {
  ops.forEach((op, number) => {
    const fillColour = colour(op.stream_id);
    const own = lanes.filter((lane) => op.cores[lane.kind] > 0);
    const left = at[column[number]];
    if (own.length === 2) {
      const [above, below] = own;
      layers.under.append(draw("rect", {x: left + WIDTH / 2 - 5, y: above.y + 4, width: 10, height: below.y - above.y, fill: fillColour, opacity: 0.6}));
    }
    for (const lane of own) {
      const share = op.cores[lane.kind] / lane.cores;
      const height = Math.max(20, LANE * share);
      if (share < 1) layers.boxes.append(draw("rect", {class: "idle fine", x: left, y: lane.y, width: WIDTH, height: LANE, rx: 5}));
      const box = draw("rect", {
        class: "box", x: left, y: lane.y, width: WIDTH, height, rx: 5, fill: fillColour, "data-op": op.index, tabindex: -1,
        click: () => choose(number),
      });
      tips.set(box, `${opLabel(op)}\n${shortType(op)}, ${op.block_num} blocks, stream ${op.stream_id}: ` +
        `${op.cores[lane.kind]} of ${lane.cores} ${KINDS[lane.kind]} cores`);
      boxesOf[number].push(box);
      const dark = "fill: #111";
      layers.boxes.append(box, draw("text", {class: "detail", x: left + 7, y: lane.y + 15, style: dark}, fitted(opLabel(op), WIDTH - 14, 12)));
      if (height >= 36) {
        layers.boxes.append(draw("text", {class: "small detail", x: left + 7, y: lane.y + 30, style: "fill: #333"},
          `${op.cores[lane.kind]} of ${lane.cores} cores`));
      }
      if (height >= 52 && op.op_type) {
        layers.boxes.append(draw("text", {class: "small detail", x: left + 7, y: lane.y + 44, style: "fill: #333"}, fitted(op.op_type, WIDTH - 14, 10)));
      }
      view.boxes.push({x: left, y: lane.y, width: WIDTH, height, colour: fillColour});
    }
  });
}

/** A mark in the lane, with its middle at x. */
function shape({shape: form, colour: ink}, middle, lane) {
  const centre = lane.y + LANE / 2;
  const edge = lanes.indexOf(lane) === 0 ? lane.y + LANE - 12 : lane.y + 12;
  const filled = {fill: ink};
  const open = {fill: "var(--paper)", style: `stroke: ${ink}; stroke-width: 2.5`};
  switch (form) {
    case "bar": return draw("rect", {x: middle - 3, y: lane.y, width: 6, height: LANE, ...filled});
    case "thin": return draw("rect", {x: middle - 1.5, y: lane.y + 20, width: 3, height: LANE - 40, ...filled});
    case "disc": return draw("circle", {cx: middle, cy: edge, r: 5.5, ...filled});
    case "ring": return draw("circle", {cx: middle, cy: edge, r: 4.5, ...open});
    case "out": return draw("path", {d: `M${middle - 5} ${centre - 9} l11 9 l-11 9 z`, ...filled});
    case "in": return draw("path", {d: `M${middle - 5} ${centre - 8} l10 8 l-10 8 z`, ...open});
    case "diamond": return draw("path", {d: `M${middle} ${lane.y + 4} l7 8 l-7 8 l-7 -8 z`, ...filled});
    case "hollow": return draw("path", {d: `M${middle} ${lane.y + 4} l6 8 l-6 8 l-6 -8 z`, ...open});
    case "square": return draw("rect", {x: middle - 5, y: centre - 5, width: 10, height: 10, ...filled});
    case "drop": return draw("rect", {x: middle - 3, y: centre + 18, width: 6, height: 22, rx: 3, ...filled});
    case "tick": return draw("rect", {x: middle - 2, y: lane.y + LANE - 14, width: 4, height: 12, ...filled});
    default: return draw("circle", {cx: middle, cy: centre + 30, r: 3.5, ...filled});
  }
}

/** What a step that orders cores costs, by the cost model. */
function priced(step) {
  return step.price_us > 0 ? `, ${step.price_us.toFixed(2)} us` : "";
}

/** Why a step is there, what it costs, and what would do without it. */
function why(step) {
  if (!step.reason) return "";
  const remedies = step.remedies.map((remedy) => `\nwithout it: ${remedy.text}`);
  return `\nwhy: ${step.reason}${priced(step)}${remedies.join("")}`;
}

/** Marks between the boxes; where both ends of a flag are, an arrow goes from one to the other. */
function drawMarks() {
  const ends = new Map();
  for (const lane of lanes) {
    const before = ([op, marks]) => [at[column[op]] - 9 - (marks.length - 1) * SLOT, marks];
    const behind = ([op, marks]) => [at[column[op]] + WIDTH + 9, marks];
    for (const [first, marks] of [...[...lane.before].map(before), ...[...lane.behind].map(behind)]) {
      marks.forEach((number, place) => {
        if (number === null) return;
        const step = steps[number];
        const how = MARKS[step.action];
        const middle = first + place * SLOT;
        const mark = shape(how, middle, lane);
        mark.classList.add("mark");
        if (how.fine) mark.classList.add("fine");
        mark.addEventListener("click", () => step.op !== null && choose(step.op, number));
        tips.set(mark, `${stepText(step)}${why(step)}`);
        layers.marks.append(mark);
        if (how.shape === "bar" && lane !== lanes[0] && step.kinds.length > 1 && !DATA.two_streams) {
          // All kinds of core meet here.
          layers.under.append(draw("rect", {class: "meeting", x: middle - 1.5, y: lane.y - BETWEEN, width: 3, height: BETWEEN, fill: how.colour}));
        }
        if (step.action === "set-flag" || step.action === "wait-flag") {
          const key = step.fields.map(([, value]) => value).join(" ");
          const pair = ends.get(key) ?? {sets: [], waits: [], step};
          pair[step.action === "set-flag" ? "sets" : "waits"].push([middle, lane]);
          ends.set(key, pair);
        }
      });
    }
  }
  for (const {sets, waits, step} of ends.values()) {
    sets.forEach((set, number) => waits[number] && arrow(set, waits[number], step));
  }
}

function arrow([fromX, fromLane], [toX, toLane], step) {
  const down = fromLane.y < toLane.y;
  const fromY = down ? fromLane.y + LANE - 6 : fromLane.y + 6;
  const toY = down ? toLane.y + 6 : toLane.y + LANE - 6;
  const bend = (toY - fromY) * 0.6;
  const path = draw("path", {class: "edge", d: `M${fromX} ${fromY} C${fromX} ${fromY + bend} ${toX} ${toY - bend} ${toX} ${toY}`, "marker-end": "url(#head)"});
  const names = Object.fromEntries(step.fields);
  const between = names.sender === undefined ? "the cleared workspace" : `op ${names.sender} to op ${names.receiver}`;
  layers.edges.append(wire(path, `flag ${names.direction}, ${between}${why(step)}`));
}

/** What must come before what in the model: neighbours of a stream and events, with what became of them. */
function drawOrder() {
  const group = draw("g", {class: "hidden"});
  const position = new Map(ops.map((op, number) => [op.index, number]));
  for (const edge of DATA.order) {
    const [from, to] = [position.get(edge.from), position.get(edge.to)];
    const [source, target] = [boxesOf[from]?.[0], boxesOf[to]?.[0]];
    if (!source || !target) continue;
    const [x1, x2] = [Number(source.getAttribute("x")) + WIDTH, Number(target.getAttribute("x"))];
    const [y1, y2] = [source, target].map((box) => Number(box.getAttribute("y")) + 10);
    const path = draw("path", {class: "edge implied", d: `M${x1} ${y1} C${x1 + 30} ${y1 - 40} ${x2 - 30} ${y2 - 40} ${x2} ${y2}`});
    group.append(wire(path, `op ${edge.to} after op ${edge.from}\nwhy: ${edge.reason}${orderNote(edge)}`));
  }
  layers.edges.append(group);
  return group;
}

function orderNote(edge) {
  const told = (name, need) => need === null ? "" : need.flag ? `\n${name}: flag, waited for at op ${need.received_at}` : `\n${name}: implied by other flags`;
  return told("cube to vector", edge.cube_to_vec) + told("vector to cube", edge.vec_to_cube);
}

function link(number) {
  return make("span", {class: "link", click: () => { choose(number); goTo(number); }}, opLabel(ops[number]));
}

function goTo(number) {
  const box = boxesOf[number][0];
  if (!box) return;
  const value = (name) => Number(box.getAttribute(name));
  view.to({x: value("x"), y: value("y"), width: value("width"), height: value("height")});
}

function stepItem(number) {
  const step = steps[number];
  return make("li", {class: step.calls ? "calls" : step.orders ? "orders" : null, id: `step-${number}`},
    make("span", {class: "mono"}, stepText(step)), step.reason ? make("span", {class: "why", title: why(step).trim()}, ` — ${step.reason}${priced(step)}`) : null);
}

/** Shows an op in the panel: what it is, its slots, its steps. */
function choose(number, stepNumber = null) {
  if (chosen !== null) boxesOf[chosen].forEach((box) => box.classList.remove("chosen"));
  chosen = number;
  boxesOf[number].forEach((box) => box.classList.add("chosen"));
  const op = ops[number];
  const flags = [op.dynamic && "dynamic: functions picked at run time", op.needs_feed_sync_all && "idle cores follow its SyncAll",
    op.sets_itself && "sets for early start itself", op.waits_itself && "waits for early start itself"].filter(Boolean);
  const used = lanes.filter((lane) => op.cores[lane.kind] > 0).map((lane) => `${op.cores[lane.kind]} of ${lane.cores} ${KINDS[lane.kind]}`);
  const slots = DATA.slots.filter((slot) => slot.op === op.index);
  const own = steps.map((step, place) => [step, place]).filter(([step]) => step.op === number).map(([, place]) => place);
  const functions = op.functions.map((one) => one.name !== undefined
    ? [one.kind, one.name, one.text_size ?? "?"] : [`key ${one.tiling_key}`, [one.aic, one.aiv].filter(Boolean).join(", "), "?"]);
  panel(
    make("h2", {id: "chosen"}, opLabel(op)),
    make("div", {}, ...[shortType(op), op.op_type, `stream ${op.stream_id}`, `${op.block_num} blocks`].filter(Boolean).flatMap((text) => [make("span", {class: "chip"}, text), " "])),
    make("div", {}, `runs on ${used.join(" and ") || "no"} cores`),
    ...flags.map((text) => make("div", {class: "soft"}, text)),
    op.send_event_list.length + op.recv_event_list.length > 0
      ? make("div", {}, `sends ${op.send_event_list.join(", ") || "nothing"}; receives ${op.recv_event_list.join(", ") || "nothing"}`) : null,
    op.after.length > 0 ? make("h3", {}, "after") : null,
    op.after.length > 0 ? make("div", {}, ...op.after.flatMap((other) => [link(other), " "])) : null,
    ...opForecast(number),
    make("h3", {}, "functions"), table(["kind", "name", "#bytes"], functions),
    make("h3", {}, `slots (${slots.length})`), table(["#slot", "name", "role"], slots.map((slot) => [slot.slot, slot.name, slot.role])),
    make("h3", {}, `steps (${own.length})`), make("ul", {class: "steps"}, ...own.map(stepItem)));
  if (stepNumber !== null) document.getElementById(`step-${stepNumber}`)?.scrollIntoView({block: "center"});
}

/** What the cost model expects of an op. */
function opForecast(number) {
  const told = DATA.predicted?.ops[number];
  if (!told) return [];
  return [
    make("h3", {}, "predicted from the profile"),
    table(["", ""], [
      ["alone", `${estimated(told.unfused)}, ${told.source}`], ["starts", `${told.start.toFixed(2)} us`], ["ends", `${told.end.toFixed(2)} us`],
      ["imbalance", `${told.imbalance.toFixed(2)} us`], ["decides the kernel's time", told.decides ? "yes" : "no"]]),
  ];
}

/** The warnings; many of them only when asked for. */
function warnings() {
  const texts = DATA.warnings.map((text) => make("div", {class: "warn"}, `warning: ${text}`));
  return texts.length > 2
    ? make("details", {}, make("summary", {class: "warn"}, counted(texts.length, "warning")), ...texts) : make("div", {}, ...texts);
}

function summary() {
  const marks = Object.entries(MARKS).filter(([action]) => steps.some((step) => step.action === action));
  const seen = new Set();
  const legend = marks.filter(([, how]) => !seen.has(how.name) && seen.add(how.name)).map(([action, how]) => {
    const icon = draw("svg", {width: 22, height: 22, viewBox: "0 0 22 22"});
    icon.append(shape({...how, shape: how.shape === "bar" ? "thin" : how.shape}, 11, {y: 11 - LANE / 2}));
    // The same shapes in a box of their own: moved to the middle, whatever their place in a lane.
    requestAnimationFrame(() => {
      const box = icon.firstChild.getBBox();
      icon.setAttribute("viewBox", `${box.x + box.width / 2 - 11} ${box.y + box.height / 2 - 11} 22 22`);
    });
    const total = steps.filter((step) => MARKS[step.action]?.name === how.name).length;
    return [icon, how.name, total];
  });
  panel(
    make("h2", {}, DATA.kernel_name),
    make("div", {}, `${DATA.kernel_type.replace("KERNEL_TYPE_", "")}, ${DATA.block_num} blocks, ` +
      `${DATA.two_streams ? "several streams" : "one stream"}, ${DATA.split_mode} code ${DATA.split_mode === 1 ? "copy" : "copies"}, for ${DATA.soc}`),
    make("div", {class: "soft"}, "Click an op or a mark. Wheel: zoom; drag: move; shift and wheel: sideways. " +
      "Keys: / search, f everything, + and - zoom, arrows: next op."),
    ...(DATA.predicted ? gainTable(DATA.predicted) : []),
    warnings(),
    make("h3", {}, "marks"), table(["", "what", "#steps"], legend),
    make("h3", {}, "streams"),
    make("div", {}, ...[...new Set(ops.map((op) => op.stream_id))].flatMap((stream) =>
      [make("span", {class: "chip", style: `background: ${colour(stream)}; color: #111`}, `stream ${stream}`), " "])),
    make("h3", {}, `slots of the kernel (${DATA.slots.filter((slot) => slot.op === null).length} of ${DATA.slots.length})`),
    table(["#slot", "name", "role"], DATA.slots.filter((slot) => slot.op === null).map((slot) => [slot.slot, slot.name, slot.role])),
    make("h3", {}, "before and after all ops"),
    make("ul", {class: "steps"}, ...steps.map((_, place) => place).filter((place) => steps[place].op === null).map(stepItem)));
}

drawLanes();
drawOps();
// Ops stand by column: of those that share one the first names it.
const named = new Map();
ops.forEach((op, number) => { if (!named.has(column[number])) named.set(column[number], {x: at[column[number]], text: `op ${op.index}`}); });
view.rows = lanes.map((lane) => ({y: lane.y, text: KINDS[lane.kind] ?? lane.kind}));
view.signs = [...named.values()].sort((left, right) => left.x - right.x);
drawMarks();
const order = drawOrder();
const bar = document.querySelector(".facts");
bar.append(make("span", {class: "chip"}, counted(ops.length, "op")), " ", make("span", {class: "chip"}, counted(steps.length, "step")), " ",
  DATA.predicted ? make("span", {class: "chip gain"}, `predicted gain ${DATA.predicted.gain.us.toFixed(2)} us, ${DATA.predicted.gain_percent.toFixed(1)} %`) : "", " ",
  make("span", {class: "link", click: summary}, "summary and legend"));
if (DATA.order.length > 0) {
  const box = make("input", {type: "checkbox", change: () => order.classList.toggle("hidden", !box.checked)});
  bar.append(" ", make("label", {class: "toggle"}, box, " all order"));
}
controls(view);
search(ops.map((op, number) => ({
  text: `${opLabel(op)}  ${op.op_type} ${shortType(op)} stream ${op.stream_id}`,
  go: () => { choose(number); goTo(number); },
})));
addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || (event.key !== "ArrowRight" && event.key !== "ArrowLeft") || ops.length === 0) return;
  const next = chosen === null ? 0 : Math.min(ops.length - 1, Math.max(0, chosen + (event.key === "ArrowRight" ? 1 : -1)));
  choose(next);
  goTo(next);
});
tips.follow(document.querySelector(".drawing"));
summary();
view.start();
// Another page may point at an op: `#op-3`.
const asked = /^#op-(\d+)$/.exec(location.hash);
const wanted = asked ? ops.findIndex((op) => op.index === Number(asked[1])) : -1;
if (wanted >= 0) { choose(wanted); goTo(wanted); }
document.body.dataset.ready = "yes";
