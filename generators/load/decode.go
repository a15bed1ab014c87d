package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"

	"cuelang.org/go/cue"

	"github.com/flow-agents/flow-agents/generators/model"
)

// decode fills the model from the three evaluated packages.
func decode(schema, manifests, declare cue.Value) (*model.Catalog, error) {
	var c model.Catalog
	var err error
	if c.Events, err = ordered[model.Event](schema, "events"); err != nil {
		return nil, err
	}
	if c.Policies, err = ordered[model.Policy](schema, "policies"); err != nil {
		return nil, err
	}
	if c.Channels, err = ordered[model.Channel](schema, "channels"); err != nil {
		return nil, err
	}
	if err := at(schema, "protection", &c.Protection); err != nil {
		return nil, err
	}
	if err := at(schema, "engineEnv", &c.EngineEnv); err != nil {
		return nil, err
	}
	if err := at(declare, "backstopBudgetMs", &c.BackstopBudgetMs); err != nil {
		return nil, err
	}
	if c.Forms, err = forms(schema); err != nil {
		return nil, err
	}
	hosts := map[string]model.Host{}
	if err := at(manifests, "hosts", &hosts); err != nil {
		return nil, err
	}
	declared := map[string]model.Declaration{}
	if err := at(declare, "declarations", &declared); err != nil {
		return nil, err
	}
	for id, h := range hosts {
		h.Declaration = declared[id]
		c.Hosts = append(c.Hosts, h)
	}
	sort.Slice(c.Hosts, func(i, j int) bool { return c.Hosts[i].ID < c.Hosts[j].ID })
	return &c, nil
}

func at(v cue.Value, p string, into any) error {
	if err := v.LookupPath(cue.ParsePath(p)).Decode(into); err != nil {
		return fmt.Errorf("decode %s: %w", p, err)
	}
	return nil
}

// ordered decodes the fields of a struct in source order.
func ordered[T any](v cue.Value, p string) ([]T, error) {
	it, err := v.LookupPath(cue.ParsePath(p)).Fields()
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", p, err)
	}
	var out []T
	for it.Next() {
		var x T
		if err := it.Value().Decode(&x); err != nil {
			return nil, fmt.Errorf("decode %s.%s: %w", p, it.Selector(), err)
		}
		out = append(out, x)
	}
	return out, nil
}

// forms keeps the answers' JSON as text, because its key order is the one that
// hosts were seen to accept and that recordings show.
func forms(schema cue.Value) (map[string]map[string]map[string]model.Form, error) {
	out := map[string]map[string]map[string]model.Form{}
	return out, each(schema.LookupPath(cue.ParsePath("forms")), func(style string, v cue.Value) error {
		out[style] = map[string]map[string]model.Form{}
		return each(v, func(says string, v cue.Value) error {
			out[style][says] = map[string]model.Form{}
			return each(v, func(channel string, v cue.Value) error {
				var f model.Form
				exit, err := v.LookupPath(cue.ParsePath("exit")).Int64()
				if err != nil {
					return err
				}
				f.Exit = int(exit)
				if f.Stdout, err = template(v, "stdout"); err != nil {
					return err
				}
				if f.Stderr, err = template(v, "stderr"); err != nil {
					return err
				}
				out[style][says][channel] = f
				return nil
			})
		})
	})
}

func each(v cue.Value, do func(string, cue.Value) error) error {
	it, err := v.Fields()
	if err != nil {
		return err
	}
	for it.Next() {
		if err := do(it.Selector().Unquoted(), it.Value()); err != nil {
			return fmt.Errorf("%s: %w", it.Selector(), err)
		}
	}
	return nil
}

func template(v cue.Value, field string) (model.Template, error) {
	x := v.LookupPath(cue.ParsePath(field))
	if !x.Exists() {
		return model.Template{}, nil
	}
	if s, err := x.String(); err == nil {
		return model.Template{Text: s}, nil
	}
	b, err := x.MarshalJSON()
	if err != nil {
		return model.Template{}, err
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, b); err != nil {
		return model.Template{}, err
	}
	return model.Template{JSON: true, Text: buf.String()}, nil
}
