// @ts-check
// What the page does: choosing steps by mouse and keyboard, search, filters, the address, light and dark.

/** Steps that a search looks at before the page breathes. */
const SEARCH_SLICE = 2000;

class App {
  constructor() {
    const get = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
    this.get = get;
    const select = (/** @type {number} */ at) => this.select(at);
    this.diagram = new Diagram(
      { scroller: get("scroller"), canvas: get("canvas"), list: get("list"), header: get("lifelines"), svg: /** @type {any} */ (get("svg")) },
      { select, selectMessage: (id) => this.selectMessage(id), hideActor: (actor) => this.setHidden("actor", actor, true) },
    );
    this.minimap = new Minimap(/** @type {HTMLCanvasElement} */ (get("minimap")), this.diagram);
    this.diagram.onview = () => this.minimap.frame();
    this.panes = new Panes(get("side"), { select, selectMessage: (id) => this.selectMessage(id), colour: (actor) => this.diagram.colour(actor) });
    /** @type {number[]} */
    this.found = [];
    this.search = /** @type {HTMLInputElement} */ (get("search"));
    this.searchRun = 0;
    this.keepsAddress = true;
    /** The width of the list is not chosen by the reader. */
    this.fitsList = matchMedia("(min-width: 901px)").matches;
    /** Called when a step is chosen. @type {((at: number) => void) | undefined} */
    this.onselect = undefined;
    this.wire();
  }

  /** @param {Trace} trace @param {number} [at] the step to begin with */
  setTrace(trace, at) {
    this.trace = trace;
    this.diagram.setTrace(trace);
    this.showTitle();
    this.get("canvas").dataset.empty = trace.nSteps === 0 ? "No step was taken yet." : "";
    this.fillFilters();
    const asked = this.keepsAddress ? this.stepOfAddress() : undefined;
    const isAsked = asked !== undefined && asked < trace.nSteps;
    this.minimap.redraw();
    this.select(isAsked ? asked : at ?? trace.nSteps - 1, "centre");
    if (this.fitsList) this.diagram.fitList();
  }

  showTitle() {
    const { trace, get } = this;
    if (!trace) return;
    const { head, violation } = trace;
    const verdict = violation ? `violated: ${plain(violation.kind)}` : trace.loopStart >= 0 ? "repeats for ever" : "nothing fails";
    document.title = `${plain(head.test)}: ${verdict}`;
    get("test").textContent = plain(head.test);
    get("project").textContent = plain(head.project ?? "");
    get("verdict").textContent = verdict;
    get("verdict").className = violation ? "bad" : trace.loopStart >= 0 ? "loop-tag" : "good";
    get("message").textContent = trace.failureText;
    get("message").setAttribute("title", trace.failureText);
    get("count").textContent = `${trace.nSteps.toLocaleString("en")} step${trace.nSteps === 1 ? "" : "s"}${head.network ? `, ${plain(head.network)}` : ""}`;
  }

