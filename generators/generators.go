// Package generators is the pipeline from the CUE description to files. Data
// flows one way: load (CUE to typed model), the emitters (model to files in
// memory), fileset (write, compare, pack), release (compile and lay out).
package generators

import (
	"fmt"
	"io/fs"
	"sync"

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
// there, and raises what acceptance has seen to observed; what it has seen of a
// row that has changed since is a note. recordings are the
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
	d.Notes = append(d.Notes, d.Unfinished()...)
	for _, s := range observe.Apply(d.Catalog, seen) {
		d.Notes = append(d.Notes, d.At("hosts."+s.Host+".surfaces."+s.Surface+".events."+s.Event,
			fmt.Sprintf("changed since acceptance saw it on %s, %s: its own claim counts until it is seen again", s.Run.Version, s.Run.On),
			"run make acceptance-record HOST="+s.Host))
	}
	d.Notes.Sort()
	return d, nil
}

// Text renders everything that belongs under bundles/: one folder for each
// host, and the pages and schemas that speak of all of them. tree holds the
// templates below templates/.
func Text(d *load.Description, tree fs.FS) (fileset.Set, error) {
	c := d.Catalog
	jobs := []func() (fileset.Set, error){
		func() (fileset.Set, error) { return jsonschema.Emit(d.Schema) },
		func() (fileset.Set, error) { return docs.Emit(c, tree) },
	}
	for _, h := range c.Hosts {
		jobs = append(jobs, func() (fileset.Set, error) {
			set, err := Host(c, h, tree)
			return set.Under(h.ID), err
		})
	}
	sets, errs := make([]fileset.Set, len(jobs)), make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { sets[i], errs[i] = job() })
	}
	wg.Wait()
	var out fileset.Set
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		out = append(out, sets[i]...)
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
