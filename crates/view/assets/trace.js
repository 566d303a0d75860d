// @ts-check
// A trace in memory: what every view needs of all steps in flat arrays, the rest parsed when it is looked at.
//
// Memory: the text of the trace stays in the page; of the parsed form only a few blocks are kept, so that a run of 100,000
// steps can be looked at. Steps are indices from zero here, and count from one on the page and in files.

/**
 * @typedef {{id: number, name: string, type: string, kind: string, creator?: number, created: number, state: string,
 *   variables: [string, Value][], place?: number[]}} Actor
 * @typedef {{id: number, event: string, payload?: Value, from?: number, to?: number, sent: number, delivered?: number,
 *   taken?: number, fate: string, copyOf?: number, place?: number[]}} Message
 * @typedef {{number: number, actor?: number, relevant: boolean, alternatives: number[], nAlternatives: number,
 *   events: any[], changes: any[]}} Step
 * @typedef {{exists: boolean, state: string, activity: string, variables: Map<string, Value>, inbox: number[]}} ActorState
 */

/** Parsed blocks that are kept. */
const KEPT_BLOCKS = 16;

/** A list of JSON values in blocks of text or as values. */
class Blocks {
  /** @param {(string | any[])[]} blocks */
  constructor(blocks) {
    this.blocks = blocks;
    /** @type {number[]} */
    this.firsts = [];
    this.length = 0;
    /** @type {Map<number, any[]>} */
    this.parsed = new Map();
  }

  /** Goes through all once, in order, and learns where blocks begin. @param {(value: any, index: number) => void} visit */
  scan(visit) {
    this.firsts = [];
    this.length = 0;
    this.blocks.forEach((block) => {
      this.firsts.push(this.length);
      for (const value of typeof block === "string" ? JSON.parse(block) : block) visit(value, this.length++);
    });
  }

  /** @param {number} index */
  at(index) {
    let [low, high] = [0, this.firsts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.firsts[middle] <= index) low = middle;
      else high = middle;
    }
    const block = this.blocks[low];
    if (typeof block !== "string") return block[index - this.firsts[low]];
    let values = this.parsed.get(low);
    if (values === undefined) values = /** @type {any[]} */ (JSON.parse(block));
    // The most recent comes last; the oldest goes.
    this.parsed.delete(low);
    this.parsed.set(low, values);
    if (this.parsed.size > KEPT_BLOCKS) this.parsed.delete(/** @type {number} */ (this.parsed.keys().next().value));
    return values[index - this.firsts[low]];
  }
}

/** Lists of small numbers, one for each index, in one array. */
class Lists {
  constructor() {
    this.starts = [0];
    /** @type {number[]} */
    this.items = [];
  }
  /** @param {Iterable<number>} list */
  push(list) {
    for (const item of list) this.items.push(item);
    this.starts.push(this.items.length);
  }
  /** @param {number} index @param {(item: number) => boolean} test */
  some(index, test) {
    for (let i = this.starts[index]; i < this.starts[index + 1]; i++) if (test(this.items[i])) return true;
    return false;
  }
  /** @param {number} index */
  isEmpty(index) {
    return this.starts[index] === this.starts[index + 1];
  }
}

/** Numbered names. */
class Names {
  constructor() {
    /** @type {string[]} */
    this.all = [];
    /** @type {Map<string, number>} */
    this.ids = new Map();
  }
  /** @param {string} name */
  id(name) {
    let id = this.ids.get(name);
    if (id === undefined) this.ids.set(name, (id = this.all.push(name) - 1));
    return id;
  }
}

/** How far apart states are kept, to start from. */
const CHECKPOINT_EVERY = 500;

class Trace {
  /**
   * @param {any} head everything but messages and steps
   * @param {(string | any[])[]} messages
   * @param {(string | any[])[]} steps
   */
  constructor(head, messages, steps) {
    this.head = head;
    /** @type {Actor[]} */
    this.actors = head.actors;
    this.messages = new Blocks(messages);
    this.steps = new Blocks(steps);
    this.events = new Names();
    // Of messages, by id; steps are -1 where there is none.
    this.from = this.to = this.sent = this.delivered = this.taken = this.event = new Int32Array(0);
    // Of steps.
    this.movers = new Int32Array(0);
    this.relevant = new Uint8Array(0);
    this.stepActors = new Lists();
    this.stepEvents = new Lists();
    this.stepMessages = new Lists();
    /** By actor, where its temperature changes. @type {{at: number, temperature: string}[][]} */
    this.temperatures = this.actors.map(() => []);
    /** @type {ActorState[][]} */
    this.checkpoints = [];
    this.cursor = { at: -1, state: this.firstState() };
    this.indexMessages();
    this.indexSteps();
  }

