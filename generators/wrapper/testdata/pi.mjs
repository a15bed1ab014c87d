// Runs a pi extension without pi: imports the file named first, sends the
// events on standard input to its handlers, and prints what they returned.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { steps, directory, refuse = [], copies = 1 } = JSON.parse(readFileSync(0, "utf8"));
const exported = await import(pathToFileURL(process.argv[2]));
const handlers = {};
const messages = [];
for (let i = 0; i < copies; i++) {
  const copy = await import(pathToFileURL(process.argv[2]) + "?copy=" + i);
  copy.default({
    on(name, handler) {
      if (refuse.includes(name)) throw new Error("no event " + name);
      (handlers[name] ??= []).push(handler);
    },
    sendUserMessage: (text, options) => void messages.push({ text, options }),
  });
}
const sessionManager = { getSessionId: () => "pi-session", getSessionFile: () => directory + "/session.jsonl" };
const ctx = { cwd: directory, sessionManager, model: { id: "mock-1" }, hasUI: false };
const results = [];
for (const { event, input, bare } of steps) {
  const result = {};
  const shared = { type: event, ...input };
  for (const handler of handlers[event] ?? []) {
    try {
      // pi shares the object of some events between extensions and not that of others.
      const own = event === "session_start" ? shared : { ...shared };
      result.returned = (await handler(own, bare ? undefined : ctx)) ?? result.returned ?? null;
    } catch (error) {
      result.threw = String(error.message);
    }
  }
  results.push(result);
}
console.log(JSON.stringify({ exports: Object.keys(exported), events: Object.keys(handlers), results, messages }));
