// @ts-check
// The sequence diagram: one row for each step, one lifeline for each machine, monitors at the right. Only the rows in view are
// drawn, so the cost does not depend on the length of the run.

const ROW = 30;
const LIFELINE_WIDTH = { least: 90, good: 115, most: 210 };
/** How wide the list of steps may get by itself, from which width on its rows show their places, and the room of a place. */
const LIST_WIDTH = { most: 560, places: 400, place: 110 };
const MARGIN = 56;
/** Messages that wait in one inbox, drawn side by side. */
const MAX_LANES = 6;
/** Rows drawn beyond the edges of the view. */
const OVERSCAN = 12;
/** Arrows that pass through the view from far away. */
const MAX_LONG = 300;
const N_COLOURS = 10;

/** Intervals that can be asked for those which meet a range. Each is kept in O(log n) nodes of a tree over the range. */
class IntervalIndex {
  /** @param {number} size */
  constructor(size) {
    this.size = 1;
    while (this.size < Math.max(1, size)) this.size *= 2;
    /** @type {Map<number, number[]>} */
    this.nodes = new Map();
    /** @type {Map<number, number>} */
    this.below = new Map();
  }
  /** @param {number} from @param {number} to @param {number} id */
  add(from, to, id) {
    for (let [low, high] = [from + this.size, to + this.size + 1]; low < high; low >>= 1, high >>= 1) {
      if (low & 1) this.put(low++, id);
      if (high & 1) this.put(--high, id);
    }
  }
  /** @param {number} node @param {number} id */
  put(node, id) {
    const list = this.nodes.get(node);
    if (list) list.push(id);
    else {
      this.nodes.set(node, [id]);
      for (let at = node; at >= 1; at >>= 1) this.below.set(at, (this.below.get(at) ?? 0) + 1);
    }
  }
  /** @param {number} from @param {number} to @param {number} limit @returns {Set<number>} */
  meeting(from, to, limit) {
    /** @type {Set<number>} */
    const found = new Set();
    const visit = (/** @type {number} */ node, /** @type {number} */ low, /** @type {number} */ high) => {
      if (high < from || low > to || !this.below.has(node) || found.size >= limit) return;
      for (const id of this.nodes.get(node) ?? []) {
        found.add(id);
        if (found.size >= limit) return;
      }
      if (low === high) return;
      const middle = (low + high) >> 1;
      visit(2 * node, low, middle);
      visit(2 * node + 1, middle + 1, high);
    };
    visit(1, 0, this.size - 1);
    return found;
  }
}

/** A name that is cut keeps its number. @param {string} name */
function nameParts(name) {
  const [, word, number] = /^(.*?)((?:\(\d+\))?)$/s.exec(name) ?? ["", name, ""];
  return [h("span", { class: "name" }, word), h("span", {}, number)];
}

