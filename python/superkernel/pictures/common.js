// What all pictures share: making elements, moving about in a drawing, searching, the panel and the texts.
// Texts from the data only ever become text nodes, never markup.
"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

/** `1 op`, `2 ops`. */
function counted(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** An HTML element: `make("td", {class: "number"}, "12")`. */
function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A table; columns whose name starts with `#` hold numbers. */
function table(header, rows) {
  const kind = header.map((name) => (name.startsWith("#") ? "number" : null));
  const cell = (tag) => (value, column) =>
    make(tag, {class: kind[column]}, value instanceof Node ? value : String(value ?? ""));
  const names = header.map((name) => name.replace(/^#/, ""));
  return make("table", {},
    make("thead", {}, make("tr", {}, ...names.map(cell("th")))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell("td"))))));
}

/** Microseconds of a prediction, with their range. */
function estimated({us, low, high}) {
  return `${us.toFixed(2)} us (${low.toFixed(2)} … ${high.toFixed(2)})`;
}

/** What the cost model expects of a super kernel. */
function gainTable(predicted) {
  const good = predicted.gain.us >= 0 ? "good" : "bad";
  return [
    table(["predicted, not measured", ""], [
      ["ops alone", estimated(predicted.unfused)], ["as one kernel", estimated(predicted.fused)],
      ["gain", make("b", {class: good}, `${estimated(predicted.gain)}, ${predicted.gain_percent.toFixed(1)} %`)],
      ...predicted.reasons.map((reason) => [`· ${reason.what}`, `${reason.us >= 0 ? "+" : ""}${reason.us.toFixed(2)} us`])]),
    ...predicted.notes.map((note) => make("div", {class: "soft"}, note)),
  ];
}

/** A colour for a number: neighbours differ, and text on it can be read. */
function colour(number, lightness = 72) {
  return `hsl(${(Math.abs(number) * 137.508 + 205) % 360} 62% ${lightness}%)`;
}

function shortened(text, letters) {
  return text.length <= letters ? text : text.slice(0, Math.max(1, letters - 1)) + "…";
}

const RULE = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;

/** As much of a text as is no wider than `width`, in letters of this size. */
function fitted(text, width, size) {
  RULE.font = `${size}px ${FONT}`;
  const fits = (letters) => RULE.measureText(shortened(text, letters)).width <= width;
  if (fits(text.length)) return text;
  let [least, most] = [1, text.length];
  while (most - least > 1) {
    const middle = (least + most) >> 1;
    if (fits(middle)) least = middle; else most = middle;
  }
  return shortened(text, least);
}

/** A line with its text, and a wider one that cannot be seen, so that the pointer finds it, also between dashes. */
function wire(line, text) {
  const grip = line.cloneNode();
  grip.removeAttribute("marker-end");
  grip.setAttribute("class", "grip");
  return draw("g", {class: "wire"}, line, tips.set(grip, text));
}

/** Texts that follow the pointer, and the same in the line below the drawing. */
const tips = {
  box: make("div", {class: "tip"}),
  line: document.querySelector(".line"),
  texts: new WeakMap(),
  set(element, text) {
    this.texts.set(element, text);
    return element;
  },
  follow(root) {
    document.body.append(this.box);
    root.addEventListener("pointermove", (event) => {
      const known = this.texts.get(event.target);
      const text = typeof known === "function" ? known() : known;
      this.box.style.display = text ? "block" : "none";
      if (!text) return;
      if (this.box.textContent !== text) this.box.textContent = text;
      if (this.line) this.line.textContent = text.replaceAll("\n", "   ");
      const right = event.clientX + 16 + this.box.offsetWidth > innerWidth;
      this.box.style.left = `${right ? event.clientX - this.box.offsetWidth - 12 : event.clientX + 16}px`;
      this.box.style.top = `${Math.min(event.clientY + 16, innerHeight - this.box.offsetHeight - 8)}px`;
    });
    root.addEventListener("pointerleave", () => { this.box.style.display = "none"; });
  },
};

