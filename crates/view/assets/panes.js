// @ts-check
// The panes beside the diagram: the chosen step with its source, what failed and why, and the state of every machine.

class Panes {
  /**
   * @param {HTMLElement} root
   * @param {{select: (at: number) => void, selectMessage: (id: number | undefined) => void, colour: (actor: number) => string}} actions
   */
  constructor(root, actions) {
    this.root = root;
    this.actions = actions;
    this.onlyChanged = false;
  }

  /** @param {Trace} trace @param {number} at @param {number | undefined} message */
  show(trace, at, message) {
    this.trace = trace;
    const scroll = this.root.scrollTop;
    this.root.replaceChildren(
      ...(message === undefined ? [] : [this.messageCard(message)]),
      ...(trace.violation && at === trace.nSteps - 1 ? [this.failureCard()] : []),
      ...(!trace.violation && trace.loopStart >= 0 && at === trace.nSteps - 1 ? [this.loopCard()] : []),
      ...(at >= 0 ? [this.stepCard(at)] : [this.startCard()]),
      this.stateCard(at),
    );
    this.root.scrollTop = message === undefined ? scroll : 0;
    // Long lines of source begin where it matters.
    for (const code of this.root.querySelectorAll(".code")) {
      const mark = /** @type {HTMLElement | null} */ (code.querySelector("mark"));
      if (mark && mark.offsetLeft + Math.min(mark.offsetWidth, 160) > code.clientWidth) code.scrollLeft = mark.offsetLeft - 60;
    }
  }

  /** @param {number} at */
  stepLink(at) {
    return h("button", { class: "link", onclick: () => this.actions.select(at) }, `step ${at + 1}`);
  }

  /** @param {number | undefined} actor */
  actorName(actor) {
    const trace = /** @type {Trace} */ (this.trace);
    if (actor === undefined || actor < 0) return h("span", {}, "the network");
    return h("span", { class: "actor", style: { "--actor": this.actions.colour(actor) } }, trace.name(actor));
  }

  startCard() {
    return h("section", { class: "card step" }, h("h2", {}, "Before the first step"));
  }

  /** @param {number} at */
  stepCard(at) {
    const trace = /** @type {Trace} */ (this.trace);
    const { text, step } = trace.summary(at);
    const lines = step.events.map((entry) => this.entryLine(entry, at)).filter((line) => line !== undefined);
    const others = step.alternatives.map((actor) => trace.name(actor));
    const more = step.nAlternatives - others.length;
    const place = trace.placeOf(step);
    return h(
      "section",
      { class: "card step", "aria-label": `Step ${at + 1}` },
      h("h2", {}, `Step ${at + 1}`, h("span", { class: "of" }, ` of ${trace.nSteps}`), !step.relevant && trace.violation ? h("span", { class: "tag" }, "no influence on the failure") : null, trace.loopStart >= 0 && at >= trace.loopStart ? h("span", { class: "tag loop-tag" }, "↻ loop") : null),
      h("p", { class: "lead" }, text),
      h("ul", { class: "entries" }, ...lines),
      place ? this.source(place) : null,
      others.length > 0 ? h("p", { class: "others" }, "Also enabled here: ", others.join(", "), more > 0 ? ` and ${more} more` : "") : null,
    );
  }

