// Package load turns the CUE description into the typed model, or into errors
// that name the author's own line.
//
// Validation has two stages. The first holds each manifest against the schema.
// The second, schema/declare, computes what follows from all of them (levels,
// cross-checks) and runs only when the first is clean, so that one mistake is
// reported once.
package load

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	cueload "cuelang.org/go/cue/load"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/flow-agents/flow-agents/generators/model"
)

// A Manifest is a file that isn't part of the tree being loaded: a host from
// elsewhere, or a changed copy of a shipped one. It replaces every file of the
// tree that defines one of the same hosts.
type Manifest struct {
	// Name is how errors call the file.
	Name string
	Data []byte
}

// Options says what to load beside the tree.
type Options struct {
	// Show names a file of the tree in errors; nil leaves the path as it is.
	Show func(path string) string
	// Extra manifests join the tree's own.
	Extra []Manifest
	// Alone: only the extra manifests' hosts are loaded.
	Alone bool
}

// A Description is the evaluated CUE: the typed catalog, and the schema itself
// for exporters.
type Description struct {
	Catalog *model.Catalog
	Schema  cue.Value
	// Notes are what an author should know and may leave as it is.
	Notes Findings

	ex explainer
}

// root is where the tree appears to CUE, which wants absolute names.
func root() string {
	if runtime.GOOS == "windows" {
		return `C:\flow-agents`
	}
	return "/flow-agents"
}

// Load reads cue.mod, schema and manifests below fsys. The error is a Findings
// if it is the manifests that are wrong.
func Load(fsys fs.FS, o Options) (*Description, error) {
	t, err := readTree(fsys, o)
	if err != nil {
		return nil, err
	}
	d, err := evaluate(t)
	if _, ok := err.(Findings); ok {
		return nil, t.all()
	}
	return d, err
}

// all collects the mistakes of a tree in rounds. CUE reports an unknown field
// only where nothing else is wrong, so what a round finds is replaced by
// something that fits, at unchanged offsets, before the next.
func (t *tree) all() Findings {
	var found Findings
	var mended []string // paths about which everything is said
	for round := range maxRounds {
		_, err := evaluate(t)
		fs, ok := err.(Findings)
		if !ok || fs.stage() > found.stage() && found != nil {
			break
		}
		if values := slices.DeleteFunc(slices.Clone(fs), Finding.unknownField); len(values) > 0 {
			fs = values
		}
		news := 0
		for _, f := range fs {
			if round > 0 && f.consequence(mended) {
				continue
			}
			mended = append(mended, f.mends...)
			found = append(found, f)
			news++
			t.mend(f)
		}
		if news == 0 {
			break
		}
	}
	found.Sort()
	return found
}

// maxRounds bounds the work on a manifest that is wrong all over.
const maxRounds = 12

// mend takes a mistake out of the source: a wrong value becomes _, a field
// that must not be there an empty struct, which fits everywhere.
func (t *tree) mend(f Finding) {
	if f.node == nil {
		return
	}
	n, with := ast.Node(f.node.Value), "_"
	if f.unknownField() {
		n, with = f.node, "{}"
	}
	from, to := n.Pos().Position(), n.End().Position()
	src, ok := t.source[from.Filename]
	if !ok || to.Offset > len(src) || to.Offset-from.Offset < len(with) {
		return
	}
	src = slices.Clone(src)
	for i := from.Offset; i < to.Offset; i++ {
		if src[i] != '\n' {
			src[i] = ' '
		}
	}
	copy(src[from.Offset:], with)
	t.source[from.Filename] = src
	t.overlay[from.Filename] = cueload.FromBytes(src)
}

func evaluate(t *tree) (*Description, error) {
	ctx := cuecontext.New()
	insts := cueload.Instances([]string{"./schema", "./manifests", "./schema/declare"}, &cueload.Config{
		Dir:     root(),
		Overlay: t.overlay,
		Env:     []string{"CUE_REGISTRY=none"}, // never reach for a registry
	})
	schema, manifests, declare := insts[0], insts[1], insts[2]
	ex := explainer{tree: t, author: manifests, schema: ctx.BuildInstance(schema)}
	vals := make([]cue.Value, len(insts))
	for i, in := range insts {
		if in.Err != nil {
			return nil, ex.explain(in.Err, cue.Value{})
		}
		vals[i] = ctx.BuildInstance(in)
		if in == declare {
			break // evaluated below, once the manifests are known to be sound
		}
		e := ex
		if in == schema {
			e.author = schema
		}
		opts := []cue.Option{cue.All(), cue.DisallowCycles(true), cue.Concrete(in == manifests)}
		if err := vals[i].Validate(opts...); err != nil {
			return nil, e.explain(err, vals[i])
		}
	}
	d := vals[2]
	for _, p := range []string{"checks", "declarations"} {
		if err := d.LookupPath(cue.ParsePath(p)).Validate(cue.All(), cue.Concrete(true)); err != nil {
			fs := ex.explain(err, vals[1])
			for i := range fs {
				fs[i].stageTwo = true
			}
			return nil, fs
		}
	}
	cat, err := decode(vals[0], vals[1], d)
	if err != nil {
		return nil, err
	}
	return &Description{Catalog: cat, Schema: vals[0], ex: ex}, nil
}

