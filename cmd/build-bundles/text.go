package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/flow-agents/flow-agents/generators"
	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/load"
)

// text renders everything below bundles/, with the findings already told.
func text(d *load.Description, tree fs.FS) (fileset.Set, error) {
	if err := templates(d, tree); err != nil {
		return nil, report(err)
	}
	set, err := generators.Text(d, tree)
	if err != nil {
		return nil, report(refusal(d, d.Explain(err)))
	}
	return set, nil
}

// templates checks that the template of each file exists. The error is a
// load.Findings.
func templates(d *load.Description, tree fs.FS) error {
	var out load.Findings
	for _, h := range d.Catalog.Hosts {
		for _, id := range slices.Sorted(maps.Keys(h.Files)) {
			f := h.Files[id]
			have, err := kinds(tree, f.Kind)
			if err != nil {
				return err
			}
			if slices.Contains(have, f.Template) {
				continue
			}
			hint := "there are " + strings.Join(have, ", ")
			if near := load.Nearest(have, f.Template); near != "" {
				hint = "did you mean " + near + "?"
			}
			out = append(out, d.At("hosts."+h.ID+".files."+id+".template", fmt.Sprintf("no template %s for a file of kind %s", f.Template, f.Kind), hint))
		}
	}
	if out == nil {
		return nil
	}
	out.Sort()
	return out
}

// kinds lists the templates for one kind of file, as a manifest names them.
func kinds(tree fs.FS, kind string) ([]string, error) {
	if kind == "source" {
		have, err := fs.Glob(tree, "templates/source/*.tmpl")
		for i := range have {
			have[i] = strings.TrimPrefix(have[i], "templates/")
		}
		return have, err
	}
	have, err := fs.Glob(tree, "templates/config/*.jsonnet")
	for i := range have {
		have[i] = path.Base(have[i])
	}
	return have, err
}

// What a config is refused for, and the field of accepts that refuses it.
var (
	unknownTop     = regexp.MustCompile(`^top-level key "([^"]+)": .* accepts only `)
	unknownHandler = regexp.MustCompile(`\.([A-Za-z_]+): (.*) accepts only `)
	unreadMatcher  = regexp.MustCompile(`does not read a matcher at (\S+)$`)
	otherShape     = regexp.MustCompile(`^hooks[^ ]*: an array of|\.hooks: .* accepts only |^no hooks: |: a group has matcher and hooks$`)
)

// refusal points a finding about what a host accepts at the field that refuses
// it, and says what to put there if the host takes it after all.
func refusal(d *load.Description, err error) error {
	var fs load.Findings
	if !errors.As(err, &fs) {
		return err
	}
	for i, f := range fs {
		if !strings.HasSuffix(f.Path, ".accepts") || f.Hint != "" {
			continue
		}
		switch {
		case otherShape.MatchString(f.Text):
			fs[i] = d.At(f.Path+".shape", f.Text, "the template writes another shape: nested is event, groups, hooks; flat is event, hooks; list is one array of hooks")
		case unknownTop.MatchString(f.Text):
			fs[i] = d.At(f.Path+".top", f.Text, fmt.Sprintf("the template writes it: if the host takes it, add %q to top, else use another template", unknownTop.FindStringSubmatch(f.Text)[1]))
		case unreadMatcher.MatchString(f.Text):
			fs[i] = d.At(f.Path+".matchable", f.Text, fmt.Sprintf("if the host reads it, add %q to matchable, else leave match out of the mapping", unreadMatcher.FindStringSubmatch(f.Text)[1]))
		case unknownHandler.MatchString(f.Text):
			fs[i] = d.At(f.Path+".handler", f.Text, fmt.Sprintf("the template writes it: if the host takes it, add %q to handler, else use another template", unknownHandler.FindStringSubmatch(f.Text)[1]))
		}
	}
	return fs
}