  /** @param {any} entry @param {number} at */
  entryLine(entry, at) {
    const trace = /** @type {Trace} */ (this.trace);
    const actor = () => this.actorName(entry.actor);
    const state = () => (entry.state ? h("span", { class: "in" }, ` in ${plain(entry.state)}`) : null);
    const row = (/** @type {any[]} */ ...children) => h("li", { class: `entry ${entry.kind}` }, ...children);
    if (typeof entry.message === "number") {
      const message = trace.message(entry.message);
      const event = h("button", { class: "link event", onclick: () => this.actions.selectMessage(entry.message), title: "Show this message" }, plain(message.event));
      const payload = message.payload === undefined ? null : h("div", { class: "payload" }, valueElement(message.payload));
      const from = this.actorName(message.from);
      const to = message.to === undefined ? h("span", {}, "monitors") : this.actorName(message.to);
      switch (entry.kind) {
        case "send":
          return row(from, " → ", to, " ", event, payload);
        case "observe":
          return row(actor(), " observes ", event, " from ", from, payload);
        case "announce":
          return row(from, " announces ", event, payload);
        case "dequeue":
        case "receive": {
          const waited = message.delivered !== undefined && message.delivered - 1 < at;
          return row(actor(), " takes ", event, state(), waited ? h("span", {}, ", sent by ", from, " in ", this.stepLink(message.sent - 1)) : null, waited ? payload : null);
        }
        case "arrive":
          return row("the network delivers ", event, " from ", from, " to ", to, payload);
        case "lose":
          return row("the network loses ", event, " to ", to);
        case "duplicate":
          return row("the network duplicates ", event, " to ", to);
        case "drop":
          return row(event, " is dropped: ", to, " has halted");
        case "ignore":
          return row(to, " ignores ", event);
        default:
          return row(entry.kind, " ", event);
      }
    }
    switch (entry.kind) {
      case "create":
        return row(entry.creator === undefined ? null : h("span", {}, this.actorName(entry.creator), " creates "), actor(), entry.creator === undefined ? " starts" : null, entry.payload === undefined ? null : h("div", { class: "payload" }, valueElement(entry.payload)));
      case "dequeue":
      case "receive":
        return row(actor(), " takes ", plain(entry.event), state());
      case "raise":
        return row(actor(), " raises ", plain(entry.event), state(), entry.payload === undefined ? null : h("div", { class: "payload" }, valueElement(entry.payload)));
      case "goto":
        return row(actor(), ` goes from ${plain(entry.state)} to ${plain(entry.target)}`);
      case "enter":
        return entry.temperature ? row(actor(), ` enters ${plain(entry.state)} `, h("span", { class: `tag ${entry.temperature}-tag` }, entry.temperature)) : undefined;
      case "exit":
        return undefined;
      case "wait":
        return row(actor(), ` waits for ${entry.events.map(plain).join(" or ")}`, state());
      case "choice":
        return row(actor(), ` chooses ${valueText(entry.value, 200)}`, h("span", { class: "in" }, ` (answer ${entry.answer + 1} of ${entry.answers})`));
      case "print":
        return row(actor(), " prints ", h("span", { class: "printed" }, plain(entry.text)));
      case "halt":
        return row(actor(), " halts", entry.discarded ? `, and ${entry.discarded} waiting message${entry.discarded === 1 ? " is" : "s are"} lost` : "");
      case "crash":
        return row(actor(), " crashes", state());
      case "statement":
        return row(actor(), ": ", h("code", {}, plain(entry.text)), h("span", { class: "in" }, ` in ${plain(entry.procedure ?? "")}`));
      case "delay":
        return row(actor(), " is delayed");
      case "abandon":
        return row(actor(), " never runs again");
      case "fault":
        return row(entry.actor === undefined ? "" : actor(), h("strong", {}, entry.actor === undefined ? "the run fails" : ` ${trace.faultWords()}`));
      default:
        return row(actor(), ` ${entry.kind}`);
    }
  }

  /** The lines of the source around a place. @param {number[]} place */
  source(place) {
    const trace = /** @type {Trace} */ (this.trace);
    const file = trace.head.files[place[0]];
    if (!file) return null;
    const lines = file.text.split("\n");
    const [, line, column, endLine, endColumn] = place;
    const last = Math.min(endLine, line + 5);
    const rows = [];
    const [low, high] = [Math.max(1, line - 1), Math.min(lines.length, last + 1)];
    const shown = lines.slice(low - 1, high).filter((/** @type {string} */ text) => text.trim() !== "");
    const indent = Math.min(...shown.map((/** @type {string} */ text) => /^ */.exec(text)?.[0].length ?? 0));
    for (let n = low; n <= high; n++) {
      const whole = lines[n - 1].replace(/\r$/, "");
      const text = whole.slice(indent);
      const isIn = n >= line && n <= endLine;
      // Columns count characters, and a character can be two units of text.
      const unit = (/** @type {number} */ at) => Math.max(0, [...whole].slice(0, at - 1).join("").length - indent);
      const from = n === line ? unit(column) : 0;
      const to = n === endLine ? unit(endColumn) : text.length;
      const parts = isIn ? [text.slice(0, from), h("mark", {}, text.slice(from, to)), text.slice(to)] : [text];
      rows.push(h("div", { class: "line" + (isIn ? " at" : "") }, h("span", { class: "line-number" }, n), h("span", { class: "line-text" }, ...parts)));
    }
    return h("figure", { class: "source" }, h("figcaption", {}, `${plain(file.name)}:${line}`), h("div", { class: "code", tabindex: 0, role: "group", "aria-label": `Source ${plain(file.name)} line ${line}` }, ...rows));
  }

