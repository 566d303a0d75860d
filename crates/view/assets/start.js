// @ts-check
// Shows the trace that is written into the page.

const app = new App();
try {
  const trace = Trace.embedded();
  if (trace === undefined) throw new Error("there is no trace in this page");
  app.setTrace(trace);
} catch (error) {
  // A file that somebody made by hand, or that was damaged on its way.
  app.get("message").textContent = `This trace cannot be shown: ${error instanceof Error ? error.message : error}`;
}
// For tests, and for those who look at a trace by script.
Object.assign(window, { allways: app });