  stepOfAddress() {
    const found = /(?:^#|&)step=(\d+)/.exec(location.hash);
    return found ? Math.max(0, Number(found[1]) - 1) : undefined;
  }

  /** @param {number} at @param {"near" | "centre"} [how] */
  select(at, how = "near") {
    const { trace, diagram } = this;
    if (!trace) return;
    at = Math.max(-1, Math.min(trace.nSteps - 1, at));
    diagram.selected = at;
    diagram.selectedMessage = undefined;
    if (at >= 0) diagram.reveal(at, how);
    diagram.draw();
    this.panes.show(trace, at, undefined);
    if (this.keepsAddress) history.replaceState(null, "", `#step=${at + 1}`);
    const summary = at >= 0 ? trace.summary(at) : undefined;
    this.get("announcer").textContent = summary ? `Step ${at + 1} of ${trace.nSteps}: ${summary.text}${summary.isFault ? ". Fails here" : ""}` : "";
    this.onselect?.(at);
  }

  /** @param {number | undefined} id */
  selectMessage(id) {
    const { trace, diagram } = this;
    if (!trace) return;
    if (id === undefined) return this.select(diagram.selected);
    const at = trace.sent[id];
    // The chosen step stays if the message plays a part in it.
    if (!diagram.isOfSelected(id)) this.select(at);
    diagram.selectedMessage = id;
    diagram.draw();
    this.panes.show(trace, diagram.selected, id);
  }

  /** Goes on among the steps that are shown. @param {number} by */
  move(by) {
    const { diagram } = this;
    if (diagram.rows.length === 0) return;
    const row = diagram.rowOf[Math.max(0, diagram.selected)];
    const isShown = diagram.rows[row] === diagram.selected;
    const next = Math.max(0, Math.min(diagram.rows.length - 1, isShown ? row + by : by > 0 ? row : row - 1));
    this.select(diagram.rows[next]);
  }

  /** The next step of the machine that stepped. @param {number} direction */
  moveSame(direction) {
    const { trace, diagram } = this;
    if (!trace) return;
    const mover = trace.movers[diagram.selected];
    for (let at = diagram.selected + direction; at >= 0 && at < trace.nSteps; at += direction) {
      if (trace.movers[at] === mover) return this.select(at);
    }
  }

  /** To the send that the chosen step answers. */
  moveToCause() {
    const { trace, diagram } = this;
    if (!trace || diagram.selected < 0) return;
    for (const entry of trace.step(diagram.selected).events) {
      if (["dequeue", "receive", "arrive", "send"].includes(entry.kind) && typeof entry.message === "number" && trace.sent[entry.message] < diagram.selected) {
        return this.select(trace.sent[entry.message]);
      }
    }
  }

  /** Looks for a text in all steps, a slice at a time. @param {string} text */
  async find(text) {
    const { trace, diagram } = this;
    const run = ++this.searchRun;
    const wanted = text.trim().toLowerCase();
    this.found = [];
    diagram.hits = new Set();
    if (trace && wanted) {
      for (let at = 0; at < trace.nSteps; at++) {
        if (trace.searchText(at).includes(wanted)) this.found.push(at);
        if (at % SEARCH_SLICE === SEARCH_SLICE - 1) {
          this.get("hits").textContent = `${this.found.length}…`;
          await new Promise((resolve) => setTimeout(resolve));
          if (run !== this.searchRun) return;
        }
      }
    }
    diagram.hits = new Set(this.found);
    this.get("hits").textContent = wanted ? `${this.found.length} hit${this.found.length === 1 ? "" : "s"}` : "";
    diagram.draw();
    this.minimap.redraw();
  }

  /** @param {number} direction */
  moveToHit(direction) {
    const { found, diagram } = this;
    if (found.length === 0) return;
    const next = direction > 0 ? found.find((at) => at > diagram.selected) ?? found[0] : found.findLast((at) => at < diagram.selected) ?? found[found.length - 1];
    this.select(next);
  }

  fillFilters() {
    const { trace, diagram } = this;
    if (!trace) return;
    const box = (/** @type {"actor" | "event"} */ kind, /** @type {number} */ id, /** @type {string} */ name, /** @type {Set<number>} */ hidden) =>
      h(
        "label",
        { class: "filter-item" },
        h("input", { type: "checkbox", "data-kind": kind, "data-id": id, checked: !hidden.has(id), onchange: (/** @type {any} */ e) => this.setHidden(kind, id, !e.target.checked) }),
        kind === "actor" ? h("span", { class: "dot", style: { "--actor": diagram.colour(id) } }) : null,
        " ",
        plain(name),
      );
    const events = trace.events.all.map((name, id) => ({ name, id })).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.get("filter-actors").replaceChildren(...trace.actors.map((actor, id) => box("actor", id, actor.name, diagram.hiddenActors)));
    this.get("filter-events").replaceChildren(...events.map(({ name, id }) => box("event", id, name, diagram.hiddenEvents)));
    /** @type {HTMLInputElement} */ (this.get("only-relevant")).checked = diagram.onlyRelevant;
    const n = trace.relevant.reduce((sum, one) => sum + one, 0);
    this.get("relevant-count").textContent = trace.violation ? `${trace.nSteps - n} of ${trace.nSteps} steps have no influence on the failure` : "";
  }

  /** @param {"actor" | "event"} kind @param {number} id @param {boolean} isHidden */
  setHidden(kind, id, isHidden) {
    const set = kind === "actor" ? this.diagram.hiddenActors : this.diagram.hiddenEvents;
    if (isHidden) set.add(id);
    else set.delete(id);
    this.refilter();
  }

  refilter() {
    const { diagram } = this;
    diagram.arrange();
    this.fillFilters();
    const n = diagram.hiddenActors.size + diagram.hiddenEvents.size + (diagram.onlyRelevant ? 1 : 0);
    this.get("filter-button").classList.toggle("active", n > 0);
    this.get("filter-button").textContent = n > 0 ? `Filter (${n})` : "Filter";
    this.minimap.redraw();
    if (diagram.selected >= 0) diagram.reveal(diagram.selected);
    diagram.draw();
  }

  /** @param {string} id @param {boolean} [open] */
  toggle(id, open) {
    const dialog = /** @type {HTMLDialogElement} */ (this.get(id));
    if (open ?? !dialog.open) {
      if (!dialog.open) dialog.showModal();
    } else dialog.close();
  }

  /** @param {"light" | "dark"} theme */
  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.minimap.redraw();
  }

