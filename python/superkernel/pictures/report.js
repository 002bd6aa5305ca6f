// The report of a build: what became of the scopes of a model and of its super kernels, and where the time went.
"use strict";

const root = document.querySelector("main");
const STATES = {compiled: "good", "up to date": "soft", "from cache": "good", shared: "soft", failed: "bad"};
const time = (milliseconds) => milliseconds >= 10000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${milliseconds.toFixed(0)} ms`;
const bytes = (count) => count === null || count === undefined ? "" : count >= 10240 ? `${(count / 1024).toFixed(0)} KiB` : `${count} B`;
const PREDICTED = DATA.predicted ?? {};
const STAGES = [...new Set(DATA.kernels.flatMap((kernel) => Object.keys(kernel.stages)))];

/** A bar of the stages of one build, as long as its share of the longest. */
function stageBar(kernel, longest) {
  const bar = make("span", {class: "stages"});
  for (const [stage, milliseconds] of Object.entries(kernel.stages)) {
    const width = (100 * milliseconds) / longest;
    if (width < 0.2) continue;
    const part = make("span", {style: `width: ${width}%; background: ${colour(STAGES.indexOf(stage))}`, title: `${stage}: ${time(milliseconds)}`});
    bar.append(part);
  }
  return bar;
}

function kernelName(kernel) {
  // The end of a long name is cut off on screen, not for whoever copies it.
  const name = make("span", {class: "mono cut-off", title: kernel.kernel_name}, kernel.kernel_name);
  return kernel.picture ? make("a", {href: kernel.picture}, name) : name;
}

function kernelTable() {
  const longest = Math.max(1, ...DATA.kernels.map((kernel) => Object.values(kernel.stages).reduce((sum, one) => sum + one, 0)));
  const isForecast = Object.keys(PREDICTED).length > 0;
  const header = ["super kernel", "kernel", "state", "#ops", "#object", ...(isForecast ? ["#predicted gain"] : []), "#build time", "stages"];
  // What failed stands above.
  const rows = [...DATA.kernels].sort((left, right) => Number(right.origin === "failed") - Number(left.origin === "failed"));
  return table(header, rows.map((kernel) => [
    make("span", {id: anchor(kernel.piece)}, kernel.piece), kernelName(kernel),
    make("span", {class: `whole ${STATES[kernel.origin] ?? ""}`}, kernel.origin), kernel.ops,
    bytes(kernel.size), ...(isForecast ? [gain(PREDICTED[kernel.piece])] : []), buildTime(kernel), stageBar(kernel, longest),
  ]));
}

function gain(predicted) {
  if (!predicted) return "";
  return make("span", {class: predicted.gain.us >= 0 ? "good" : "bad", title: `${estimated(predicted.unfused)} → ${estimated(predicted.fused)}`},
    `${predicted.gain.us.toFixed(2)} us, ${predicted.gain_percent.toFixed(1)} %`);
}

/** What a build took; waiting, for a processor or for the same kernel of another piece, is no part of that. */
function buildTime(kernel) {
  const waited = kernel.waited >= 1 ? make("div", {class: "soft"}, `waited ${time(kernel.waited)}`) : null;
  return make("span", {}, time(kernel.milliseconds), waited);
}

/** The predicted gain of all super kernels together, and what decides about it. */
function forecastPart() {
  const known = Object.entries(PREDICTED);
  if (known.length === 0) return [];
  const sum = (part) => known.reduce((total, [, one]) => total + one[part].us, 0);
  const [before, after] = [sum("unfused"), sum("fused")];
  return [
    make("h2", {}, "Predicted gain"),
    make("p", {}, make("b", {}, `${before.toFixed(2)} us → ${after.toFixed(2)} us, ${(100 * (before - after) / Math.max(before, 1e-9)).toFixed(1)} %`),
      ` of ${counted(known.length, "super kernel")}: predicted by the cost model, not measured (${DATA.prices})`),
    table(["super kernel", "#ops alone", "#as one kernel", "#gain", "because"], known.map(([name, one]) => [
      name, estimated(one.unfused), estimated(one.fused), `${one.gain.us.toFixed(2)} us`,
      one.reasons.slice(0, 3).map((reason) => `${reason.what} ${reason.us >= 0 ? "+" : ""}${reason.us.toFixed(2)}`).join(", "),
    ])),
  ];
}

function stageTable() {
  const sums = STAGES.map((stage) => [stage, DATA.kernels.reduce((sum, kernel) => sum + (kernel.stages[stage] ?? 0), 0)]);
  const all = Math.max(1, ...sums.map(([, sum]) => sum));
  return table(["stage", "#all kernels", ""], sums.map(([stage, sum]) => [
    make("span", {}, make("span", {class: "dot", style: `background: ${colour(STAGES.indexOf(stage))}`}), stage), time(sum),
    make("span", {class: "stages"}, make("span", {style: `width: ${(100 * sum) / all}%; background: ${colour(STAGES.indexOf(stage))}`})),
  ]));
}

/** A super kernel by name, with a link to its row and what became of it, if that is not what one expects. */
function pieceLink(name) {
  const failed = DATA.kernels.some((kernel) => kernel.piece === name && kernel.origin === "failed");
  return make("span", {}, make("a", {href: `#${anchor(name)}`}, name), failed ? make("span", {class: "bad"}, " (failed)") : null);
}

