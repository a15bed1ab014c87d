// An agent with hooks: event -> flat handlers. A nested entry, as other hosts
// have it, would make the host drop the whole agent without a word.
function(ctx) {
  name: 'flow-agents',
  tools: ['*'],
  hooks: {
    [e.native]: [
      {
        command: e.command,
        [ctx.timeoutKey]: e.timeout,
        [if m != null then 'matcher']: m,
      }
      for m in e.matchers
    ]
    for e in ctx.events
  },
}