  /** The trace that is written into this page, if there is one. */
  static embedded() {
    const texts = (/** @type {string} */ name) =>
      [...document.querySelectorAll(`script[data-block="${name}"]`)].map((block) => block.textContent ?? "");
    const [head] = texts("head");
    return head === undefined ? undefined : new Trace(JSON.parse(head), texts("messages"), texts("steps"));
  }

  /** @param {any} whole a trace file that was parsed at once */
  static of(whole) {
    return new Trace(whole, [whole.messages], [whole.steps]);
  }

  indexMessages() {
    /** @type {number[][]} */
    const rows = [[], [], [], [], [], []];
    this.messages.scan((message) => {
      [
        message.from ?? -1,
        message.to ?? -1,
        message.sent - 1,
        (message.delivered ?? 0) - 1,
        (message.taken ?? 0) - 1,
        this.events.id(message.event),
      ].forEach((value, row) => rows[row].push(value));
    });
    [this.from, this.to, this.sent, this.delivered, this.taken, this.event] = rows.map((row) => Int32Array.from(row));
  }

  indexSteps() {
    /** @type {number[]} */
    const movers = [];
    /** @type {number[]} */
    const relevant = [];
    const state = this.firstState();
    this.steps.scan((/** @type {Step} */ step, at) => {
      if (at % CHECKPOINT_EVERY === 0) this.checkpoints.push(copyState(state));
      movers.push(step.actor ?? -1);
      relevant.push(step.relevant ? 1 : 0);
      /** @type {Set<number>} */
      const actors = new Set(step.actor === undefined ? [] : [step.actor]);
      /** @type {Set<number>} */
      const events = new Set();
      /** @type {Set<number>} */
      const messages = new Set();
      for (const entry of step.events) {
        if (entry.actor !== undefined) actors.add(entry.actor);
        if (entry.message !== undefined && typeof entry.message === "number") {
          const message = entry.message;
          messages.add(message);
          events.add(this.event[message]);
          if (this.from[message] >= 0) actors.add(this.from[message]);
          if (this.to[message] >= 0 && entry.kind !== "observe") actors.add(this.to[message]);
        }
        if (entry.kind === "enter" && this.actors[entry.actor]?.kind === "monitor") {
          this.temperatures[entry.actor].push({ at, temperature: entry.temperature ?? "" });
        }
      }
      for (const change of step.changes) actors.add(change.actor);
      this.stepActors.push(actors);
      this.stepEvents.push(events);
      this.stepMessages.push(messages);
      applyStep(state, step);
    });
    this.movers = Int32Array.from(movers);
    this.relevant = Uint8Array.from(relevant);
  }

  get nSteps() {
    return this.steps.length;
  }
  get violation() {
    return this.head.violation;
  }
  /** What failed, without the place, which is shown beside it. */
  get failureText() {
    return plain(this.violation?.headline ?? "");
  }
  /** The first step of the loop of a run that repeats for ever, or -1. */
  get loopStart() {
    return (this.head.loopStart ?? 0) - 1;
  }

  /** @param {number} at @returns {Step} */
  step(at) {
    return this.steps.at(at);
  }
  /** @param {number} id @returns {Message} */
  message(id) {
    return this.messages.at(id);
  }
  /** @param {number | undefined} actor */
  name(actor) {
    return actor === undefined || actor < 0 ? "the network" : plain(this.actors[actor]?.name ?? "?");
  }

  firstState() {
    return this.actors.map((actor) => ({
      exists: false,
      state: actor.state,
      activity: "running",
      variables: new Map(actor.variables),
      inbox: /** @type {number[]} */ ([]),
    }));
  }

  /** All actors after a step; -1 is before the first. The result is only valid until the next call. @param {number} at */
  stateAfter(at) {
    const cursor = this.cursor;
    const checkpoint = Math.floor((at + 1) / CHECKPOINT_EVERY);
    const start = checkpoint * CHECKPOINT_EVERY - 1;
    if (cursor.at > at || cursor.at < start) {
      const known = this.checkpoints[checkpoint];
      // A run whose length is a multiple has no checkpoint at its very end.
      if (known !== undefined && start >= -1) {
        cursor.state = copyState(known);
        cursor.at = start;
      } else if (cursor.at > at) {
        cursor.state = copyState(this.checkpoints[checkpoint - 1]);
        cursor.at = start - CHECKPOINT_EVERY;
      }
    }
    while (cursor.at < at) applyStep(cursor.state, this.step(++cursor.at));
    return cursor.state;
  }