function anchor(name) {
  return `kernel-${DATA.kernels.findIndex((kernel) => kernel.piece === name)}`;
}

function scopePart(scope) {
  const rows = [
    ...scope.cuts.map((cut) => ["cut", cut.node, `${cut.reason}${cut.through ? `, through ${cut.through}` : ""}`]),
    ...scope.left_out.map((one) => ["left out", one.node, `${one.explanation} (${one.reason})`]),
  ];
  return [
    make("h3", {}, `${scope.name}${scope.branch ? ` in ${scope.branch}` : ""}`),
    make("div", {}, `${scope.outcome}: ${counted(scope.fused, "op")} in ${counted(scope.pieces.length, "super kernel")}`,
      ...scope.pieces.flatMap((name, number) => [number === 0 ? ": " : ", ", pieceLink(name)])),
    rows.length > 0 ? table(["", "op", "why"], rows) : make("div", {class: "soft"}, "as marked: no cut, nothing left out"),
  ];
}

function messages() {
  const found = [];
  for (const kernel of DATA.kernels) {
    for (const text of kernel.warnings) found.push(make("div", {class: "warn"}, `${kernel.piece}: ${text}`));
    if (kernel.because.length > 0) found.push(make("div", {class: "soft"}, `${kernel.piece} was built because ${kernel.because.join("; ")}`));
  }
  return found;
}

/** What could not be built, above all else. */
function errors() {
  const failed = DATA.kernels.filter((kernel) => kernel.error);
  if (failed.length === 0) return [];
  return [make("h2", {class: "bad"}, "Errors"), ...failed.map((kernel) => make("div", {class: "bad"},
    make("a", {href: `#${anchor(kernel.piece)}`, class: "bad"}, kernel.piece), `: ${kernel.error.message} [${kernel.error.errId}]. ${kernel.error.errSolution}`))];
}

const counts = new Map();
for (const kernel of DATA.kernels) counts.set(kernel.origin, (counts.get(kernel.origin) ?? 0) + 1);
const told = messages();
root.append(
  make("h1", {}, DATA.title),
  make("p", {}, ...[counted(DATA.kernels.length, "super kernel"), ...[...counts].map(([state, many]) => `${many} ${state}`), time(DATA.milliseconds), `for ${DATA.soc}`]
    .flatMap((text) => [make("span", {class: text.endsWith(" failed") ? "chip bad" : "chip"}, text), " "])),
  DATA.excluded.length > 0 ? make("p", {class: "warn"}, `run alone, because they could not be built into a super kernel: ${DATA.excluded.join(", ")}`) : "",
  DATA.scope_picture ? make("p", {}, make("a", {href: DATA.scope_picture}, "picture of the scopes")) : "",
  ...errors(),
  make("h2", {}, "Super kernels"), kernelTable(),
  ...forecastPart(),
  make("h2", {}, "Scopes, cuts and what was left out"), ...DATA.scopes.flatMap(scopePart),
  make("h2", {}, "Where the time of the builds went"), stageTable(),
  make("h2", {}, "Warnings"), ...(told.length > 0 ? told : [make("div", {class: "soft"}, "none")]));
document.body.dataset.ready = "yes";
