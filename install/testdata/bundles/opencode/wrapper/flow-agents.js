// Code generated for a test. DO NOT EDIT.
import { spawn } from "node:child_process";
export default { id: "flow-agents", server: () => spawn(process.env.HOME + "/.flow-agents/bin/flow-agents-hook", ["opencode"]) };
