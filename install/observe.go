package install

import (
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// observeKey lists, in the user's settings, the projects whose policies record
// and never block. It is not in the project's settings, because those may only
// tighten what the user has set.
const observeKey = "observe"

// setMode plans the entry of the project in the user's settings: there in
// observe mode, gone in enforce mode.
func (p *planner) setMode(mode string) error {
	if mode == "" || p.req.Root == "" {
		return nil
	}
	root, err := filepath.EvalSymlinks(p.req.Root)
	if err != nil {
		return err
	}
	path := filepath.Join(p.in.Machine, "settings.json")
	old, err := read(path)
	if err != nil {
		return err
	}
	if old == nil && mode == Enforce {
		return nil
	}
	doc, err := jsonedit.Parse(p.in.show("", path), old, jsonedit.JSON)
	if err != nil {
		return err
	}
	if err := editObserve(doc, root, mode == Observe); err != nil {
		return err
	}
	c := Change{Action: Update, rank: rankSettings, target: path, before: old, after: doc.Bytes(), perm: 0o600}
	if old == nil {
		c.Action = Create
	}
	p.add(c)
	return nil
}

func editObserve(doc *jsonedit.Doc, root string, on bool) error {
	if err := doc.Unique(nil, observeKey); err != nil {
		return err
	}
	if k := doc.Kind(observeKey); k != 0 && k != '[' {
		return doc.Errorf(jsonedit.Path{observeKey}, "is not an array of project paths; correct or remove it")
	}
	for i := doc.Len(observeKey) - 1; i >= 0; i-- {
		if doc.Decoded(observeKey, i) != root {
			continue
		}
		if on {
			return nil
		}
		if err := doc.Delete(jsonedit.Path{observeKey, i}); err != nil {
			return err
		}
	}
	if !on {
		return nil
	}
	if len(doc.Keys()) == 0 {
		if err := doc.Put(nil, "schema_version", hujson.Value{Value: hujson.Int(1)}); err != nil {
			return err
		}
	}
	if !doc.Has(observeKey) {
		if err := doc.Put(nil, observeKey, hujson.Value{Value: &hujson.Array{}}); err != nil {
			return err
		}
	}
	return doc.Append(jsonedit.Path{observeKey}, hujson.Value{Value: hujson.String(root)})
}

// Mode is the mode of a project: Observe or Enforce.
func (in *Installer) Mode(root string) string {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return Enforce
	}
	data, err := read(filepath.Join(in.Machine, "settings.json"))
	if err != nil || data == nil {
		return Enforce
	}
	doc, err := jsonedit.Parse("settings.json", data, jsonedit.JSONC)
	if err != nil {
		return Enforce
	}
	for i := range doc.Len(observeKey) {
		if doc.Decoded(observeKey, i) == real {
			return Observe
		}
	}
	return Enforce
}
