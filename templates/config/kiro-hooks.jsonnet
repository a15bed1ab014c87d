// A hook file: one list of hooks, each with its trigger.
function(ctx) {
  version: 'v1',
  hooks: [
    {
      name: 'flow-agents ' + e.native,
      trigger: e.native,
      [if m != null then 'matcher']: m,
      action: { type: 'command', command: e.command },
      [ctx.timeoutKey]: e.timeout,
    }
    for e in ctx.events
    for m in e.matchers
  ],
}
