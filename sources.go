// Package flowagents carries the project's own sources: the CUE description of
// events, policies and hosts, and the templates of what is generated from it.
// They are embedded, so that build-bundles can validate and render outside a
// checkout; inside one it reads the files themselves.
package flowagents

import "embed"

// Sources holds cue.mod, schema, manifests and templates, at those names.
//
//go:embed cue.mod/module.cue schema manifests templates
var Sources embed.FS
