// Package generators is the pipeline from the CUE description to files. Data
// flows one way: load (CUE to typed model), the emitters (model to files in
// memory), fileset (write, compare, pack), release (compile and lay out).
package generators

import (
	"io/fs"

	"github.com/flow-agents/flow-agents/conformance/observed"
	"github.com/flow-agents/flow-agents/generators/bundle"
	"github.com/flow-agents/flow-agents/generators/config"
	"github.com/flow-agents/flow-agents/generators/declaration"
	"github.com/flow-agents/flow-agents/generators/descriptor"
	"github.com/flow-agents/flow-agents/generators/docs"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/fixtures"
	"github.com/flow-agents/flow-agents/generators/installer"
	"github.com/flow-agents/flow-agents/generators/jsonschema"
	"github.com/flow-agents/flow-agents/generators/load"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/observe"
	"github.com/flow-agents/flow-agents/generators/wrapper"
)

// Load reads the description, checks that every recording that it rests on is
// there, and raises what acceptance has seen to observed. recordings are the
// folders that may hold <host>/<file>; none: nothing is checked.
func Load(tree fs.FS, o load.Options, recordings ...fs.FS) (*load.Description, error) {
	d, err := load.Load(tree, o)
	if err != nil {
		return nil, err
	}
	if len(recordings) > 0 {
		if err := d.Recorded(recordings); err != nil {
			return nil, err
		}
	}
	seen, err := observed.Load(observed.Committed())
	if err != nil {
		return nil, err
	}
	observe.Apply(d.Catalog, seen)
	return d, nil
}

// Text renders everything that belongs under bundles/: one folder for each
// host, and the pages and schemas that speak of all of them. tree holds the
// templates below templates/.
func Text(d *load.Description, tree fs.FS) (fileset.Set, error) {
	c := d.Catalog
	var out fileset.Set
	add := func(set fileset.Set, err error) error {
		out = append(out, set...)
		return err
	}
	for _, h := range c.Hosts {
		set, err := Host(c, h, tree)
		if err != nil {
			return nil, err
		}
		out = append(out, set.Under(h.ID)...)
	}
	if err := add(docs.Emit(c, tree)); err != nil {
		return nil, err
	}
	if err := add(jsonschema.Emit(d.Schema)); err != nil {
		return nil, err
	}
	return out.Sorted()
}

// Host renders the bundle of one host.
func Host(c *model.Catalog, h model.Host, tree fs.FS) (fileset.Set, error) {
	var out fileset.Set
	for _, emit := range []func() (fileset.Set, error){
		func() (fileset.Set, error) { return bundle.Emit(c, h) },
		func() (fileset.Set, error) { return config.Emit(c, h, tree) },
		func() (fileset.Set, error) { return wrapper.Emit(c, h, tree) },
		func() (fileset.Set, error) { return declaration.Emit(c, h) },
		func() (fileset.Set, error) { return fixtures.Emit(c, h) },
		func() (fileset.Set, error) { return installer.Emit(h, tree) },
		func() (fileset.Set, error) { return descriptor.Emit(c) },
		func() (fileset.Set, error) { return docs.EmitHost(c, h, tree) },
	} {
		set, err := emit()
		if err != nil {
			return nil, err
		}
		out = append(out, set...)
	}
	return out, nil
}
