// The picture of traces: a row per core and pipe over a time axis. Only what can be seen is drawn, at every scale: slices
// that would be too narrow are drawn as one, and of arrows those of the longest waits.
"use strict";

const [GUTTER, ROW, LEAST_ROW, HEAD, TOP] = [132, 20, 3, 30, 24];
/** Most slices, arrows and corners of the critical path that are drawn at once. */
const [MOST, MOST_ARROWS, MOST_CORNERS] = [3000, 300, 240];
/** Numbers per slice in the data: start, length, name, kind, arguments, depth. */
const FIELDS = 6;

/** Colours of kinds; ops have colours of their own. */
const COLOURS = {
  "barrier": "#d9480f", "wait": "#8a94a3", "wait for the other half": "#8a94a3", "released": "#1f6feb", "set": "#1f6feb", "sets": "#1f6feb",
  "hand-over": "#2b8a3e", "event": "#b46a00", "SyncAll": "#c2255c", "flush": "#0b7285", "clear workspace": "#a0522d", "preload": "#adb5bd",
  "code fetch": "#868e96", "task start": "#8338ec", "record": "#ced4da", "failure": "#e03131", "agent": "#5f3dc4", "short steps": "#b8bfc9",
  "between ops": "#ced4da", "instruction": "#4dabf7",
};

const kernels = DATA.kernels.map((kernel, number) => ({
  // Here the axis has the unit of the kernel.
  ...kernel, number, axis: kernel.axis.replace(", shown as us", ""), tracks: kernel.tracks.map(readTrack), route: readTrack({name: "critical path", core: true, slices: kernel.along}, -1),
}));
const longest = Math.max(1, ...kernels.map((kernel) => kernel.end));
const isOneUnit = new Set(kernels.map((kernel) => kernel.unit)).size <= 1;
// Times of different units have no common axis: then all kernels are as wide as the longest.
for (const kernel of kernels) kernel.stretch = isOneUnit || kernel.end === 0 ? 1 : longest / kernel.end;
const hasPipes = kernels.some((kernel) => kernel.tracks.some((track) => !track.core));
let chosen = null;
let rows = [];
let rowHeight = ROW;

function readTrack({name, core, slices}, number) {
  const count = slices.length / FIELDS;
  const field = (place) => Float64Array.from({length: count}, (_, at) => slices[at * FIELDS + place]);
  const [start, length, label, kind, argument, depth] = [0, 1, 2, 3, 4, 5].map(field);
  // Those that stand in no other: they follow each other, so that the first that is seen is found at once.
  const outer = Int32Array.from([...depth.keys()].filter((at) => depth[at] === 0));
  return {name, core, number, count, start, end: start.map((at, place) => at + length[place]), label, kind, argument, depth, outer};
}

const nameOf = (kernel, track, at) => kernel.names[track.label[at]];
const kindOf = (kernel, track, at) => kernel.kinds[track.kind[at]];
const opNumbers = kernels.map((kernel) => new Map(kernel.ops.map(([label], number) => [label, number])));

function colourOf(kernel, track, at) {
  const kind = kindOf(kernel, track, at);
  return kind === "op" ? colour(opNumbers[kernel.number].get(nameOf(kernel, track, at)) ?? 0) : COLOURS[kind] ?? "#adb5bd";
}

/** A length of time in the unit of its kernel. */
function timed(nanos, kernel) {
  return `${amount(nanos / 1000)} ${kernel.unit}`;
}

function amount(value) {
  const digits = Math.abs(value) >= 1000 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return value.toFixed(digits).replace(/\.?0+$/, "");
}

/** A time axis on the left of which the names of rows stand still; heights do not follow the scale. */
class Timeline extends View {
  constructor(holder, overview) {
    super(holder, {width: longest, height: 1}, overview);
    this.inset = GUTTER;
    // A nanosecond is the finest there is.
    this.most = 40;
    this.frame = null;
    this.shown = {rows: draw("g"), slices: draw("g"), arrows: draw("g"), path: draw("g"), names: draw("g")};
    this.group.append(...Object.values(this.shown));
  }

  tall() { return 1; }

  least() { return (this.holder.clientWidth - GUTTER - 16) / this.size.width; }

  px(nanos, kernel) { return this.x + nanos * kernel.stretch * this.scale; }

  nanos(px, kernel) { return (px - this.x) / this.scale / kernel.stretch; }