  /** The temperature of a monitor after a step. @param {number} actor @param {number} at */
  temperature(actor, at) {
    const changes = this.temperatures[actor];
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (changes[middle].at <= at) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? "" : changes[low - 1].temperature;
  }

  /** `Bank.p:121`, for a place. @param {number[] | undefined} place */
  placeText(place) {
    if (!place) return "";
    const name = this.head.files[place[0]]?.name ?? "";
    return `${plain(name.slice(name.lastIndexOf("/") + 1))}:${place[1]}`;
  }

  /** Where a step comes from in the source. @param {Step} step @returns {number[] | undefined} */
  placeOf(step) {
    const fault = step.events.find((entry) => entry.kind === "fault");
    if (fault?.place) return fault.place;
    for (const kind of ["send", "observe", "announce", "create", "statement", "raise", "choice", "print"]) {
      for (const entry of step.events) {
        if (entry.kind !== kind) continue;
        const place = typeof entry.message === "number" ? this.message(entry.message).place : entry.place;
        if (place) return place;
      }
    }
    return undefined;
  }

  isUnhandled() {
    return this.violation?.kind === "unhandled-event" || this.violation?.kind === "monitor-unhandled";
  }

  /** What the actor does that fails. */
  faultWords() {
    if (this.isUnhandled()) return "cannot handle the event";
    switch (this.violation?.kind) {
      case "deadlock":
        return "waits, and no machine can step";
      case "liveness":
      case "potential-liveness":
        return "stays hot";
      case "hot-at-end":
        return "is hot, and the run has ended";
      case "assertion":
        return "fails an assertion";
      case "invariant":
        return "breaks the invariant";
      case "step-bound":
        return "reaches the step bound";
      default:
        return "fails";
    }
  }

  /**
   * A step in few words: what it does, and the payload of what it moves.
   * @param {number} at
   * @returns {{text: string, payload: Value | undefined, step: Step, isFault: boolean}}
   */
  summary(at) {
    const step = this.step(at);
    const isFault = step.events.some((entry) => entry.kind === "fault");
    const lead = leadOf(step);
    /** @type {Value | undefined} */
    let payload;
    let text = "";
    if (lead === undefined) {
      text = step.actor === undefined ? "" : `${this.name(step.actor)} goes on`;
    } else {
      const message = typeof lead.message === "number" ? this.message(lead.message) : undefined;
      payload = message?.payload ?? lead.payload;
      const event = plain(message?.event ?? lead.event ?? "");
      const who = this.name(lead.actor ?? message?.from);
      switch (lead.kind) {
        case "send":
          text = `${this.name(message?.from)} → ${this.name(message?.to)} ${event}`;
          break;
        case "observe":
          text = message?.to === undefined ? `${this.name(message?.from)} announces ${event}` : `${this.name(message.from)} sends ${event} to ${this.name(message.to)}`;
          break;
        case "announce":
          text = `${this.name(message?.from)} announces ${event}`;
          break;
        case "arrive":
          text = `network ⇢ ${this.name(message?.to)} ${event}`;
          break;
        case "lose":
          text = `${event} to ${this.name(message?.to)} is lost`;
          break;
        case "duplicate":
          text = `${event} to ${this.name(message?.to)} is duplicated`;
          break;
        case "drop":
          text = `${event} dropped: ${this.name(message?.to)} has halted`;
          break;
        case "ignore":
          text = `${this.name(message?.to)} ignores ${event}`;
          break;
        case "create":
          text = lead.creator === undefined ? `${who} starts` : `${this.name(lead.creator)} creates ${who}`;
          break;
        case "dequeue":
        case "receive":
          text = `${who} takes ${event}`;
          break;
        case "statement":
          text = `${who}: ${plain(lead.text)}`;
          break;
        case "crash":
          text = `${who} crashes`;
          break;
        case "halt":
          text = `${who} halts`;
          break;
        case "raise":
          text = `${who} raises ${event}`;
          break;
        case "goto":
          text = `${who} goes to ${plain(lead.target)}`;
          break;
        case "enter":
          text = `${who} enters ${plain(lead.state)}`;
          break;
        case "wait":
          text = `${who} waits for ${lead.events.map(plain).join(", ")}`;
          break;
        case "choice":
          text = `${who} chooses ${valueText(lead.value, 40)}`;
          break;
        case "print":
          text = `${who} prints ${plain(lead.text)}`;
          break;
        case "delay":
          text = `${who} is delayed`;
          break;
        case "abandon":
          text = `${who} never runs again`;
          break;
        case "fault":
          text = lead.actor === undefined ? "the run fails" : `${who} ${this.faultWords()}`;
          if (this.violation?.failure?.message !== undefined) {
            const handled = this.message(this.violation.failure.message);
            text = `${who} ${this.isUnhandled() ? "cannot handle" : "handles"} ${plain(handled.event)}`;
            payload = handled.payload;
          }
          break;
        default:
          text = `${who} ${lead.kind}`;
      }
    }
    return { text, payload, step, isFault };
  }

