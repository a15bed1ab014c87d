// The hooks file of a plugin: the same shape, with a description.
local nested = import 'nested-hooks.jsonnet';

function(ctx) nested(ctx) + {
  description: 'flow-agents: policies and telemetry for coding agents.',
}