  /** @param {number} id */
  messageCard(id) {
    const trace = /** @type {Trace} */ (this.trace);
    const message = trace.message(id);
    /** @type {[string, any][]} */
    const facts = [
      ["from", this.actorName(message.from)],
      ["to", message.to === undefined ? "monitors" : this.actorName(message.to)],
      ["sent", this.stepLink(message.sent - 1)],
      ["delivered", message.delivered === undefined ? undefined : this.stepLink(message.delivered - 1)],
      ["taken", message.taken === undefined ? undefined : this.stepLink(message.taken - 1)],
      ["fate", message.fate],
      ["payload", message.payload === undefined ? undefined : valueElement(message.payload)],
    ];
    return h(
      "section",
      { class: "card message-card", "aria-label": `Message ${plain(message.event)}` },
      h("h2", {}, h("span", { class: "event" }, plain(message.event)), h("button", { class: "close", "aria-label": "Close", title: "Close (Esc)", onclick: () => this.actions.selectMessage(undefined) }, "×")),
      h("dl", {}, ...facts.filter(([, value]) => value !== undefined).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      message.place ? this.source(message.place) : null,
    );
  }

  failureCard() {
    const trace = /** @type {Trace} */ (this.trace);
    const { violation } = trace;
    const failure = violation.failure ?? {};
    const parts = (failure.parts ?? []).map((/** @type {any} */ part) => {
      /** @type {any} */
      let origin = part.origin === "payload" && failure.message !== undefined ? h("span", {}, "sent by ", this.actorName(trace.message(failure.message).from), " in ", this.stepLink(trace.message(failure.message).sent - 1)) : part.origin;
      if (part.origin === "variable" && failure.actor !== undefined) {
        const write = trace.lastWrite(trace.ownerOf(failure.actor, part.variable), part.variable, trace.nSteps - 1);
        origin = write === undefined ? "first value" : h("span", {}, "written in ", this.stepLink(write.at), "before" in write.change && "after" in write.change ? `: ${valueText(write.change.before, 24)} → ${valueText(write.change.after, 24)}` : null);
      }
      const isKnown = origin !== "local" && origin !== "computed";
      return h("tr", {}, h("td", {}, h("code", {}, plain(part.text))), h("td", {}, valueElement(part.value)), h("td", { class: "origin" }, isKnown ? origin : null));
    });
    const reasons = (violation.why ?? []).map((/** @type {string} */ line) => h("li", { class: line.startsWith(" ") ? "inner" : undefined }, ...this.linked(plain(line.trim()))));
    return h(
      "section",
      { class: "card failure", "aria-label": "Why it fails" },
      h("h2", {}, plain(violation.kind), violation.monitor ? h("span", { class: "tag" }, `monitor ${plain(violation.monitor)}`) : null),
      h("p", { class: "lead" }, trace.failureText),
      failure.message === undefined || reasons.length > 0 ? null : h("p", {}, this.handled(failure.message)),
      parts.length > 0 ? h("table", { class: "parts" }, h("tbody", {}, ...parts)) : null,
      reasons.length > 0 ? h("ul", { class: "entries reasons" }, ...reasons) : null,
    );
  }

  /** Text in which `step 7` leads there. @param {string} text */
  linked(text) {
    return text.split(/\b(step \d+)\b/).map((part, i) => (i % 2 === 1 ? this.stepLink(Number(part.slice(5)) - 1) : part));
  }

  /** The message that was handled when the run failed. @param {number} id */
  handled(id) {
    const trace = /** @type {Trace} */ (this.trace);
    const { event, payload, from, sent } = trace.message(id);
    return h("span", {}, h("button", { class: "link event", onclick: () => this.actions.selectMessage(id) }, plain(event)), " of ", this.actorName(from), ", sent in ", this.stepLink(sent - 1), payload === undefined ? null : h("div", { class: "payload" }, h("span", { class: "in" }, "payload "), valueElement(payload)));
  }

  /** A run that repeats, although nothing fails in it. */
  loopCard() {
    const trace = /** @type {Trace} */ (this.trace);
    const first = trace.loopStart;
    const last = trace.nSteps - 1;
    const steps = first === last ? [this.stepLink(first), " repeats"] : [this.stepLink(first), " to ", this.stepLink(last), " repeat"];
    return h("section", { class: "card", "aria-label": "Repeats for ever" }, h("h2", {}, "Repeats for ever", h("span", { class: "tag loop-tag" }, "↻ loop")), h("p", { class: "lead" }, ...steps, " for ever: the run never ends."));
  }

  /** @param {number} at */
  stateCard(at) {
    const trace = /** @type {Trace} */ (this.trace);
    const step = at >= 0 ? trace.step(at) : undefined;
    /** @type {Map<number, any[]>} */
    const changed = new Map();
    const changes = (step?.changes ?? []).filter((/** @type {any} */ change) => !this.onlyChanged || !isSameAgain(change));
    for (const change of changes) changed.set(change.actor, [...(changed.get(change.actor) ?? []), change]);
    const state = trace.stateAfter(at);
    const isRight = (/** @type {number} */ actor) => (["monitor", "shared"].includes(trace.actors[actor].kind) ? 1 : 0);
    const order = trace.actors.map((_, actor) => actor).sort((a, b) => isRight(a) - isRight(b) || a - b);
    const cards = order
      .filter((actor) => state[actor].exists && (!this.onlyChanged || changed.has(actor)))
      .map((actor) => this.actorCard(actor, state[actor], changed.get(actor) ?? [], at));
    const toggle = h("label", { class: "toggle" }, h("input", { type: "checkbox", checked: this.onlyChanged, onchange: (/** @type {any} */ e) => ((this.onlyChanged = e.target.checked), this.show(trace, at, undefined)) }), " only what changed");
    return h("section", { class: "card states", "aria-label": "State" }, h("h2", {}, at < 0 ? "State" : `State after step ${at + 1}`, toggle), ...cards);
  }

  /** @param {number} actor @param {ActorState} state @param {any[]} changes @param {number} at */
  actorCard(actor, state, changes, at) {
    const trace = /** @type {Trace} */ (this.trace);
    const { name, kind } = trace.actors[actor];
    const moved = changes.find((change) => change.kind === "state");
    const temperature = kind === "monitor" ? trace.temperature(actor, at) : "";
    const fresh = new Set(changes.filter((change) => change.kind === "queued").map((change) => change.message));
    const variables = [...state.variables].map(([variable, value]) => {
      const edits = changes.filter((change) => change.kind === "variable" && change.variable === variable);
      const isChanged = edits.some((edit) => !isSameAgain(edit));
      return h("tr", { class: isChanged ? "changed" : undefined }, h("td", { class: "key" }, plain(variable)), h("td", {}, valueElement(value), ...edits.map((edit) => this.editLine(edit))));
    });
    const inbox = state.inbox.slice(0, 20).map((id) => h("button", { class: "queued" + (fresh.has(id) ? " changed" : ""), title: trace.message(id).payload === undefined ? "" : valueText(trace.message(id).payload ?? null, 200), onclick: () => this.actions.selectMessage(id) }, plain(trace.message(id).event)));
    if (state.inbox.length > 20) inbox.push(h("span", { class: "in" }, `${state.inbox.length - 20} more`));
    return h(
      "div",
      { class: "actor-card" + (changes.some((change) => !isSameAgain(change)) ? " touched" : ""), style: { "--actor": this.actions.colour(actor) }, "data-actor": plain(name) },
      h(
        "div",
        { class: "actor-head" },
        h("span", { class: "actor" }, plain(name)),
        state.state ? h("span", { class: "control" + (moved ? " changed" : "") }, moved ? h("del", {}, plain(moved.before)) : null, moved ? " → " : null, plain(state.state)) : null,
        temperature ? h("span", { class: `tag ${temperature}-tag` }, temperature) : null,
        kind === "machine" && state.activity !== "idle" ? h("span", { class: `activity ${state.activity}` }, state.activity) : null,
      ),
      variables.length > 0 ? h("table", { class: "variables" }, h("tbody", {}, ...variables)) : null,
      inbox.length > 0 ? h("div", { class: "inbox" }, h("span", { class: "in" }, "inbox "), ...inbox) : null,
    );
  }

  /** @param {any} edit */
  editLine(edit) {
    const path = pathText(edit.path);
    /** @type {any[]} */
    let what;
    if (isSameAgain(edit)) what = ["assigned again"];
    else if ("at" in edit) {
      const gone = edit.removed.length > 0 ? `− ${edit.removed.map((/** @type {Value} */ v) => valueText(v, 30)).join(", ").slice(0, 80)} ` : "";
      const come = edit.inserted.length > 0 ? `+ ${edit.inserted.map((/** @type {Value} */ v) => valueText(v, 30)).join(", ").slice(0, 80)}` : "";
      what = [`at ${edit.at}: ${gone}${come}`];
    } else if (!("after" in edit)) what = [h("del", {}, "before" in edit ? valueText(edit.before, 60) : ""), " removed"];
    else if (!("before" in edit)) what = ["new ", h("ins", {}, valueText(edit.after, 60))];
    else what = [h("del", {}, valueText(edit.before, 60)), " → ", h("ins", {}, valueText(edit.after, 60))];
    return h("div", { class: "edit" }, path ? h("span", { class: "path" }, path + " ") : null, ...what);
  }
}