// tree is the set of CUE files in the form that CUE's loader takes, and the
// names to show for them.
type tree struct {
	overlay map[string]cueload.Source
	source  map[string][]byte
	shown   map[string]string
}

func readTree(fsys fs.FS, o Options) (*tree, error) {
	t := &tree{overlay: map[string]cueload.Source{}, source: map[string][]byte{}, shown: map[string]string{}}
	replaced := map[string]bool{}
	defined := map[string]string{} // host id -> where
	define := func(id hostID, at string) error {
		if was, ok := defined[id.name]; ok {
			return Findings{{Pos: at, Path: "hosts." + id.name, Text: "this host is described already, at " + was}}
		}
		defined[id.name] = at
		return nil
	}
	for _, m := range o.Extra {
		f, err := parser.ParseFile(m.Name, m.Data)
		if err != nil {
			return nil, syntax(err)
		}
		ids, err := manifestHosts(f, m.Name)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if err := define(id, place(m.Name, id.Pos())); err != nil {
				return nil, err
			}
			replaced[id.name] = true
		}
	}
	for _, dir := range []string{"cue.mod", "schema", "manifests"} {
		err := fs.WalkDir(fsys, dir, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || path.Ext(p) != ".cue" {
				return err
			}
			data, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			name := p
			if o.Show != nil {
				name = o.Show(p)
			}
			if dir == "manifests" {
				f, err := parser.ParseFile(name, data)
				if err != nil {
					return syntax(err)
				}
				ids := hostIDs(f)
				if len(ids) > 0 && (o.Alone || slices.ContainsFunc(ids, func(id hostID) bool { return replaced[id.name] })) {
					return nil
				}
				for _, id := range ids {
					if err := define(id, place(name, id.Pos())); err != nil {
						return err
					}
				}
			}
			t.add(filepath.FromSlash(p), name, data)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i, m := range o.Extra {
		t.add(filepath.Join("manifests", fmt.Sprintf("extra%d_%s", i, filepath.Base(m.Name))), m.Name, m.Data)
	}
	return t, nil
}

func (t *tree) add(p, shown string, data []byte) {
	abs := filepath.Join(root(), p)
	t.overlay[abs] = cueload.FromBytes(data)
	t.source[abs] = data
	t.shown[abs] = shown
}

func (t *tree) name(abs string) string {
	if s, ok := t.shown[abs]; ok {
		return s
	}
	return abs
}

// manifestHosts lists the hosts of a manifest that came from elsewhere, and
// refuses a file that could not be one: CUE would accept it and check nothing.
func manifestHosts(f *ast.File, name string) ([]hostID, error) {
	for _, d := range f.Decls {
		p, ok := d.(*ast.Package)
		if !ok {
			continue
		}
		if p.Name.Name != "manifests" {
			return nil, Findings{{Pos: place(name, p.Pos()), Text: "the package of a manifest is manifests, not " + p.Name.Name}}
		}
		if ids := hostIDs(f); len(ids) > 0 {
			return ids, nil
		}
		none := Finding{Pos: place(name, p.Pos()), Text: "no host in this file; a manifest says hosts: ID: schema.#Host & {...}"}
		for _, d := range f.Decls {
			if fld, ok := d.(*ast.Field); ok {
				none.Pos = place(name, fld.Pos())
				none.Path, _, _ = ast.LabelName(fld.Label)
				break
			}
		}
		return nil, Findings{none}
	}
	return nil, Findings{{Pos: name + ":1:1", Text: "a manifest starts with `package manifests`"}}
}

func place(name string, p token.Pos) string {
	return fmt.Sprintf("%s:%d:%d", name, p.Line(), p.Column())
}

// A hostID is where a manifest names a host.
type hostID struct {
	*ast.Field
	name string
}

// hostIDs lists the hosts that a manifest defines: hosts: ID: ....
func hostIDs(f *ast.File) []hostID {
	var ids []hostID
	for _, d := range f.Decls {
		fld, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		if name, _, _ := ast.LabelName(fld.Label); name != "hosts" {
			continue
		}
		for _, s := range structs(fld.Value) {
			for _, e := range s.Elts {
				if sub, ok := e.(*ast.Field); ok {
					if id, _, err := ast.LabelName(sub.Label); err == nil {
						ids = append(ids, hostID{sub, id})
					}
				}
			}
		}
	}
	return ids
}

// syntax reports what the parser could not read; it knows the place itself.
func syntax(err error) error {
	var out Findings
	for _, e := range cueerrors.Errors(err) {
		f := Finding{Text: e.Error()}
		if p := e.Position(); p.IsValid() {
			f.at = p.Position()
			f.Pos = place(f.at.Filename, p)
		}
		format, args := e.Msg()
		f.Text = strings.TrimSpace(fmt.Sprintf(format, args...))
		if f.Text == "illegal byte order mark" {
			f.Hint = "save the file as UTF-8 without a byte order mark"
		}
		out = append(out, f)
	}
	return out
}