class Diagram {
  /**
   * @param {{scroller: HTMLElement, canvas: HTMLElement, list: HTMLElement, header: HTMLElement, svg: SVGElement}} parts
   * @param {{select: (at: number) => void, selectMessage: (id: number) => void, hideActor: (actor: number) => void}} actions
   */
  constructor(parts, actions) {
    this.parts = parts;
    this.actions = actions;
    /** @type {Trace | undefined} */
    this.trace = undefined;
    /** Steps that are shown. @type {Int32Array} */
    this.rows = new Int32Array(0);
    /** By step, its row, or that of the next one that is shown. @type {Int32Array} */
    this.rowOf = new Int32Array(0);
    /** Actors that have a lifeline, from left to right. @type {number[]} */
    this.columns = [];
    /** @type {Set<number>} */
    this.hiddenActors = new Set();
    /** @type {Set<number>} */
    this.hiddenEvents = new Set();
    this.onlyRelevant = false;
    this.selected = -1;
    /** @type {number | undefined} */
    this.selectedMessage = undefined;
    /** @type {Set<number>} */
    this.hits = new Set();
    this.columnWidth = LIFELINE_WIDTH.least;
    this.width = 0;
    /** By actor, its column or -1. */
    this.columnOf = new Int32Array(0);
    /** By message, the lane in which it waits. */
    this.lane = new Uint16Array(0);
    this.waits = new IntervalIndex(0);
    this.flights = new IntervalIndex(0);
    this.isScheduled = false;
    /** Called when other rows come into view. @type {((view: {first: number, last: number}) => void) | undefined} */
    this.onview = undefined;
    parts.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.relayout()).observe(parts.scroller);
  }

  /** @param {Trace} trace */
  setTrace(trace) {
    this.trace = trace;
    this.selectedMessage = undefined;
    this.hits = new Set();
    this.assignLanes();
    this.arrange();
  }

  /** Lanes in which waiting messages are drawn, and the messages that stretch over several steps. */
  assignLanes() {
    const trace = /** @type {Trace} */ (this.trace);
    const n = trace.messages.length;
    this.lane = new Uint16Array(n);
    this.waits = new IntervalIndex(trace.nSteps);
    this.flights = new IntervalIndex(trace.nSteps);
    /** By actor, until when each lane is taken. @type {number[][]} */
    const lanes = trace.actors.map(() => []);
    const order = [...Array(n).keys()].filter((id) => trace.delivered[id] >= 0 && trace.to[id] >= 0);
    order.sort((a, b) => trace.delivered[a] - trace.delivered[b] || a - b);
    for (const id of order) {
      const start = trace.delivered[id];
      const end = trace.taken[id] >= 0 ? trace.taken[id] : trace.nSteps - 1;
      if (end <= start && trace.taken[id] >= 0) continue;
      const free = lanes[trace.to[id]];
      let lane = 0;
      while (lane < MAX_LANES && free[lane] !== undefined && free[lane] > start) lane++;
      this.lane[id] = lane;
      if (lane >= MAX_LANES) continue;
      free[lane] = end;
      this.waits.add(start, end, id);
    }
    for (let id = 0; id < n; id++) {
      const end = trace.delivered[id] >= 0 ? trace.delivered[id] : trace.sent[id];
      if (end > trace.sent[id]) this.flights.add(trace.sent[id], end, id);
    }
  }

  /** Decides which steps and lifelines are shown. */
  arrange() {
    const trace = /** @type {Trace} */ (this.trace);
    const isActorShown = (/** @type {number} */ actor) => !this.hiddenActors.has(actor);
    const isShown = (/** @type {number} */ at) => {
      if (this.onlyRelevant && !trace.relevant[at] && at !== trace.nSteps - 1) return false;
      if (at === trace.nSteps - 1 && trace.violation) return true;
      if (this.hiddenActors.size > 0 && !trace.stepActors.isEmpty(at) && !trace.stepActors.some(at, isActorShown)) return false;
      if (this.hiddenEvents.size > 0 && !trace.stepEvents.isEmpty(at) && !trace.stepEvents.some(at, (event) => !this.hiddenEvents.has(event))) return false;
      return true;
    };
    const rows = [];
    this.rowOf = new Int32Array(trace.nSteps);
    for (let at = 0; at < trace.nSteps; at++) {
      this.rowOf[at] = rows.length;
      if (isShown(at)) rows.push(at);
    }
    this.rows = Int32Array.from(rows);
    for (let at = trace.nSteps - 1; at >= 0 && this.rowOf[at] >= rows.length; at--) this.rowOf[at] = Math.max(0, rows.length - 1);
    const shown = trace.actors.map((_, actor) => actor).filter(isActorShown);
    const isRight = (/** @type {number} */ actor) => ["monitor", "shared"].includes(trace.actors[actor].kind);
    this.columns = [...shown.filter((actor) => !isRight(actor)), ...shown.filter(isRight)];
    this.columnOf = new Int32Array(trace.actors.length).fill(-1);
    this.columns.forEach((actor, column) => (this.columnOf[actor] = column));
    this.relayout();
  }

  relayout() {
    if (!this.trace) return;
    const room = this.parts.scroller.clientWidth - this.listWidth() - 2 * MARGIN;
    const wanted = room / Math.max(1, this.columns.length - 1);
    this.columnWidth = Math.max(LIFELINE_WIDTH.least, Math.min(LIFELINE_WIDTH.most, wanted));
    this.width = Math.max(2 * MARGIN + this.columnWidth * Math.max(0, this.columns.length - 1), this.parts.scroller.clientWidth - this.listWidth() - 6);
    const canvas = this.parts.canvas.style;
    canvas.setProperty("height", `${this.rows.length * ROW + 12}px`);
    canvas.setProperty("width", `${this.listWidth() + 5 + this.width}px`);
    this.drawHeader();
    this.draw();
  }

  listWidth() {
    return this.parts.list.offsetWidth;
  }

  /** Widens the list until the rows in view show their payloads, if the lifelines leave room for that. */
  fitList() {
    const { list, scroller } = this.parts;
    const missing = Math.max(0, ...[...list.querySelectorAll(".what")].map((what) => what.scrollWidth - what.clientWidth));
    const room = Math.min(LIST_WIDTH.most, scroller.clientWidth - 2 * MARGIN - LIFELINE_WIDTH.good * Math.max(1, this.columns.length - 1));
    const wanted = this.listWidth() + missing;
    let width = Math.min(wanted, room, LIST_WIDTH.places);
    if (wanted > LIST_WIDTH.places && wanted + LIST_WIDTH.place <= room) width = wanted + LIST_WIDTH.place;
    if (missing === 0 || width <= this.listWidth()) return;
    document.documentElement.style.setProperty("--list-width", `${Math.ceil(width)}px`);
    this.relayout();
  }
  /** @param {number} column */
  x(column) {
    return MARGIN + column * this.columnWidth;
  }
  /** @param {number} row */
  y(row) {
    return row * ROW;
  }
  /** @param {number} actor */
  colour(actor) {
    const kind = /** @type {Trace} */ (this.trace).actors[actor]?.kind;
    return kind === "monitor" || kind === "shared" ? "var(--monitor)" : `var(--c${actor % N_COLOURS})`;
  }

  drawHeader() {
    const trace = /** @type {Trace} */ (this.trace);
    const boxes = this.columns.map((actor, column) => {
      const { name, kind } = trace.actors[actor];
      const box = h(
        "div",
        { class: `lifeline-name ${kind}`, style: { left: `${this.x(column)}px`, "--actor": this.colour(actor), "max-width": `${this.columnWidth - 10}px` }, title: `${plain(name)} (${kind})` },
        ...nameParts(plain(name)),
        h("button", { class: "collapse", title: `Hide ${plain(name)}`, "aria-label": `Hide ${plain(name)}`, onclick: () => this.actions.hideActor(actor) }, "×"),
      );
      return box;
    });
    this.parts.header.style.setProperty("width", `${this.width}px`);
    this.parts.header.replaceChildren(...boxes);
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  /** The rows in view. */
  view() {
    const { scroller, header } = this.parts;
    const height = scroller.clientHeight - header.offsetHeight;
    const first = Math.floor(scroller.scrollTop / ROW);
    return { first, last: Math.min(this.rows.length - 1, Math.ceil((scroller.scrollTop + height) / ROW)) };
  }

  draw() {
    const trace = this.trace;
    if (!trace) return;
    const view = this.view();
    const first = Math.max(0, view.first - OVERSCAN);
    const last = Math.min(this.rows.length - 1, view.last + OVERSCAN);
    this.drawList(first, last);
    this.drawSvg(first, last);
    this.onview?.(view);
  }

  /** @param {number} first @param {number} last */
  drawList(first, last) {
    const trace = /** @type {Trace} */ (this.trace);
    const items = [];
    for (let row = first; row <= last; row++) {
      const at = this.rows[row];
      const { text, payload, step, isFault } = trace.summary(at);
      const detail = payload === undefined || payload === null ? "" : valueText(payload, 90);
      const marks = ["row"];
      if (at === this.selected) marks.push("selected");
      if (isFault) marks.push("fault");
      if (!trace.relevant[at] && trace.violation) marks.push("irrelevant");
      if (this.hits.has(at)) marks.push("hit");
      if (trace.loopStart >= 0 && at >= trace.loopStart) marks.push("in-loop");
      const gap = row > 0 && this.rows[row - 1] !== at - 1;
      items.push(
        h(
          "div",
          {
            class: marks.join(" ") + (gap ? " gap" : ""),
            style: { top: `${this.y(row)}px` },
            id: `step-${at + 1}`,
            role: "option",
            "aria-selected": at === this.selected ? "true" : "false",
            "aria-setsize": this.rows.length,
            "aria-posinset": row + 1,
            "aria-label": `Step ${at + 1}: ${text}${detail ? ", " + detail : ""}${isFault ? ", fails here" : ""}`,
            title: `${text}${detail ? " " + detail : ""}`,
            onclick: () => this.actions.select(at),
          },
          h("span", { class: "number" }, at + 1),
          h("span", { class: "dot", style: { "--actor": step.actor === undefined ? "var(--muted)" : this.colour(step.actor) } }),
          h("span", { class: "what" }, text, detail && h("span", { class: "payload" }, " " + detail)),
          h("span", { class: "place" }, trace.placeText(trace.placeOf(step))),
        ),
      );
    }
    this.parts.list.replaceChildren(...items);
    this.parts.list.setAttribute("aria-activedescendant", `step-${this.selected + 1}`);
  }

  /** @param {number} first @param {number} last */
  drawSvg(first, last) {
    const trace = /** @type {Trace} */ (this.trace);
    const { svg } = this.parts;
    const [top, bottom] = [this.y(first), this.y(last + 1)];
    svg.setAttribute("width", String(this.width));
    svg.setAttribute("height", String(Math.max(0, bottom - top)));
    svg.setAttribute("viewBox", `0 ${top} ${this.width} ${Math.max(1, bottom - top)}`);
    svg.style.setProperty("top", `${top}px`);
    if (last < first) return svg.replaceChildren();
    /** @type {SVGElement[]} */
    const under = [];
    /** @type {SVGElement[]} */
    const over = [];
    this.drawBands(first, last, under);
    this.drawLifelines(first, last, under);
    this.drawMessages(first, last, over);
    const loop = trace.loopStart >= 0 ? this.rowOf[trace.loopStart] : -1;
    if (loop >= first && loop <= last) over.push(s("text", { class: "loop-label", x: 12, y: this.y(loop) + 4 }, "↻ repeats for ever"));
    for (let row = first; row <= last; row++) this.drawStep(row, over);
    svg.replaceChildren(s("defs", {}, ...this.markers()), ...under, ...over);
  }

  markers() {
    return ["plain", "chosen", "failed"].map((name) =>
      s("marker", { id: `arrow-${name}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0.6 L8,4 L0,7.4 z", class: `head ${name}` })),
    );
  }

  /** What lies behind: the selected row, the loop, hot and cold monitors. @param {number} first @param {number} last @param {SVGElement[]} out */
  drawBands(first, last, out) {
    const trace = /** @type {Trace} */ (this.trace);
    if (trace.loopStart >= 0) {
      const start = Math.max(first, this.rowOf[trace.loopStart]);
      if (start <= last) {
        out.push(s("rect", { class: "loop", x: 4, y: this.y(start), width: this.width - 8, height: this.y(last + 1) - this.y(start), rx: 6 }));
      }
    }
    for (const [column, actor] of this.columns.entries()) {
      if (trace.actors[actor].kind !== "monitor") continue;
      let start = first;
      while (start <= last) {
        const temperature = trace.temperature(actor, this.rows[start]);
        let end = start;
        while (end < last && trace.temperature(actor, this.rows[end + 1]) === temperature) end++;
        if (temperature) {
          out.push(
            s("rect", { class: temperature, x: this.x(column) - 26, y: this.y(start), width: 52, height: this.y(end + 1) - this.y(start) }, s("title", {}, `${trace.name(actor)} is ${temperature}`)),
          );
        }
        start = end + 1;
      }
    }
    for (let row = first; row <= last; row++) {
      const at = this.rows[row];
      if (at === this.selected) out.push(s("rect", { class: "selected-row", x: 0, y: this.y(row), width: this.width, height: ROW }));
      else if (this.hits.has(at)) out.push(s("rect", { class: "hit-row", x: 0, y: this.y(row), width: this.width, height: ROW }));
    }
  }

  /** @param {number} first @param {number} last @param {SVGElement[]} out */
  drawLifelines(first, last, out) {
    const trace = /** @type {Trace} */ (this.trace);
    for (const [column, actor] of this.columns.entries()) {
      const created = this.rowOf[Math.min(trace.nSteps - 1, trace.actors[actor].created - 1)];
      const from = Math.max(this.y(first), this.y(created) + ROW / 2);
      const to = this.y(last + 1);
      if (from < to) out.push(s("line", { class: `lifeline ${trace.actors[actor].kind}`, x1: this.x(column), x2: this.x(column), y1: from, y2: to, style: { stroke: this.colour(actor) } }));
    }
  }

  /** @param {number} first @param {number} last @param {SVGElement[]} out */
  drawMessages(first, last, out) {
    const trace = /** @type {Trace} */ (this.trace);
    const [from, to] = [this.rows[first], this.rows[last]];
    /** @type {Set<number>} */
    const ids = this.flights.meeting(from, to, MAX_LONG);
    for (let row = first; row <= last; row++) trace.stepMessages.some(this.rows[row], (id) => (ids.add(id), false));
    const failing = trace.violation?.failure?.message;
    for (const id of this.waits.meeting(from, to, MAX_LONG)) {
      const column = this.columnOf[trace.to[id]];
      if (column < 0 || this.hiddenEvents.has(trace.event[id])) continue;
      const x = this.x(column) + 7 + 5 * this.lane[id];
      const start = this.y(this.rowOf[trace.delivered[id]]) + 22;
      const isTaken = trace.taken[id] >= 0;
      const end = isTaken ? this.y(this.rowOf[trace.taken[id]]) + 20 : this.y(this.rows.length);
      const isChosen = id === this.selectedMessage || this.isOfSelected(id);
      out.push(s("path", { class: "waiting" + (isChosen ? " chosen" : ""), d: `M${x - 7 - 5 * this.lane[id]},${start} H${x} V${end}${isTaken ? ` H${this.x(column) + 5}` : ""}`, "marker-end": isTaken ? `url(#arrow-${isChosen ? "chosen" : "plain"})` : undefined }));
    }
    for (const id of ids) this.drawMessage(id, failing === id, out);
  }

  /** @param {number} id */
  isOfSelected(id) {
    return this.selected >= 0 && /** @type {Trace} */ (this.trace).stepMessages.some(this.selected, (other) => other === id);
  }

  /** @param {number} id @param {boolean} isFailing @param {SVGElement[]} out */
  drawMessage(id, isFailing, out) {
    const trace = /** @type {Trace} */ (this.trace);
    if (this.hiddenEvents.has(trace.event[id])) return;
    const [source, target] = [this.columnOf[trace.from[id]] ?? -1, this.columnOf[trace.to[id]] ?? -1];
    if (source < 0 && target < 0) return;
    const isArrived = trace.delivered[id] >= 0;
    const sentRow = this.rowOf[trace.sent[id]];
    const endRow = isArrived ? this.rowOf[trace.delivered[id]] : sentRow;
    const event = plain(trace.events.all[trace.event[id]]);
    const isChosen = id === this.selectedMessage || this.isOfSelected(id);
    const look = isFailing ? "failed" : isChosen ? "chosen" : "plain";
    // A message that is only observed in its first step comes after the one that this step delivers.
    const [y1, y2] = [this.y(sentRow) + (trace.delivered[id] === trace.sent[id] ? 8 : 16), this.y(endRow) + 22];
    /** @type {string} */
    let d;
    let label = { x: 0, y: 0, anchor: "middle" };
    if (trace.to[id] < 0) {
      // An announcement: for monitors only.
      const x = this.x(source);
      d = `M${x},${y1 + 6} h22`;
      label = { x: x + 26, y: y1 + 10, anchor: "start" };
    } else if (source < 0 || target < 0) {
      // One end is hidden.
      const x = this.x(Math.max(source, target));
      d = source < 0 ? `M${x - 30},${y2 - 4} L${x - 2},${y2}` : `M${x},${y1} L${x + 30},${y1 + 4}`;
      label = source < 0 ? { x: x - 33, y: y2 - 2, anchor: "end" } : { x: x + 33, y: y1 + 7, anchor: "start" };
    } else if (source === target) {
      const x = this.x(source);
      d = `M${x},${y1} c34,0 34,${y2 - y1} 2,${y2 - y1}`;
      label = { x: x + 30, y: y1 + 11, anchor: "start" };
    } else {
      const direction = Math.sign(target - source);
      const [x1, x2] = [this.x(source), this.x(target) - 2 * direction];
      d = isArrived ? `M${x1},${y1} L${x2},${y2}` : `M${x1},${y1} L${x1 + direction * this.columnWidth * 0.5},${y1 + 9}`;
      const share = Math.min(0.5, (this.columnWidth * 0.5) / Math.abs(x2 - x1));
      const near = isArrived ? y1 + (y2 - y1) * share : y1 + 4;
      label = { x: x1 + (x2 - x1) * share, y: near - 3, anchor: "middle" };
      if (!isArrived) label = { x: x1 + direction * (this.columnWidth * 0.5 + 4), y: y1 + 12, anchor: direction > 0 ? "start" : "end" };
    }
    const message = `${event}: ${trace.name(trace.from[id])} → ${trace.to[id] < 0 ? "monitors" : trace.name(trace.to[id])}`;
    const isLost = !isArrived && trace.message(id).fate === "lost";
    const isIrrelevant = trace.violation && !trace.relevant[trace.sent[id]] && !(isArrived && trace.relevant[trace.delivered[id]]);
    const group = s(
      "g",
      { class: `message ${look}${isIrrelevant ? " irrelevant" : ""}`, role: "button", tabindex: -1, "aria-label": message, "data-message": id, onclick: (/** @type {Event} */ e) => (e.stopPropagation(), this.actions.selectMessage(id)) },
      s("title", {}, message),
      s("path", { class: "grip", d }),
      s("path", { class: "line", d, "marker-end": `url(#arrow-${look})` }),
      s("text", { x: label.x, y: label.y, "text-anchor": label.anchor }, isLost && s("tspan", { class: "lost" }, "✕ "), event.length > 26 ? event.slice(0, 25) + "…" : event),
    );
    out.push(group);
  }

  /** Marks of one step on the lifelines. @param {number} row @param {SVGElement[]} out */
  drawStep(row, out) {
    const trace = /** @type {Trace} */ (this.trace);
    const at = this.rows[row];
    const step = trace.step(at);
    const y = this.y(row);
    const columnOf = (/** @type {number | undefined} */ actor) => (actor === undefined ? -1 : this.columnOf[actor] ?? -1);
    const mover = columnOf(step.actor);
    if (mover >= 0) out.push(s("circle", { class: "mover", cx: this.x(mover), cy: y + 8, r: 3.2, style: { fill: this.colour(/** @type {number} */ (step.actor)) } }));
    /** @type {Map<number, string>} */
    const pills = new Map();
    for (const entry of step.events) {
      const column = columnOf(entry.actor);
      const x = column >= 0 ? this.x(column) : 0;
      const message = typeof entry.message === "number" ? entry.message : -1;
      if (entry.kind === "create" && column >= 0) {
        const creator = columnOf(entry.creator);
        if (creator >= 0 && creator !== column) out.push(s("line", { class: "create", x1: this.x(creator), y1: y + 15, x2: x + (creator < column ? -9 : 9), y2: y + 15, "marker-end": "url(#arrow-plain)" }));
        out.push(s("rect", { class: "born", x: x - 7, y: y + 8, width: 14, height: 14, rx: 3, style: { stroke: this.colour(entry.actor) } }));
      } else if ((entry.kind === "dequeue" || entry.kind === "receive") && column >= 0) {
        out.push(s("circle", { class: "taken", cx: x, cy: y + (message >= 0 && trace.delivered[message] === at ? 22 : 20), r: 3, style: { fill: this.colour(entry.actor) } }));
      } else if (entry.kind === "observe" && column >= 0) {
        const source = columnOf(trace.from[message]);
        if (source >= 0) out.push(s("line", { class: "observe", x1: this.x(source), y1: y + 10, x2: x, y2: y + 10 }));
        out.push(s("circle", { class: "seen", cx: x, cy: y + 10, r: 3 }));
      } else if (["lose", "drop", "ignore"].includes(entry.kind)) {
        const target = columnOf(trace.to[message]);
        // Lost at once: its arrow ends half-way, with this mark.
        const source = columnOf(trace.from[message]);
        const isMarked = entry.kind === "lose" && trace.sent[message] === at && source >= 0 && source !== target;
        if (target >= 0 && !isMarked) out.push(s("text", { class: "lost", x: this.x(target) - 12, y: y + 26, "text-anchor": "middle" }, entry.kind === "ignore" ? "⊘" : "✕", s("title", {}, entry.kind)));
      } else if ((entry.kind === "halt" || entry.kind === "crash") && column >= 0) {
        out.push(s("text", { class: "halt", x, y: y + 26, "text-anchor": "middle" }, entry.kind === "crash" ? "☇" : "■", s("title", {}, entry.kind)));
      } else if (entry.kind === "fault") {
        if (column >= 0) {
          out.push(s("circle", { class: "fault", cx: x, cy: y + 15, r: 9 }, s("title", {}, entry.message)));
          out.push(s("path", { class: "fault-cross", d: `M${x - 4},${y + 11} l8,8 m0,-8 l-8,8` }));
        } else out.push(s("rect", { class: "fault-row", x: 2, y: y + 1, width: Number(this.width) - 4, height: ROW - 2, rx: 5 }));
      } else if (entry.kind === "choice" && column >= 0) {
        pills.set(entry.actor, (pills.get(entry.actor) ?? "") + ` ${valueText(entry.value, 10)}?`);
      }
    }
    for (const change of step.changes) {
      const column = columnOf(change.actor);
      if (column < 0) continue;
      if (change.kind === "state") out.push(this.pill(this.x(column), y + 15, plain(change.after), change.actor));
      else if (change.kind === "variable" && trace.actors[change.actor].kind === "shared") {
        if (mover >= 0) out.push(s("line", { class: "create", x1: this.x(mover), y1: y + 15, x2: this.x(column) - 3, y2: y + 15, "marker-end": "url(#arrow-plain)" }));
        out.push(this.pill(this.x(column), y + 15, `${plain(change.variable)}${pathText(change.path)} = ${"after" in change ? valueText(change.after, 12) : "…"}`, change.actor));
      }
    }
    for (const entry of step.events) {
      if (entry.kind === "statement" && mover >= 0) out.push(s("text", { class: "statement", x: this.x(mover) + 9, y: y + 12 }, plain(entry.text).slice(0, 30)));
    }
  }

  /** @param {number} x @param {number} y @param {string} text @param {number} actor */
  pill(x, y, text, actor) {
    const shown = text.length > 18 ? text.slice(0, 17) + "…" : text;
    const width = shown.length * 6.1 + 10;
    return s("g", { class: "pill" }, s("title", {}, text), s("rect", { x: x - width / 2, y: y - 6.5, width, height: 13, rx: 6.5, style: { stroke: this.colour(actor) } }), s("text", { x, y: y + 3.4, "text-anchor": "middle" }, shown));
  }

  /** Brings a step into view. @param {number} at @param {"near" | "centre"} [how] */
  reveal(at, how = "near") {
    const { scroller, header } = this.parts;
    const y = this.y(this.rowOf[at] ?? 0);
    const height = scroller.clientHeight - header.offsetHeight;
    const margin = Math.min(3 * ROW, height / 4);
    if (how === "centre") scroller.scrollTop = y - height * 0.7;
    else if (y < scroller.scrollTop + margin) scroller.scrollTop = y - margin;
    else if (y + ROW > scroller.scrollTop + height - margin) scroller.scrollTop = y + ROW - height + margin;
    const trace = /** @type {Trace} */ (this.trace);
    const column = this.columnOf[trace.movers[at]] ?? -1;
    if (column >= 0) {
      const x = this.x(column);
      const room = scroller.clientWidth - this.listWidth();
      if (x < scroller.scrollLeft + 40) scroller.scrollLeft = x - 80;
      else if (x > scroller.scrollLeft + room - 40) scroller.scrollLeft = x - room + 80;
    }
  }
}