  /** From the start on, rows as high as fits, if they can be read then. */
  start() { this.fit(12); }

  whole() { this.fit(LEAST_ROW); }

  fit(least) {
    const heads = rows.filter((row) => !row.track).length;
    const room = (this.holder.clientHeight - TOP - heads * HEAD - 8) / Math.max(1, rows.length - heads);
    rowHeight = Math.max(least, Math.min(ROW, Math.floor(room)));
    this.arrange();
    Object.assign(this, {x: GUTTER, y: 0, scale: this.least()});
    this.place();
  }

  /** Which rows there are, and where. */
  arrange() {
    rows = [];
    let y = TOP;
    for (const kernel of kernels) {
      rows.push({kernel, track: null, y, height: HEAD});
      y += HEAD;
      const route = kernel.route.count > 0 && !hidden("path") ? [kernel.route] : [];
      for (const track of [...route, ...kernel.tracks]) {
        if (!track.core && hidden("pipes")) continue;
        rows.push({kernel, track, y, height: rowHeight});
        y += rowHeight;
      }
    }
    this.size.height = y + 8;
    this.boxes = [];
    for (const {kernel, track, y: top} of rows) {
      if (!track) continue;
      for (const at of track.outer) {
        if (kindOf(kernel, track, at) !== "op") continue;
        const [x, width] = [track.start[at] * kernel.stretch, (track.end[at] - track.start[at]) * kernel.stretch];
        this.boxes.push({x, y: top, width, height: rowHeight, colour: colourOf(kernel, track, at)});
      }
    }
    this.copy = null;
  }

  to({kernel, track, from, until}) {
    const middle = ((from + until) / 2) * kernel.stretch;
    const wanted = (this.holder.clientWidth - GUTTER) / 6 / Math.max(1, (until - from) * kernel.stretch);
    this.scale = Math.min(this.most, Math.max(this.scale, wanted, this.least()));
    if (rowHeight < 12) { rowHeight = ROW; this.arrange(); }
    const row = rows.find((one) => one.kernel === kernel && one.track === track);
    this.x = (this.holder.clientWidth + GUTTER) / 2 - middle * this.scale;
    if (row) this.y = this.holder.clientHeight / 2 - row.y;
    this.place();
  }

