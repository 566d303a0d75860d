// @ts-check
// Values of a trace as text and as elements. Whatever comes from a trace reaches the page as text nodes only.

/**
 * A value as docs/formats/trace.md writes it.
 * @typedef {null | boolean | number | string | Value[] | {[key: string]: any}} Value
 * @typedef {{field?: string, part?: number, key?: Value, element?: Value}} PathStep
 */

/** Characters that change how the text around them is shown: controls, and marks of writing direction. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** @param {string} text */
function plain(text) {
  return text.replace(UNSAFE, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/**
 * A value as P's source has it: `(from = Client(3), n = 1)`. Stops soon after `limit` characters, so that a row that shows
 * the beginning of a large value costs little.
 * @param {Value} value
 * @param {number} [limit]
 * @returns {string}
 */
function valueText(value, limit = Infinity) {
  const out = { text: "", limit };
  writeValue(value, out);
  return out.text.length > limit ? out.text.slice(0, limit) + "…" : out.text;
}

/** @param {Value} value @param {{text: string, limit: number}} out */
function writeValue(value, out) {
  if (out.text.length > out.limit) return;
  if (value === null || typeof value === "boolean" || typeof value === "number") {
    out.text += String(value);
  } else if (typeof value === "string") {
    out.text += plain(JSON.stringify(value.length > out.limit ? value.slice(0, out.limit + 1) : value));
  } else if (Array.isArray(value)) {
    writeList(value, "[", "]", out);
  } else if ("fields" in value) {
    out.text += "(";
    value.fields.some((/** @type {[string, Value]} */ [name, part], /** @type {number} */ i) => {
      out.text += (i > 0 ? ", " : "") + plain(name) + " = ";
      writeValue(part, out);
      return out.text.length > out.limit;
    });
    out.text += value.fields.length === 1 ? ",)" : ")";
  } else if ("tuple" in value) {
    writeList(value.tuple, "(", value.tuple.length === 1 ? ",)" : ")", out);
  } else if ("set" in value) {
    writeList(value.set, "{", "}", out);
  } else if ("map" in value) {
    out.text += "{";
    value.map.some((/** @type {[Value, Value]} */ [key, part], /** @type {number} */ i) => {
      out.text += i > 0 ? ", " : "";
      writeValue(key, out);
      out.text += " -> ";
      writeValue(part, out);
      return out.text.length > out.limit;
    });
    out.text += "}";
  } else {
    const word = value.event ?? value.machine ?? value.enum ?? value.int ?? value.float ?? value.other ?? "";
    out.text += plain(String(word));
  }
}

/** @param {Value[]} parts @param {string} open @param {string} close @param {{text: string, limit: number}} out */
function writeList(parts, open, close, out) {
  out.text += open;
  parts.some((part, i) => {
    out.text += i > 0 ? ", " : "";
    writeValue(part, out);
    return out.text.length > out.limit;
  });
  out.text += close;
}

/** @param {PathStep[]} path */
function pathText(path) {
  return path
    .map((step) => {
      if (step.field !== undefined) return "." + plain(step.field);
      if (step.part !== undefined) return "." + step.part;
      if (step.element !== undefined) return "{" + valueText(step.element, 60) + "}";
      return "[" + valueText(/** @type {Value} */ (step.key), 60) + "]";
    })
    .join("");
}

/** @param {Value} a @param {Value} b @returns {boolean} */
function sameValue(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Whether a variable was assigned the value that it had. @param {any} change */
function isSameAgain(change) {
  return change.kind === "variable" && "before" in change && "after" in change && sameValue(change.before, change.after);
}

/**
 * A value with one change made, sharing all that did not change. A change that does not fit changes nothing.
 * @param {Value} value
 * @param {PathStep[]} path
 * @param {any} change
 * @returns {Value}
 */
function applyChange(value, path, change) {
  if (path.length === 0) {
    if (!("at" in change)) return "after" in change ? change.after : null;
    if (!Array.isArray(value) || change.at + change.removed.length > value.length) return value;
    const end = change.at + change.removed.length;
    return [...value.slice(0, change.at), ...change.inserted, ...value.slice(end)];
  }
  const [first, ...rest] = path;
  if (value === null || typeof value !== "object") return value;
  if (first.field !== undefined && "fields" in value) {
    return {
      fields: value.fields.map((/** @type {[string, Value]} */ [name, part]) =>
        name === first.field ? [name, applyChange(part, rest, change)] : [name, part],
      ),
    };
  }
  if (first.part !== undefined && "tuple" in value) {
    return {
      tuple: value.tuple.map((/** @type {Value} */ part, /** @type {number} */ i) =>
        i === first.part ? applyChange(part, rest, change) : part,
      ),
    };
  }
  const key = /** @type {Value} */ (first.key);
  if (Array.isArray(value) && typeof key === "number") {
    return value.map((part, i) => (i === key ? applyChange(part, rest, change) : part));
  }
  if ("map" in value) {
    /** @type {[Value, Value][]} */
    const entries = value.map;
    const found = entries.findIndex(([k]) => sameValue(k, key));
    if (found >= 0 && rest.length === 0 && !("after" in change) && !("at" in change)) {
      return { map: entries.filter((_, i) => i !== found) };
    }
    if (found >= 0) {
      return { map: entries.map(([k, part], i) => (i === found ? [k, applyChange(part, rest, change)] : [k, part])) };
    }
    return rest.length === 0 && "after" in change ? { map: [...entries, [key, change.after]] } : value;
  }
  if ("set" in value && first.element !== undefined) {
    const changed = /** @type {Value} */ (first.element);
    const others = value.set.filter((/** @type {Value} */ element) => !sameValue(element, changed));
    return { set: "after" in change ? [...others, change.after] : others };
  }
  return value;
}

/**
 * An element. Strings among the children become text nodes; nothing is ever parsed as markup.
 * @param {string} tag
 * @param {{[key: string]: any}} [properties] `on...` are listeners, the rest are attributes; false and undefined are left out
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElement}
 */
function h(tag, properties, ...children) {
  return /** @type {HTMLElement} */ (build(document.createElement(tag), properties, children));
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {{[key: string]: any}} [properties]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {SVGElement}
 */
function s(tag, properties, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return /** @type {SVGElement} */ (build(element, properties, children));
}

/** @param {Element} element @param {{[key: string]: any} | undefined} properties @param {any[]} children */
function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) /** @type {any} */ (element).style.setProperty(k, v);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Texts up to this length stand on one line. */
const SHORT_VALUE = 72;
/** Parts of a large value that are shown at once. */
const PARTS_AT_ONCE = 100;

/**
 * A value to look at: short ones as text, others as a tree that opens.
 * @param {Value} value
 * @returns {HTMLElement}
 */
function valueElement(value) {
  const text = valueText(value, SHORT_VALUE);
  const kind = value === null ? "null" : typeof value === "object" ? Object.keys(value)[0] : typeof value;
  if (text.length <= SHORT_VALUE) return h("span", { class: `value v-${Array.isArray(value) ? "seq" : kind}${text.length < 20 ? " short" : ""}` }, text);
  if (typeof value === "string" || !partsOf(value)) {
    const whole = valueText(value);
    return opening(`${text} (${whole.length.toLocaleString("en")} characters)`, () => [h("pre", { class: "value" }, whole)]);
  }
  return opening(text, () => {
    const parts = /** @type {[string, Value][]} */ (partsOf(value));
    return partRows(parts, 0);
  });
}

/** @param {[string, Value][]} parts @param {number} from @returns {HTMLElement[]} */
function partRows(parts, from) {
  const rows = parts
    .slice(from, from + PARTS_AT_ONCE)
    .map(([name, part]) => h("div", { class: "part" }, h("span", { class: "key" }, name), " ", valueElement(part)));
  const left = parts.length - from - PARTS_AT_ONCE;
  if (left > 0) {
    const more = h("button", { class: "link", onclick: () => more.replaceWith(...partRows(parts, from + PARTS_AT_ONCE)) }, `${left} more`);
    rows.push(more);
  }
  return rows;
}

/** @param {string} title @param {() => Node[]} content */
function opening(title, content) {
  const element = h("details", { class: "value" }, h("summary", {}, title));
  let filled = false;
  element.addEventListener("toggle", () => {
    if (!filled) element.append(...content());
    filled = true;
  });
  return element;
}

/** @param {any} value @returns {[string, Value][] | undefined} */
function partsOf(value) {
  if (Array.isArray(value)) return value.map((part, i) => [`[${i}]`, part]);
  if (value.fields) return value.fields.map((/** @type {[string, Value]} */ [name, part]) => [plain(name) + " =", part]);
  if (value.tuple) return value.tuple.map((/** @type {Value} */ part, /** @type {number} */ i) => ["." + i, part]);
  if (value.set) return value.set.map((/** @type {Value} */ part) => ["•", part]);
  if (value.map) return value.map.map((/** @type {[Value, Value]} */ [key, part]) => [valueText(key, 40) + " →", part]);
  return undefined;
}
