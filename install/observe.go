package install

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// observeKey lists, in the user's settings, the projects whose policies record
// and never block. It is not in the project's settings, because those may only
// tighten what the user has set.
const observeKey = "observe"

// settings is the user's settings file.
func (in *Installer) settings() string { return filepath.Join(in.Machine, "settings.json") }

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
	path := p.in.settings()
	old, err := read(path)
	if err != nil {
		return err
	}
	if old == nil && mode == Enforce {
		return nil
	}
	doc, err := jsonedit.Parse(p.in.show("", path), old, jsonedit.JSON)
	if err != nil {
		var at *jsonedit.Error
		if errors.As(err, &at) {
			// It is our own file, which no host reads.
			at.Msg = strings.Replace(at.Msg, "the host already ignores", "flow-agents-hook ignores", 1)
			at.Msg = strings.Replace(at.Msg, "a host may drop", "flow-agents-hook drops", 1)
		}
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
		if doc.Len(observeKey) == 0 {
			return doc.Delete(jsonedit.Path{observeKey})
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