  place() {
    const [width, height] = [this.holder.clientWidth, this.holder.clientHeight];
    // Nothing is to be seen beside the drawing.
    this.scale = Math.max(this.scale, this.least());
    this.x = Math.min(GUTTER, Math.max(width - 16 - this.size.width * this.scale, this.x));
    this.y = Math.min(0, Math.max(height - this.size.height, this.y));
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.redraw(); });
  }

  redraw() {
    const [width, height] = [this.holder.clientWidth, this.holder.clientHeight];
    const seen = rows.filter((row) => row.y + row.height + this.y > TOP && row.y + this.y < height);
    let drawn = null;
    // Wider and wider slices are drawn as one until there are few enough of them.
    for (let least = 2; drawn === null; least *= 2) drawn = this.slices(seen, width, least);
    this.shown.slices.replaceChildren(...drawn);
    this.rowsAndNames(seen, width);
    this.shown.arrows.replaceChildren(...(hidden("arrows") ? [] : this.arrows(seen, width)));
    this.shown.path.replaceChildren(...(hidden("path") ? [] : this.path(width)));
    this.drawRuler();
    this.drawOverview();
  }

  /** What of the rows can be seen; `null` if that is too much. */
  slices(seen, width, least) {
    const boxes = [];
    for (const row of seen) {
      const {kernel, track} = row;
      if (!track) continue;
      const [from, until] = [this.nanos(GUTTER, kernel), this.nanos(width, kernel)];
      let run = null;
      const close = () => { if (run) boxes.push(this.merged(row, run)); run = null; };
      for (let at = firstSeen(track, from); at < track.count && track.start[at] < until; at++) {
        if (track.end[at] < from) continue;
        const [left, right] = [this.px(track.start[at], kernel), this.px(track.end[at], kernel)];
        if (right - left >= least) {
          if (track.depth[at] === 0) close();
          boxes.push(...this.slice(row, at, Math.max(left, GUTTER - 4), Math.min(right, width + 4)));
        } else if (track.depth[at] === 0) {
          if (run && (left - run.right >= least || run.right - run.left >= 3 * least)) close();
          run ??= {first: at, at, left, right, count: 0};
          run.right = Math.max(run.right, right);
          run.count += 1;
          // In the colour of the longest, of an op if there is one.
          const weight = (one) => [kindOf(kernel, track, one) === "op" ? 1 : 0, track.end[one] - track.start[one]];
          const [mine, its] = [weight(at), weight(run.at)];
          if (mine[0] > its[0] || (mine[0] === its[0] && mine[1] > its[1])) run.at = at;
        }
        if (boxes.length > MOST && least < width) return null;
      }
      close();
    }
    return boxes;
  }

  /** A box, and its name if there is room for it. */
  slice(row, at, left, right) {
    const {kernel, track} = row;
    const inset = Math.min(track.depth[at] * 4, row.height / 2);
    const [top, height] = [row.y + this.y + 1 + inset, Math.max(1, row.height - 2 - inset)];
    const isOp = kindOf(kernel, track, at) === "op";
    const isChosen = chosen && chosen.kernel === kernel && chosen.track === track && chosen.at === at;
    const box = draw("rect", {
      class: `box slice${isChosen ? " chosen" : ""}`, x: left, y: top, width: Math.max(0.5, right - left), height, fill: colourOf(kernel, track, at),
      "data-name": nameOf(kernel, track, at), click: () => choose(kernel, track, at),
    });
    tips.set(box, () => sliceTip(kernel, track, at));
    if (right - left <= 34 || height < 11) return [box];
    const style = isOp || kindOf(kernel, track, at) === "instruction" ? "fill: #111" : "fill: #fff";
    return [box, draw("text", {class: "small", x: left + 4, y: top + height / 2 + 3.5, style}, fitted(nameOf(kernel, track, at), right - left - 8, 10))];
  }

  /** Several that are too narrow. */
  merged(row, {first, at, left, right, count}) {
    const {kernel, track} = row;
    const box = draw("rect", {
      class: `box slice${count > 1 ? " many" : ""}`, x: left, y: row.y + this.y + 1, width: Math.max(1, right - left), height: Math.max(1, row.height - 2),
      fill: colourOf(kernel, track, at),
      click: () => count === 1 ? choose(kernel, track, at) : this.zoom(8, (left + right) / 2, row.y + this.y),
    });
    return tips.set(box, () => count === 1 ? sliceTip(kernel, track, at) : `${counted(count, "slice")} on ${track.name}, from ${timed(track.start[first], kernel)} on: zoom in`);
  }

  rowsAndNames(seen, width) {
    const [lanes, names] = [[], [draw("rect", {class: "gutter", x: 0, y: 0, width: GUTTER - 4, height: this.holder.clientHeight})]];
    let free = -Infinity;
    for (const {kernel, track, y, height} of seen) {
      const top = y + this.y;
      if (!track) {
        const run = DATA.runs.length > 1 ? `${kernel.run === 0 ? "A" : "B"}: ` : "";
        names.push(draw("rect", {class: "gutter", x: 0, y: top, width, height: height - 2}),
          draw("text", {class: "title", x: 8, y: top + 19}, shortened(`${run}${kernel.kernel}  ${kernel.axis}`, Math.floor(width / 8))));
        continue;
      }
      lanes.push(draw("rect", {class: "lane", x: GUTTER, y: top + 1, width: width - GUTTER, height: Math.max(1, height - 2)}));
      // From far away not every row has room for its name.
      if (top - free < 11) continue;
      free = top;
      names.push(draw("text", {class: "small row", x: track.core ? 8 : 22, y: top + Math.min(height, 14) - 3}, fitted(track.name, GUTTER - 30, 10)));
    }
    this.shown.rows.replaceChildren(...lanes);
    this.shown.names.replaceChildren(...names);
  }

  /** Arrows between rows that are seen, those that took longest first; of a chosen slice all. */
  arrows(seen, width) {
    const found = [];
    for (const kernel of kernels) {
      const place = new Map(seen.filter((row) => row.kernel === kernel && row.track).map((row) => [row.track.number, row]));
      if (place.size === 0) continue;
      const [from, until] = [this.nanos(GUTTER, kernel), this.nanos(width, kernel)];
      for (let at = 0; at < kernel.arrows.length; at += 4) {
        const [source, sets, target, lands] = kernel.arrows.slice(at, at + 4);
        if (lands < from || sets > until || !place.has(source) || !place.has(target)) continue;
        const own = chosen && chosen.kernel === kernel && [source, target].includes(chosen.track.number);
        found.push({kernel, source: place.get(source), sets, target: place.get(target), lands, own});
      }
    }
    // Each is a line to look at only if there is room for it.
    const isCrowded = found.length > MOST_ARROWS;
    const kept = isCrowded ? found.filter((one) => one.own || this.px(one.lands, one.kernel) - this.px(one.sets, one.kernel) > 2) : found;
    kept.sort((left, right) => Number(right.own) - Number(left.own) || (right.lands - right.sets) - (left.lands - left.sets));
    return kept.slice(0, MOST_ARROWS).map(({kernel, source, sets, target, lands, own}) => {
      const [x1, x2] = [this.px(sets, kernel), this.px(lands, kernel)];
      const [y1, y2] = [source.y + source.height / 2 + this.y, target.y + target.height / 2 + this.y];
      const bend = Math.max(12, Math.min(60, (x2 - x1) / 2));
      const path = draw("path", {class: `edge thin${own ? " own" : ""}`, d: `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, "marker-end": "url(#head)"});
      return wire(path, `${source.track.name} set at ${timed(sets, kernel)}\n${target.track.name} went on at ${timed(lands, kernel)}`);
    });
  }

  /** The critical path from row to row: a line per kernel, where it does not change rows too often to be followed. */
  path(width) {
    return kernels.filter((kernel) => kernel.path.length > 0).map((kernel) => {
      const place = new Map(rows.filter((row) => row.kernel === kernel && row.track).map((row) => [row.track.number, row]));
      const points = [];
      const add = (x, y) => {
        const last = points[points.length - 1];
        if (!last || Math.abs(last[0] - x) >= 1 || Math.abs(last[1] - y) >= 1) points.push([x, y]);
      };
      for (let at = 0; at < kernel.path.length; at += 3) {
        const [track, from, until] = kernel.path.slice(at, at + 3);
        const row = place.get(track);
        const [left, right] = [this.px(from, kernel), this.px(until, kernel)];
        if (!row || right < GUTTER - 40 || left > width + 40) continue;
        const y = row.y + this.y + row.height - 2;
        // From the end to the start.
        add(Math.min(width + 30, right), y);
        add(Math.max(GUTTER - 30, left), y);
      }
      if (points.length > MOST_CORNERS) return "";
      return draw("path", {class: "critical", d: points.map(([x, y], number) => `${number ? "L" : "M"}${x.toFixed(1)} ${y}`).join("")});
    });
  }

  /** The time axis: round numbers, as many as there is room for. */
  drawRuler() {
    const kernel = kernels[0];
    const width = this.holder.clientWidth;
    const shown = [draw("rect", {class: "gutter", x: 0, y: 0, width, height: TOP - 4})];
    if (kernel) {
      const least = this.nanos(110, kernel) - this.nanos(0, kernel);
      const power = 10 ** Math.floor(Math.log10(least));
      const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= least);
      for (let at = Math.max(0, Math.ceil(this.nanos(GUTTER, kernel) / step)) * step; this.px(at, kernel) < width - 40; at += step) {
        const x = this.px(at, kernel);
        shown.push(draw("line", {x1: x, x2: x, y1: 2, y2: TOP - 4}), draw("text", {class: "small", x: x + 3, y: 14}, timed(at, kernel)));
      }
    }
    this.ruler.replaceChildren(...shown);
  }
}

/** The first slice that may be seen from a time on. */
function firstSeen(track, from) {
  let [least, most] = [0, track.outer.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (track.start[track.outer[middle]] <= from) least = middle + 1; else most = middle;
  }
  return least === 0 ? 0 : track.outer[least - 1];
}

function sliceTip(kernel, track, at) {
  const words = kernel.args[track.argument[at]] ?? {};
  const told = Object.entries(words).filter(([key]) => key !== "op").map(([key, value]) => `${key}: ${value}`);
  return [`${nameOf(kernel, track, at)} on ${track.name}`, `${timed(track.start[at], kernel)} to ${timed(track.end[at], kernel)}: ${timed(track.end[at] - track.start[at], kernel)}`, ...told].join("\n");
}

// -- the panel ---------------------------------------------------------------------------------------------------------

function link(text, kernel, track, at) {
  return make("span", {class: "link", click: () => { choose(kernel, track, at); goTo(kernel, track, at); }}, text);
}

function goTo(kernel, track, at) {
  view.to({kernel, track, from: track.start[at], until: track.end[at]});
}

/** The innermost slice of a track at a time. */
function sliceAt(track, time) {
  let found = -1;
  for (let at = firstSeen(track, time); at < track.count && track.start[at] <= time; at++) if (track.end[at] >= time) found = at;
  return found;
}

/** The first slice of an op. */
function sliceOf(kernel, label) {
  const op = kernel.ops[opNumbers[kernel.number].get(label) ?? -1];
  if (!op) return null;
  const track = kernel.tracks[op[5]];
  for (let at = firstSeen(track, op[1]); at < track.count; at++) {
    if (track.start[at] === op[1] && nameOf(kernel, track, at) === label) return {track, at};
  }
  return null;
}

function opLink(kernel, label) {
  const found = sliceOf(kernel, label);
  return found ? link(label, kernel, found.track, found.at) : label;
}

function choose(kernel, track, at) {
  chosen = {kernel, track, at};
  const label = nameOf(kernel, track, at);
  const words = Object.entries(kernel.args[track.argument[at]] ?? {});
  const ends = [];
  for (let place = 0; place < kernel.arrows.length; place += 4) {
    const [source, sets, target, lands] = kernel.arrows.slice(place, place + 4);
    const inside = (number, time) => number === track.number && time >= track.start[at] && time <= track.end[at];
    const other = (number, time) => {
      const there = kernel.tracks[number];
      const slice = sliceAt(there, time);
      return slice < 0 ? there.name : link(`${there.name}: ${nameOf(kernel, there, slice)}`, kernel, there, slice);
    };
    if (inside(target, lands)) ends.push(["released by", other(source, sets), timed(sets, kernel)]);
    else if (inside(source, sets)) ends.push(["sets for", other(target, lands), timed(lands, kernel)]);
  }
  const op = kernel.ops[opNumbers[kernel.number].get(kindOf(kernel, track, at) === "op" ? label : words.find(([key]) => key === "of")?.[1]) ?? -1];
  panel(
    make("h2", {id: "chosen"}, label),
    make("div", {}, ...[track.name, kindOf(kernel, track, at), kernel.kernel].flatMap((text) => [make("span", {class: "chip"}, text), " "])),
    table(["", ""], [["from", timed(track.start[at], kernel)], ["to", timed(track.end[at], kernel)], ["takes", timed(track.end[at] - track.start[at], kernel)], ...words]),
    ends.length > 0 ? make("h3", {}, `arrows (${ends.length})`) : null,
    ends.length > 0 ? table(["", "other end", "#at"], ends.slice(0, 100)) : null,
    op ? make("h3", {}, `op ${op[0]} on all cores`) : null,
    op ? table(["", ""], [["first start", timed(op[1], kernel)], ["last end", timed(op[2], kernel)], ["runs", op[4]], ["average", timed(op[3] / op[4], kernel)]]) : null);
  view.place();
}

function pathPart(kernel) {
  if (kernel.path.length === 0) return [make("p", {class: "soft"}, `${kernel.kernel}: no arrows are known, so nothing is said of its critical path.`)];
  const most = kernel.shares.slice(0, 12);
  return [
    make("h3", {}, `critical path of ${kernel.kernel}`),
    table(["spent in", `#${kernel.unit}`, "#share"], most.map(([label, nanos]) => [opLink(kernel, label), amount(nanos / 1000), `${(100 * nanos / Math.max(1, kernel.end)).toFixed(1)} %`])),
  ];
}

function differences(pair) {
  const [first, second] = [0, 1].map((run) => kernels.find((kernel) => kernel.run === run && (kernel.kernel === pair.kernel || kernels.filter((one) => one.run === run).length === 1)));
  const isSame = pair.units[0] === pair.units[1];
  const shown = pair.rows.slice(0, 200).map(([label, before, after, change]) => [
    opLink(before === null ? second : first, label), before === null ? "" : amount(before), after === null ? "" : amount(after),
    isSame ? make("span", {class: change > 0 ? "bad" : change < 0 ? "good" : "soft"}, `${change > 0 ? "+" : ""}${amount(change)}`) : "",
  ]);
  return [
    make("h3", {}, `A and B, op by op: ${pair.kernel}`),
    isSame ? null : make("div", {class: "warn"}, `A counts ${pair.units[0]}, B ${pair.units[1]}: they are drawn equally wide, and cannot be subtracted.`),
    table(["op", `#A ${pair.units[0]}`, `#B ${pair.units[1]}`, "#change"], shown),
    pair.rows.length > 200 ? make("div", {class: "soft"}, `and ${pair.rows.length - 200} more with smaller differences`) : null,
  ];
}

function summary() {
  panel(...[
    make("h2", {}, DATA.runs.length > 1 ? "two runs" : kernels[0]?.kernel ?? "nothing ran"),
    ...DATA.runs.map((run, number) => run ? make("div", {}, `${number === 0 ? "A" : "B"}: ${run}`) : null),
    make("div", {class: "soft"}, "Click a slice. Wheel: zoom; drag: move; shift and wheel: sideways. " +
      "Keys: / search, f everything, + and - zoom, up and down scroll, left and right: the slice before and after."),
    ...kernels.map((kernel) => make("p", {}, make("b", {}, kernel.kernel), `: ${kernel.axis || kernel.unit}; ${counted(kernel.ops.length, "op")}, ` +
      `${counted(kernel.tracks.length, "track")}, ${timed(kernel.end, kernel)}`)),
    ...kernels.flatMap((kernel) => kernel.notes.map((note) => make("p", {class: "warn"}, note))),
    ...DATA.pairs.flatMap(differences),
    ...kernels.flatMap(pathPart),
  ].flat());
}

// -- the bar -----------------------------------------------------------------------------------------------------------

const switches = {};

/** Whether something is not to be shown. */
function hidden(name) {
  return switches[name] ? !switches[name].checked : name === "pipes" ? false : true;
}

function addSwitch(name, text, isOn, change) {
  const box = make("input", {type: "checkbox", change, "data-switch": name});
  box.checked = isOn;
  switches[name] = box;
  document.querySelector(".facts").append(" ", make("label", {class: "toggle"}, box, ` ${text}`));
}

const view = new Timeline(document.querySelector(".drawing"), document.querySelector(".overview"));
const facts = document.querySelector(".facts");
facts.append(make("span", {class: "chip"}, counted(kernels.reduce((sum, kernel) => sum + kernel.ops.length, 0), "op")), " ",
  make("span", {class: "chip"}, counted(kernels.reduce((sum, kernel) => sum + kernel.tracks.length, 0), "track")), " ",
  make("span", {class: "link", click: summary}, "summary"));
if (kernels.some((kernel) => kernel.arrows.length > 0)) addSwitch("arrows", "arrows", true, () => view.place());
if (kernels.some((kernel) => kernel.path.length > 0)) addSwitch("path", "critical path", true, () => { view.arrange(); view.place(); });
if (hasPipes) addSwitch("pipes", "pipes", true, () => { view.arrange(); view.place(); });
controls(view);
search(kernels.flatMap((kernel) => [
  ...kernel.ops.map(([label]) => ({
    text: `${label}  op${kernels.length > 1 ? ` of ${DATA.runs.length > 1 ? (kernel.run === 0 ? "A" : "B") : ""} ${kernel.kernel}` : ""}`,
    go: () => { const found = sliceOf(kernel, label); if (found) { choose(kernel, found.track, found.at); goTo(kernel, found.track, found.at); } },
  })),
  ...kernel.tracks.filter((track) => track.count > 0).map((track) => ({
    text: `${track.name}  track${kernels.length > 1 ? ` of ${kernel.kernel}` : ""}`,
    go: () => { choose(kernel, track, 0); goTo(kernel, track, 0); },
  })),
]));
addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT") return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    view.y += (event.key === "ArrowUp" ? 3 : -3) * rowHeight;
    view.place();
  }
  if (!chosen || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
  const {kernel, track} = chosen;
  const next = chosen.at + (event.key === "ArrowRight" ? 1 : -1);
  if (next < 0 || next >= track.count) return;
  choose(kernel, track, next);
  goTo(kernel, track, next);
});
tips.follow(document.querySelector(".drawing"));
view.arrange();
summary();
view.start();
const asked = /^#op-(\d+)$/.exec(location.hash);
const wanted = asked && kernels[0]?.ops.find(([label]) => label.startsWith(`${asked[1]} `));
if (wanted) { const found = sliceOf(kernels[0], wanted[0]); choose(kernels[0], found.track, found.at); goTo(kernels[0], found.track, found.at); }
// The first frame is there when a page is looked at.
requestAnimationFrame(() => requestAnimationFrame(() => { document.body.dataset.ready = "yes"; }));
