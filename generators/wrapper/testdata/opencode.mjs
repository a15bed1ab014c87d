// Runs an opencode plugin without opencode: imports the file named first, calls
// its hooks as the steps on standard input say, and prints what came of it.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { steps, directory, parents = {}, copies = 1 } = JSON.parse(readFileSync(0, "utf8"));
const exported = await import(pathToFileURL(process.argv[2]));
const prompts = [];
const client = {
  session: {
    get: async ({ path }) => ({ data: { id: path.id, parentID: parents[path.id] } }),
    promptAsync: async (request) => void prompts.push(request),
  },
};
// Every copy gets the same objects, one after the other, until one throws.
const loaded = [];
for (let i = 0; i < copies; i++) {
  const copy = await import(pathToFileURL(process.argv[2]) + "?copy=" + i);
  loaded.push(await copy.default.server({ client, directory, worktree: directory }));
}
const results = [];
for (const { hook, input, output } of steps) {
  const result = { output };
  try {
    for (const hooks of loaded) {
      if (hook === "dispose") await hooks.dispose();
      else if (hook.startsWith("event:")) await hooks.event({ event: structuredClone(input) });
      else await hooks[hook](input, output);
    }
  } catch (error) {
    result.threw = String(error.message);
  }
  results.push(result);
}
// What opencode 1 passes has no tool hooks; opencode 2 does.
exported.default.setup({ options: {}, agent: {} });
const registered = [];
exported.default.setup({ tool: { hook: (name, handler) => registered.push([name, handler]) } });
let second = "";
for (const [, handler] of registered) {
  try {
    handler({ tool: "write", input: { filePath: "v2.txt" }, sessionID: "ses_2" });
  } catch (error) {
    second = String(error.message);
  }
}
console.log(JSON.stringify({ exports: Object.keys(exported), id: exported.default.id, results, prompts, second }));