  /** Everything of a step that a search looks at. @param {number} at */
  searchText(at) {
    const { text, step } = this.summary(at);
    const parts = [text];
    for (const entry of step.events) {
      if (typeof entry.message === "number") {
        const message = this.message(entry.message);
        parts.push(message.event, this.name(message.from), this.name(message.to));
        if (message.payload !== undefined) parts.push(valueText(message.payload));
      } else if (typeof entry.message === "string") parts.push(entry.message);
      if (entry.payload !== undefined) parts.push(valueText(entry.payload));
      for (const key of ["state", "target", "text", "event"]) if (typeof entry[key] === "string") parts.push(entry[key]);
    }
    for (const change of step.changes) {
      parts.push(this.name(change.actor));
      if (change.kind === "variable") {
        parts.push(change.variable + pathText(change.path));
        if ("after" in change) parts.push(valueText(change.after));
      } else if (change.kind === "state") parts.push(change.after);
    }
    return parts.join(" ").toLowerCase();
  }

  /** The actor that a variable belongs to: the failing one, or else the memory that tasks share. @param {number} actor @param {string} text */
  ownerOf(actor, text) {
    const isOwn = (this.actors[actor]?.variables ?? []).some((/** @type {any} */ [name]) => name === text || startsPath(text, name));
    const shared = this.actors.findIndex((other) => other.kind === "shared");
    return isOwn || shared < 0 ? actor : shared;
  }

  /**
   * The last step up to `at` that wrote to a variable, or to the part of it that a text such as `balances[0]` names.
   * @param {number} actor
   * @param {string} text
   * @param {number} at
   * @returns {{at: number, change: any} | undefined}
   */
  lastWrite(actor, text, at) {
    for (let i = at; i >= 0; i--) {
      if (!this.stepActors.some(i, (other) => other === actor)) continue;
      const changes = this.step(i).changes;
      for (let k = changes.length - 1; k >= 0; k--) {
        const change = changes[k];
        if (change.kind !== "variable" || change.actor !== actor) continue;
        const written = change.variable + pathText(change.path);
        if (written === text || startsPath(written, text) || startsPath(text, written)) return { at: i, change };
      }
    }
    return undefined;
  }
}

/** Whether a path leads into a place. @param {string} long @param {string} short */
function startsPath(long, short) {
  return long.startsWith(short) && ".[".includes(long[short.length] ?? " ");
}

/** What stands for a step, the first of these that is in it. */
const LEADS = [
  "send", "arrive", "lose", "duplicate", "drop", "crash", "create", "statement", "announce", "observe", "dequeue", "receive", "raise",
  "halt", "ignore", "goto", "enter", "choice", "wait", "print", "delay", "abandon", "fault",
];

/** @param {Step} step */
function leadOf(step) {
  const rank = (/** @type {string} */ kind) => {
    const at = LEADS.indexOf(kind);
    return at < 0 ? LEADS.length : at;
  };
  /** @type {any} */
  let best;
  for (const entry of step.events) if (best === undefined || rank(entry.kind) < rank(best.kind)) best = entry;
  // What a monitor fails at is what counts.
  const fault = step.events.findIndex((entry) => entry.kind === "fault");
  if (fault > 0 && step.events[fault - 1].kind === "observe") return step.events[fault - 1];
  // A machine that starts is created in the very first step together with the monitors.
  if (best?.kind === "enter" && step.actor !== undefined) best = step.events.find((e) => e.kind === "enter" && e.actor === step.actor) ?? best;
  return best;
}

/** @param {ActorState[]} state */
function copyState(state) {
  return state.map((actor) => ({ ...actor, variables: new Map(actor.variables), inbox: actor.inbox.slice() }));
}

/** @param {ActorState[]} state @param {Step} step */
function applyStep(state, step) {
  for (const change of step.changes) {
    const actor = state[change.actor];
    if (actor === undefined) continue;
    switch (change.kind) {
      case "created":
        actor.exists = true;
        break;
      case "state":
        actor.state = change.after;
        break;
      case "activity":
        actor.activity = change.after;
        break;
      case "queued":
        actor.inbox.push(change.message);
        break;
      case "unqueued": {
        const at = actor.inbox.indexOf(change.message);
        if (at >= 0) actor.inbox.splice(at, 1);
        break;
      }
      case "variable":
        actor.variables.set(change.variable, applyChange(actor.variables.get(change.variable) ?? null, change.path, change));
        break;
    }
  }
}
