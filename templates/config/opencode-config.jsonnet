// For setups that switch the plugin folder off: name the file yourself. The
// marker stands for the absolute path of the project.
function(ctx) {
  plugin: ['file://__PROJECT__/.opencode/plugins/flow-agents.js'],
}
