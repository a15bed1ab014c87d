// Hooks as event -> matcher groups -> handlers.
local handler(ctx, e) = {
  type: 'command',
  command: e.command,
  [if e.args != null then 'args']: e.args,
  [if e.commandWindows != null then 'commandWindows']: e.commandWindows,
  [ctx.timeoutKey]: e.timeout,
};

function(ctx) {
  hooks: {
    [e.native]: [
      {
        [if m != null then 'matcher']: m,
        hooks: [handler(ctx, e)],
      }
      for m in e.matchers
    ]
    for e in ctx.events
  },
}
