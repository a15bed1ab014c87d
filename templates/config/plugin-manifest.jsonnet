// A plugin's description of itself. It names no hooks file: the host loads the
// one at its default place, and naming that again is an error.
function(ctx) {
  name: 'flow-agents',
  description: 'flow-agents: policies and telemetry for coding agents. Needs flow-agents-hook in ~/.flow-agents/bin.',
}
