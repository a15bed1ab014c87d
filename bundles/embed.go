// Package bundles carries the generated bundles inside flow-agents, so that
// init works offline. Everything else in this folder is written by
// build-bundles.
package bundles

import "embed"

// FS holds what an installer needs of each bundle: <host>/bundle.json and the
// files that it names.
//
//go:embed */bundle.json all:*/config all:*/wrapper
var FS embed.FS
