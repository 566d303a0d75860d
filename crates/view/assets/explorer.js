// @ts-check
// The explorer: the same page, with the steps that can come next, searches in the background and the picture of what lies around.
// It talks to the server that it came from and to nothing else.

/** Milliseconds between two questions about a search that runs. */
const POLL = 300;

/** What searches are called. @type {Record<string, string>} */
const SEARCHES = { check: "check", prove: "prove", "from-here": "from here", walk: "random walk", reach: "that state" };

/** Keys beyond those of every page. */
const KEYS = [
  ["1 – 9", "take the step of that number"],
  ["u", "one step back"],
  ["p", "picture of the configurations around this one"],
  ["s", "search for a state"],
];

class Explorer {
  constructor() {
    this.app = new App();
    this.app.keepsAddress = false;
    this.token = new URLSearchParams(location.search).get("token") ?? "";
    /** The choices of each step so far, as lines of a schedule. @type {string[][]} */
    this.steps = [];
    /** @type {any} */
    this.position = undefined;
    /** What was searched for last. @type {string | undefined} */
    this.lastGoal = undefined;
    this.bar = this.makeBar();
    this.app.get("top").after(this.bar);
    this.picture = h("dialog", { id: "picture", "aria-label": "Neighbourhood" });
    this.goal = h("dialog", { id: "goal", "aria-label": "Is a state reachable?" });
    document.body.append(this.picture, this.goal);
    this.app.get("help").querySelector("dl")?.prepend(...KEYS.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]));
    this.app.onselect = () => this.showNext();
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.goToAddress());
    this.goToAddress();
  }

  makeBar() {
    const button = (/** @type {string} */ id, /** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act) => h("button", { id, title, onclick: act }, text);
    return h(
      "div",
      { id: "bar", role: "toolbar", "aria-label": "Explore" },
      button("back", "← Back", "One step back (u)", () => this.back()),
      button("restart", "Restart", "To the beginning", () => this.goTo([])),
      button("walk", "Random walk", "Some random steps from here", () => this.start("walk")),
      button("from-here", "Find a violation from here", "Random walks from here until something breaks", () => this.start("from-here")),
      button("check", "Check", "Test from the beginning, in the background", () => this.start("check")),
      button("prove", "Prove", "Explore all runs, in the background", () => this.start("prove")),
      button("stop", "Stop", "Stop the search", () => this.ask("/api/stop", {})),
      button("reach", "Is a state reachable?", "Search from here for a state that you describe (s)", () => this.askForGoal()),
      button("around", "Neighbourhood", "The configurations around this one (p)", () => this.showPicture()),
      h("span", { id: "job", role: "status", class: "muted" }),
    );
  }

  /**
   * @param {string} path
   * @param {any} [body] with one, it is sent; without, the answer is only read
   */
  async ask(path, body) {
    /** @type {RequestInit} */
    const request = { headers: { "X-Allways-Token": this.token } };
    if (body !== undefined) Object.assign(request, { method: "POST", body: JSON.stringify(body) });
    const answer = await fetch(path, request);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer.json();
  }

  /** @param {unknown} error */
  complain(error) {
    this.app.get("job").textContent = error instanceof Error ? error.message : String(error);
  }

  goToAddress() {
    const found = /^#path=(.*)$/.exec(location.hash);
    const text = found ? decodeURIComponent(found[1]) : "";
    const steps = text === "" ? [] : text.split(";").map((step) => step.split(","));
    if (this.position === undefined || JSON.stringify(steps) !== JSON.stringify(this.steps)) this.goTo(steps);
  }

  /** @param {string[][]} steps @returns {Promise<void>} */
  async goTo(steps) {
    try {
      const answer = await this.ask("/api/position", { path: steps.flat() });
      this.position = answer.position;
      this.steps = answer.position.steps;
      const address = this.steps.length === 0 ? "#" : `#path=${encodeURIComponent(this.steps.map((step) => step.join(",")).join(";"))}`;
      if (location.hash !== address) history.replaceState(null, "", address);
      this.app.setTrace(Trace.of(answer.trace), this.steps.length - 1);
      const { outcome, trouble } = answer.position;
      const verdict = this.app.get("verdict");
      verdict.textContent = outcome === "violated" ? `violated: ${this.app.trace?.violation?.kind ?? ""}` : outcome;
      verdict.className = outcome === "violated" ? "bad" : "good";
      if (outcome === "unknown") this.app.get("message").textContent = plain(trouble ?? "");
      this.showNext();
    } catch (error) {
      this.complain(error);
    }
  }

  back() {
    if (this.steps.length > 0) this.goTo(this.steps.slice(0, -1));
  }

  /** The steps that can come next, before everything else in the pane. */
  showNext() {
    const { app, position } = this;
    if (!position) return;
    document.getElementById("next")?.remove();
    const at = app.diagram.selected;
    const isEnd = at === this.steps.length - 1;
    const card = h("section", { class: "card next", id: "next", "aria-label": "Next steps" });
    if (!isEnd) {
      card.append(h("h2", {}, "An earlier step"), h("button", { id: "go-on-here", onclick: () => this.goTo(this.steps.slice(0, at + 1)) }, `Go on from step ${at + 1}`));
    } else if (position.options.length === 0) {
      card.append(h("h2", {}, position.outcome === "violated" ? "The run ends here: violated" : "The run ends here"));
    } else {
      card.append(h("h2", {}, `Next step: ${position.options.length}${position.moreOptions ? " of many" : ""} possible`));
      position.options.forEach((/** @type {any} */ option, /** @type {number} */ i) => {
        const [first, ...rest] = option.preview.length > 0 ? option.preview : [option.label];
        card.append(
          h(
            "button",
            { class: `option ${option.kind}`, "data-option": i, title: plain(option.label), onclick: () => this.goTo([...this.steps, option.choices]) },
            h("span", { class: "option-head" }, i < 9 ? h("kbd", {}, i + 1) : null, " ", plain(first), option.kind === "goes-on" ? null : h("span", { class: "tag" }, option.kind)),
            ...rest.slice(0, 6).map((/** @type {string} */ line) => h("span", { class: "effect" }, plain(line.trim()).slice(0, 160))),
          ),
        );
      });
    }
    app.get("side").prepend(card);
  }

  /** @param {string} kind */
  async start(kind) {
    try {
      this.app.get("job").replaceChildren(`${SEARCHES[kind] ?? kind}…`);
      await this.ask("/api/job", { kind, path: this.steps.flat() });
      await this.watch();
    } catch (error) {
      this.complain(error);
    }
  }

  /** Asks which state is meant, with the states of this moment as a start. */
  askForGoal() {
    const dialog = /** @type {HTMLDialogElement} */ (this.goal);
    const trace = this.app.trace;
    const at = this.app.diagram.selected;
    const here = trace ? trace.stateAfter(at).flatMap((actor, i) => (actor.exists && trace.actors[i].kind !== "network" && actor.state ? [`${plain(trace.actors[i].name)}: ${plain(actor.state)}`] : [])) : [];
    const problem = h("p", { class: "problem", role: "alert" });
    const input = /** @type {HTMLInputElement} */ (h("input", { id: "goal-text", "aria-label": "State", spellcheck: "false", value: this.lastGoal ?? here.join(", ") }));
    const search = async () => {
      try {
        await this.ask("/api/job", { kind: "reach", goal: input.value, path: this.steps.flat() });
        this.lastGoal = input.value;
        dialog.close();
        await this.watch();
      } catch (error) {
        problem.textContent = error instanceof Error ? error.message : String(error);
      }
    };
    dialog.replaceChildren(
      h("h2", {}, "Is a state reachable?", h("button", { class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×")),
      h("p", { class: "muted" }, "Searches breadth first from here for a configuration that satisfies all conditions. Separate conditions by commas: ", h("code", {}, "MACHINE: STATE"), ", ", h("code", {}, "MACHINE.VARIABLE = VALUE"), " or with !=, <, >, <=, >=. A name without its number means some machine of that kind."),
      h("form", { onsubmit: (/** @type {Event} */ e) => (e.preventDefault(), search()) }, input, h("button", { id: "goal-go" }, "Search")),
      problem,
    );
    dialog.showModal();
    input.select();
  }

  /** Follows the search that runs. */
  async watch() {
    for (;;) {
      const job = await this.ask("/api/job");
      const place = this.app.get("job");
      place.replaceChildren(`${SEARCHES[job.kind] ?? job.kind}: ${job.text} (${job.seconds} s) `);
      if (!job.isRunning) {
        if (job.path && job.kind === "walk") await this.goTo([job.path]);
        else if (job.path) place.append(h("button", { id: "jump", class: "link", onclick: () => this.goTo([job.path]) }, "go there"));
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  async showPicture() {
    try {
      const picture = await this.ask("/api/graph", { path: this.steps.flat(), depth: 2 });
      const dialog = /** @type {HTMLDialogElement} */ (this.picture);
      const svg = s("svg", { width: picture.width, height: picture.height, viewBox: `0 0 ${picture.width} ${picture.height}`, role: "group", "aria-label": "Configurations around this one" });
      svg.append(s("defs", {}, s("marker", { id: "arrow-graph", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0,0 L8,4 L0,8 z", class: "head plain" }))));
      for (const edge of picture.edges) {
        svg.append(s("path", { class: "graph-edge", d: edge.d, "marker-end": "url(#arrow-graph)" }, s("title", {}, edge.whole.map(plain).join("\n"))));
        edge.labels.forEach((/** @type {string} */ label, /** @type {number} */ i) => edge.label && svg.append(s("text", { class: "graph-label", x: edge.label.x, y: edge.label.y + 11.5 * (i + 0.8 - edge.labels.length / 2), "text-anchor": "middle" }, plain(label))));
      }
      picture.nodes.forEach((/** @type {any} */ node, /** @type {number} */ n) => {
        const group = s(
          "g",
          { class: `graph-node ${node.kind}`, role: "button", tabindex: 0, "data-node": n, "aria-label": `Configuration ${n + 1}: ${node.kind}`, onclick: () => this.goFromPicture(node), onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && this.goFromPicture(node) },
          s("title", {}, node.whole.map(plain).join("\n")),
          s("rect", { x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height, rx: 5 }),
          ...node.lines.map((/** @type {string} */ line, /** @type {number} */ i) => s("text", { x: node.x - node.width / 2 + 8, y: node.y - node.height / 2 + 8 + 14 * (i + 0.75) }, plain(line))),
        );
        svg.append(group);
      });
      dialog.replaceChildren(
        h("h2", {}, "Neighbourhood: two steps from here", picture.isComplete ? "" : ", dashed where there is more", h("button", { class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×")),
        h("p", { class: "muted" }, "Click a configuration to go there."),
        h("div", { class: "graph" }, svg),
      );
      dialog.showModal();
    } catch (error) {
      this.complain(error);
    }
  }

  /** @param {any} node */
  goFromPicture(node) {
    /** @type {HTMLDialogElement} */ (this.picture).close();
    if (node.way && node.way.length > 0) this.goTo([...this.steps, node.way]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || target.closest("input")) return;
    if (event.key === "u") this.back();
    else if (event.key === "p") this.showPicture();
    else if (event.key === "s") this.askForGoal();
    else if (/^[1-9]$/.test(event.key)) /** @type {HTMLElement | null} */ (document.querySelector(`[data-option="${Number(event.key) - 1}"]`))?.click();
    else return;
    event.preventDefault();
  }
}

const explorer = new Explorer();
Object.assign(window, { allways: explorer.app, explorer });