  wire() {
    const { get } = this;
    get("filter-button").addEventListener("click", () => this.toggle("filters", true));
    get("help-button").addEventListener("click", () => this.toggle("help", true));
    for (const dialog of document.querySelectorAll("dialog")) {
      dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
      dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    }
    get("theme-button").addEventListener("click", () => {
      const isDark = getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
      this.setTheme(isDark ? "light" : "dark");
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.minimap.redraw());
    get("only-relevant").addEventListener("change", (event) => {
      this.diagram.onlyRelevant = /** @type {HTMLInputElement} */ (event.target).checked;
      this.refilter();
    });
    get("show-all").addEventListener("click", () => {
      this.diagram.hiddenActors.clear();
      this.diagram.hiddenEvents.clear();
      this.diagram.onlyRelevant = false;
      this.refilter();
    });
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.moveToHit(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.search.value = "";
        this.find("");
        this.search.blur();
        this.get("list").focus();
      }
      event.stopPropagation();
    });
    this.diagram.parts.svg.addEventListener("click", (event) => {
      const { top } = this.diagram.parts.canvas.getBoundingClientRect();
      const row = Math.floor((/** @type {MouseEvent} */ (event).clientY - top) / ROW);
      if (row >= 0 && row < this.diagram.rows.length) this.select(this.diagram.rows[row]);
    });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => {
      const at = this.stepOfAddress();
      if (this.keepsAddress && at !== undefined && at !== this.diagram.selected) this.select(at);
    });
    this.wireSplitter(get("list-splitter"), "--list-width", 1, [180, 900]);
    this.wireSplitter(get("side-splitter"), "--side-width", -1, [260, 900]);
  }

  /** @param {HTMLElement} splitter @param {string} property @param {number} direction @param {number[]} range */
  wireSplitter(splitter, property, direction, [least, most]) {
    const root = document.documentElement;
    const current = () => parseFloat(getComputedStyle(root).getPropertyValue(property));
    const set = (/** @type {number} */ width) => {
      root.style.setProperty(property, `${Math.max(least, Math.min(most, width))}px`);
      this.fitsList = false;
      this.diagram.relayout();
    };
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      const [x, width] = [event.clientX, current()];
      const move = (/** @type {PointerEvent} */ e) => set(width + direction * (e.clientX - x));
      splitter.addEventListener("pointermove", move);
      splitter.addEventListener("pointerup", () => splitter.removeEventListener("pointermove", move), { once: true });
    });
    splitter.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowLeft" ? -20 : event.key === "ArrowRight" ? 20 : 0;
      if (by !== 0) {
        set(current() + direction * by);
        event.stopPropagation();
        event.preventDefault();
      }
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.querySelector("dialog[open]") || target.closest("input, textarea, select")) return;
    const page = Math.max(1, this.diagram.view().last - this.diagram.view().first - 2);
    /** @type {{[key: string]: () => void}} */
    const keys = {
      j: () => this.move(1),
      ArrowDown: () => this.move(1),
      k: () => this.move(-1),
      ArrowUp: () => this.move(-1),
      PageDown: () => this.move(page),
      PageUp: () => this.move(-page),
      g: () => this.select(this.diagram.rows[0] ?? 0),
      Home: () => this.select(this.diagram.rows[0] ?? 0),
      G: () => this.select(this.diagram.rows[this.diagram.rows.length - 1] ?? 0),
      End: () => this.select(this.diagram.rows[this.diagram.rows.length - 1] ?? 0),
      "/": () => (this.search.focus(), this.search.select()),
      n: () => this.moveToHit(1),
      N: () => this.moveToHit(-1),
      "]": () => this.moveSame(1),
      "[": () => this.moveSame(-1),
      c: () => this.moveToCause(),
      r: () => ((this.diagram.onlyRelevant = !this.diagram.onlyRelevant), this.refilter()),
      f: () => this.toggle("filters", true),
      "?": () => this.toggle("help", true),
      Escape: () => this.selectMessage(undefined),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
