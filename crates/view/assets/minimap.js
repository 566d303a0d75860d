// @ts-check
// The whole run at a glance: who stepped when, the loop, hot monitors, hits of a search, the part in view.

class Minimap {
  /** @param {HTMLCanvasElement} canvas @param {Diagram} diagram */
  constructor(canvas, diagram) {
    this.canvas = canvas;
    this.diagram = diagram;
    /** @type {HTMLCanvasElement} */
    this.picture = document.createElement("canvas");
    const move = (/** @type {PointerEvent} */ event) => {
      const { top, height } = canvas.getBoundingClientRect();
      const { scroller } = diagram.parts;
      const share = (event.clientY - top) / height;
      scroller.scrollTop = share * diagram.rows.length * ROW - scroller.clientHeight / 2;
    };
    canvas.addEventListener("pointerdown", (event) => (canvas.setPointerCapture(event.pointerId), move(event)));
    canvas.addEventListener("pointermove", (event) => event.buttons > 0 && move(event));
    new ResizeObserver(() => this.redraw()).observe(canvas);
  }

  redraw() {
    const { diagram } = this;
    const trace = diagram.trace;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!trace || width === 0 || height === 0) return;
    const scale = window.devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.picture]) [canvas.width, canvas.height] = [width * scale, height * scale];
    const style = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const context = /** @type {CanvasRenderingContext2D} */ (this.picture.getContext("2d"));
    context.scale(scale, scale);
    const n = Math.max(1, diagram.rows.length);
    const tall = Math.min(ROW / 2, height / n);
    const y = (/** @type {number} */ row) => row * tall;
    const x = (/** @type {number} */ column) => 6 + (column * (width - 12)) / Math.max(1, diagram.columns.length - 1);
    if (trace.loopStart >= 0) {
      context.fillStyle = colour("--loop");
      context.fillRect(0, y(diagram.rowOf[trace.loopStart]), width, y(n) - y(diagram.rowOf[trace.loopStart]));
    }
    diagram.columns.forEach((actor, column) => {
      if (trace.actors[actor].kind !== "monitor") return;
      const changes = trace.temperatures[actor];
      changes.forEach(({ at, temperature }, i) => {
        if (!temperature) return;
        context.fillStyle = colour(temperature === "hot" ? "--hot" : "--cold");
        const end = i + 1 < changes.length ? diagram.rowOf[changes[i + 1].at] : n;
        const start = diagram.rowOf[at];
        context.fillRect(x(column) - 3, y(start), 6, Math.max(0.5, y(end) - y(start)));
      });
    });
    const colours = Array.from({ length: N_COLOURS }, (_, i) => colour(`--c${i}`));
    const tick = Math.max(1, Math.min(3, tall - 0.5));
    diagram.rows.forEach((at, row) => {
      const actor = trace.movers[at];
      const column = actor >= 0 ? diagram.columnOf[actor] : -1;
      if (column < 0) return;
      context.globalAlpha = trace.relevant[at] || !trace.violation ? 1 : 0.35;
      context.fillStyle = colours[actor % N_COLOURS];
      context.fillRect(x(column) - 2, y(row), 4, tick);
    });
    context.globalAlpha = 1;
    context.fillStyle = colour("--hit-mark");
    diagram.hits.forEach((at) => context.fillRect(0, y(diagram.rowOf[at]), width, Math.max(1, tick / 2)));
    if (trace.violation) {
      context.fillStyle = colour("--bad");
      context.fillRect(0, Math.max(0, y(n) - Math.max(2, tall)), width, Math.max(2, tall / 2));
    }
    this.tall = tall;
    this.frame();
  }

  /** Draws the frame of what is in view over the picture. */
  frame() {
    const { diagram } = this;
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    if (!diagram.trace || this.canvas.width === 0 || this.picture.width === 0) return;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.picture, 0, 0);
    const scale = window.devicePixelRatio || 1;
    context.scale(scale, scale);
    const tall = this.tall ?? 1;
    const view = diagram.view();
    const style = getComputedStyle(document.documentElement);
    context.strokeStyle = style.getPropertyValue("--accent").trim();
    context.lineWidth = 1.5;
    context.strokeRect(0.75, view.first * tall + 0.75, this.canvas.clientWidth - 1.5, Math.max(4, (view.last - view.first) * tall));
    if (diagram.selected >= 0) {
      context.fillStyle = style.getPropertyValue("--accent").trim();
      context.fillRect(0, diagram.rowOf[diagram.selected] * tall, this.canvas.clientWidth, 2);
    }
  }
}
