// An example that nothing installs or fills in: the marker stands for the
// absolute path of the folder that holds the plugin file.
function(ctx) {
  plugin: ['file://__PROJECT__/flow-agents.js'],
}