/** A drawing that can be dragged and zoomed. `size` is that of everything in it. */
class View {
  constructor(holder, size, overview) {
    this.size = size;
    // The largest scale, and the width at the left that stands still.
    this.most = 4;
    this.inset = 0;
    this.group = draw("g");
    this.ruler = draw("g", {class: "ruler"});
    this.svg = draw("svg", {}, hatch(), this.group, this.ruler);
    this.overview = overview;
    this.boxes = [];
    // What stands where, from left to right: `{x, text}`; and the names of the rows, by their upper edge: `{y, text}`.
    this.signs = [];
    this.rows = [];
    holder.append(this.svg);
    this.holder = holder;
    Object.assign(this, {x: 0, y: 0, scale: 1});
    this.svg.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    this.svg.addEventListener("pointerdown", (event) => this.drag(event));
    if (overview) {
      const jump = (event) => {
        if (event.buttons === 0) return;
        const share = event.offsetX / overview.clientWidth;
        this.x = (this.inset + this.holder.clientWidth) / 2 - share * this.size.width * this.scale;
        this.place();
      };
      overview.addEventListener("pointerdown", jump);
      overview.addEventListener("pointermove", jump);
    }
    addEventListener("resize", () => this.place());
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.x -= event.deltaX || event.deltaY;
      this.place();
      return;
    }
    const at = this.holder.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 500), event.clientX - at.left, event.clientY - at.top);
  }

  zoom(factor, x = this.holder.clientWidth / 2, y = this.holder.clientHeight / 2) {
    const tall = this.tall();
    const scale = Math.min(this.most, Math.max(this.least(), this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.scale = scale;
    this.y = y - ((y - this.y) * this.tall()) / tall;
    // Nothing is to be seen beside the drawing.
    const spare = this.holder.clientWidth - this.size.width * scale;
    this.x = spare >= 0 ? spare / 2 : Math.max(spare - 10, Math.min(10, this.x));
    this.place();
  }

  /** The scale of heights. From far away widths shrink further than heights: a long program is wide, not high. */
  tall() {
    return Math.max(this.scale, Math.min(1, (this.holder.clientHeight - 20) / this.size.height));
  }

  drag(event) {
    if (event.button !== 0) return;
    const start = {x: this.x - event.clientX, y: this.y - event.clientY};
    let moved = false;
    const move = (next) => {
      moved = moved || Math.hypot(start.x + next.clientX - this.x, start.y + next.clientY - this.y) > 4;
      if (!moved) return;
      this.svg.classList.add("held");
      this.x = start.x + next.clientX;
      this.y = start.y + next.clientY;
      this.place();
    };
    const end = () => {
      removeEventListener("pointermove", move);
      this.svg.classList.remove("held");
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end, {once: true});
  }

  least() {
    return Math.min(1, (this.holder.clientWidth / this.size.width) * 0.97);
  }

  /** As much as can be read: the whole height, and the width from the start on. */
  start() {
    const scale = Math.min(1.25, (this.holder.clientHeight - 20) / this.size.height);
    const whole = Math.min(scale, (this.holder.clientWidth - 20) / this.size.width);
    this.scale = Math.max(whole, Math.min(scale, 0.85), this.least());
    this.x = this.size.width * this.scale < this.holder.clientWidth
      ? (this.holder.clientWidth - this.size.width * this.scale) / 2 : 10;
    this.place();
  }

  whole() {
    this.scale = this.least();
    this.x = (this.holder.clientWidth - this.size.width * this.scale) / 2;
    this.place();
  }

  /** Puts a rectangle into the middle, large enough to be read. */
  to({x, y, width, height}) {
    // In a low window less is enough: both lanes are worth more than large letters.
    const readable = Math.min(0.9, Math.max(0.6, (this.holder.clientHeight - 20) / this.size.height));
    this.scale = Math.max(this.scale, readable, this.least());
    this.x = this.holder.clientWidth / 2 - (x + width / 2) * this.scale;
    this.y = this.holder.clientHeight / 2 - (y + height / 2) * this.tall();
    this.place();
  }

  place() {
    const tall = this.tall();
    const spare = this.holder.clientHeight - this.size.height * tall;
    // What fits stays in the middle.
    if (spare >= 0) this.y = spare / 2;
    this.group.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale} ${tall})`);
    this.svg.classList.toggle("far", this.scale < 0.4);
    this.svg.classList.toggle("farthest", this.scale < 0.12);
    this.drawRuler();
    this.drawOverview();
  }

  /** Signs along the upper edge, as many as there is room for, and the names of rows: from far away nothing else can be read. */
  drawRuler() {
    const shown = [];
    let free = 0;
    for (const {x, text} of this.signs) {
      const at = this.x + x * this.scale;
      if (at < free || at > this.holder.clientWidth - 20) continue;
      shown.push(draw("line", {x1: at, x2: at, y1: 0, y2: 16}), draw("text", {class: "small", x: at + 3, y: 12}, text));
      free = at + Math.max(70, 9 * text.length);
    }
    const hasTitles = this.x > -20 && this.scale >= 0.4;
    for (const {y, text} of hasTitles ? [] : this.rows) {
      shown.push(draw("text", {class: "row", x: 4, y: this.y + y * this.tall() - 4}, text));
    }
    this.ruler.replaceChildren(...shown);
  }

  /** A small copy of the boxes, and what of it is seen. */
  drawOverview() {
    const canvas = this.overview;
    if (!canvas) return;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!this.copy || this.copy.width !== width) {
      this.copy = new OffscreenCanvas(Math.max(1, width), Math.max(1, height));
      const pen = this.copy.getContext("2d");
      for (const box of this.boxes) {
        pen.fillStyle = box.colour;
        const at = [box.x / this.size.width * width, box.y / this.size.height * height];
        pen.fillRect(...at, Math.max(1, box.width / this.size.width * width), Math.max(1, box.height / this.size.height * height));
      }
    }
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    pen.drawImage(this.copy, 0, 0);
    pen.strokeStyle = getComputedStyle(document.body).getPropertyValue("--accent");
    pen.lineWidth = 2;
    const left = (this.inset - this.x) / this.scale / this.size.width * width;
    const seen = (this.holder.clientWidth - this.inset) / this.scale / this.size.width * width;
    pen.strokeRect(Math.max(1, left), 1, Math.min(width - 2, seen), height - 2);
  }
}

function hatch() {
  return draw("defs", {},
    draw("pattern", {id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
      draw("rect", {width: 7, height: 7, style: "fill: var(--paper)"}),
      draw("rect", {width: 3, height: 7, style: "fill: var(--hatch)"})),
    draw("marker", {id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse"},
      draw("path", {d: "M0 0 L8 4 L0 8 z", style: "fill: var(--accent)"})));
}

/** The search field: `entries` are `{text, go}`. */
function search(entries) {
  const field = document.querySelector("input[type=search]");
  const list = document.querySelector(".found");
  let hits = [];
  let chosen = 0;
  const show = () => {
    const words = field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    hits = words.length === 0 ? [] : entries.filter(({text}) => words.every((word) => text.toLowerCase().includes(word)));
    // Whoever types a number means that op, or one whose number begins so.
    const rank = ({text}) => {
      const number = text.slice(0, text.indexOf(" "));
      return words.includes(number) ? 2 : words.some((word) => number.startsWith(word)) ? 1 : 0;
    };
    hits.sort((left, right) => rank(right) - rank(left));
    chosen = 0;
    list.replaceChildren(...hits.slice(0, 60).map((hit, number) =>
      make("div", {class: number === chosen ? "chosen" : null, pointerdown: () => go(number)}, hit.text)));
    if (words.length > 0 && hits.length === 0) list.append(make("div", {class: "soft"}, "nothing found"));
  };
  const go = (number) => {
    if (!hits[number]) return;
    hits[number].go();
    list.replaceChildren();
  };
  field.addEventListener("input", show);
  field.addEventListener("focus", show);
  field.addEventListener("blur", () => list.replaceChildren());
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(chosen);
    if (event.key === "Escape") field.blur();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const shown = list.children.length;
      if (shown === 0) return;
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : shown - 1)) % shown;
      [...list.children].forEach((child, number) => child.classList.toggle("chosen", number === chosen));
      list.children[chosen].scrollIntoView({block: "nearest"});
    }
  });
  addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== field) {
      event.preventDefault();
      field.focus();
    }
  });
}

/** Buttons and keys to move about. */
function controls(view) {
  const button = (name, title, action) => make("button", {title, click: action}, name);
  document.querySelector(".controls").append(
    button("−", "smaller (key -)", () => view.zoom(0.7)),
    button("+", "larger (key +)", () => view.zoom(1.4)),
    button("all", "everything (key f)", () => view.whole()));
  addEventListener("keydown", (event) => {
    if (event.target.tagName === "INPUT") return;
    if (event.key === "f") view.whole();
    if (event.key === "+") view.zoom(1.4);
    if (event.key === "-") view.zoom(0.7);
  });
}

/** Shows something in the panel. */
function panel(...children) {
  const place = document.querySelector(".panel");
  place.replaceChildren(...children.filter((child) => child !== null));
  place.scrollTop = 0;
}
