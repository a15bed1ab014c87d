// Package config emits the host's own hook configuration: data files whose
// shape is a jsonnet template and whose facts are the model's. What a template
// renders is held against what the host accepts before it becomes a file, so a
// config that the host would ignore can't be built.
package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/google/go-jsonnet"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
	"github.com/flow-agents/flow-agents/generators/tables"
)

// Marks in a generated config that the installer replaces by the absolute path
// of the hook binary: as it is, or quoted for a POSIX shell.
const (
	Placeholder      = "__FLOW_AGENTS_HOOK__"
	ShellPlaceholder = "__FLOW_AGENTS_HOOK_SH__"
)

// A hook is one registration, as templates see it.
type hook struct {
	Native  string `json:"native"`
	Command string `json:"command"`
	// Args is null where the command is one line for a shell.
	Args           []string `json:"args"`
	CommandWindows *string  `json:"commandWindows"`
	Timeout        int      `json:"timeout"`
	// Matchers has one element for each entry to write; null: no matcher.
	Matchers []*string `json:"matchers"`
}

// context is the only input of a template.
type context struct {
	Host       string `json:"host"`
	Title      string `json:"title"`
	TimeoutKey string `json:"timeoutKey"`
	Events     []hook `json:"events"`
}

// Source is the path inside the bundle of a file for one scope. Config files
// stand below config/<scope>/ as they will stand below the project or the
// host's home.
func Source(f model.File, scope string) string {
	dest := map[string]string{"project": f.Dest.Project, "local": f.Dest.Local, "user": f.Dest.User}[scope]
	switch {
	case f.Kind == "source":
		return "wrapper/" + path.Base(dest)
	case !f.Install:
		return dest
	}
	return "config/" + scope + "/" + dest
}

// Scopes lists the scopes that a file can be installed in, in fixed order.
func Scopes(f model.File) []string {
	var out []string
	for _, s := range []struct{ scope, dest string }{{"project", f.Dest.Project}, {"local", f.Dest.Local}, {"user", f.Dest.User}} {
		if s.dest != "" {
			out = append(out, s.scope)
		}
	}
	return out
}

// An Error is about one file of a host. At is what it is about: the file's key
// in the manifest, and the field in it where that is known.
type Error struct {
	Host, At string
	Err      error
}

func (e *Error) Error() string { return "hosts." + e.Host + ".files." + e.At + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Where names the host and what the error is about.
func (e *Error) Where() (host, at string) { return e.Host, e.At }

// A fieldError is about one field of a file.
type fieldError struct {
	field string
	error
}

// Emit renders every config file of a host. tree holds
// templates/config/*.jsonnet.
func Emit(c *model.Catalog, h model.Host, tree fs.FS) (fileset.Set, error) {
	var out fileset.Set
	for _, id := range slices.Sorted(maps.Keys(h.Files)) {
		f := h.Files[id]
		if f.Kind != "config" {
			continue
		}
		for _, scope := range Scopes(f) {
			data, err := render(c, h, f, scope, tree)
			if err != nil {
				var f fieldError
				if errors.As(err, &f) {
					return nil, &Error{h.ID, id + "." + f.field, f.error}
				}
				return nil, &Error{h.ID, id, err}
			}
			out.Add(Source(f, scope), data)
		}
	}
	return out, nil
}

func render(c *model.Catalog, h model.Host, f model.File, scope string, tree fs.FS) ([]byte, error) {
	if _, err := fs.Stat(tree, "templates/config/"+f.Template); err != nil {
		have, _ := fs.Glob(tree, "templates/config/*.jsonnet")
		for i := range have {
			have[i] = path.Base(have[i])
		}
		return nil, fieldError{"template", fmt.Errorf("no template %s; there are %s", f.Template, strings.Join(have, ", "))}
	}
	hooks, err := Hooks(c, h, f, scope)
	if err != nil {
		return nil, err
	}
	ctx, err := json.Marshal(context{Host: h.ID, Title: h.Title, TimeoutKey: Unit(h, f).Key, Events: hooks})
	if err != nil {
		return nil, err
	}
	vm := jsonnet.MakeVM()
	vm.Importer(&importer{fsys: tree, cache: map[string]jsonnet.Contents{}})
	vm.TLACode("ctx", string(ctx))
	text, err := vm.EvaluateFile("templates/config/" + f.Template)
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	if err := accept(h, f, []byte(text)); err != nil {
		return nil, fieldError{"accepts", err}
	}
	var doc any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	return marshal(doc)
}

// marshal writes JSON the way people do: two spaces, no HTML escapes, a final
// newline.
func marshal(doc any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// Unit is how timeouts are written in one file of a host.
func Unit(h model.Host, f model.File) model.TimeoutUnit {
	if f.Timeout != nil {
		return *f.Timeout
	}
	return h.Timeout
}

// Hooks lists the registrations of a file: one for each native event of its
// surface at which a policy is wired or a record is written. An event that
// would start a process for nothing is left out.
func Hooks(c *model.Catalog, h model.Host, f model.File, scope string) ([]hook, error) {
	s := h.Surfaces[f.Surface]
	evs, err := tables.Events(c, s)
	if err != nil {
		return nil, err
	}
	unit := Unit(h, f)
	out := []hook{}
	for _, e := range evs {
		if !tables.Registered(c, e) {
			continue
		}
		t, err := Timeout(unit, e.Native, e.Mapping.TimeoutMs)
		if err != nil {
			return nil, err
		}
		k := hook{Native: e.Native, Timeout: t, Matchers: matchers(h, f, e)}
		command(&k, h, f, scope, e.Canonical == "agentSpawn")
		out = append(out, k)
	}
	return out, nil
}

// Timeout converts milliseconds to the host's unit. The schema has already
// refused what the host would round, cut or take for another unit; this is the
// last look before it is written.
func Timeout(u model.TimeoutUnit, native string, ms int) (int, error) {
	v := ms
	if u.Unit == "s" {
		if ms%1000 != 0 {
			return 0, fmt.Errorf("%s: %d ms is not a whole number of seconds, which is what the host takes", native, ms)
		}
		v = ms / 1000
	}
	limit := u.Max
	if c, ok := u.Caps[native]; ok {
		limit = min(limit, c)
	}
	if v < u.Min || v > limit {
		return 0, fmt.Errorf("%s: a timeout of %d %s is outside of what the host takes: %d to %d", native, v, u.Unit, u.Min, limit)
	}
	return v, nil
}

// Missing is what a person reads, once a session, where a bundle is in place and
// the hook binary is not. It can stand between single quotes in any shell.
func Missing(h model.Host) string {
	return "flow-agents: the policies of this repository are not active, because flow-agents-hook is not installed on this machine. Work goes on without them. To install: run flow-agents init --host " + h.ID + " from a flow-agents release."
}

// command writes how the hook is called. Committed files run on machines that
// may lack the binary, so they test for it first, let work go on without it,
// and say so once, at the start of a session. The line is read by whatever
// shell the host picks: it keeps to what sh, bash, zsh and fish share. A host
// that takes a line of its own for Windows reads that one with PowerShell.
func command(k *hook, h model.Host, f model.File, scope string, start bool) {
	call := h.ID + " " + k.Native
	windows := f.Accepts != nil && slices.Contains(f.Accepts.Handler, "commandWindows")
	if scope != "project" {
		if f.Exec {
			k.Command, k.Args = Placeholder, []string{h.ID, k.Native}
			return
		}
		k.Command = ShellPlaceholder + " " + call
		if windows {
			// A quoted path is a string until & calls it. The path is filled in as
			// it is, and in a here-string no character of it means anything: between
			// plain quotes an apostrophe, straight or curly, would end it.
			w := "& @'\n" + Placeholder + "\n'@ " + call + "; exit $LASTEXITCODE"
			k.CommandWindows = &w
		}
		return
	}
	const bin = `"$HOME/.flow-agents/bin/flow-agents-hook"`
	k.Command = "test -x " + bin + " && exec " + bin + " " + call + "; "
	if start {
		k.Command += "echo '" + Missing(h) + "'"
	} else {
		k.Command += "exit 0"
	}
	if windows {
		const exe = `"$HOME/.flow-agents/bin/flow-agents-hook.exe"`
		w := "if (Test-Path -LiteralPath " + exe + ") { & " + exe + " " + call + "; exit $LASTEXITCODE }"
		if start {
			w += " else { Write-Output '" + Missing(h) + "' }"
		}
		k.CommandWindows = &w
	}
}

// matchers lists the matcher of each entry to write for an event.
func matchers(h model.Host, f model.File, e tables.NativeEvent) []*string {
	if len(e.Mapping.Match) == 0 || f.Accepts == nil || f.Accepts.Matcher == "none" || !slices.Contains(f.Accepts.Matchable, e.Native) {
		return []*string{nil}
	}
	var names []string
	for _, n := range slices.Sorted(maps.Keys(h.Tools)) {
		if t := h.Tools[n]; !t.Alias && slices.Contains(e.Mapping.Match, t.Class) {
			names = append(names, n)
		}
	}
	switch f.Accepts.Matcher {
	case "glob":
		out := make([]*string, len(names))
		for i := range names {
			out[i] = &names[i]
		}
		return out
	case "names":
		if !slices.ContainsFunc(names, pattern) {
			m := strings.Join(names, "|")
			return []*string{&m}
		}
	}
	for i, n := range names {
		names[i] = regexOf(n)
	}
	m := "^(" + strings.Join(names, "|") + ")$"
	return []*string{&m}
}

// pattern reports whether a host that compares plain names whole would read
// this one, and every name beside it, as an unanchored regular expression.
func pattern(name string) bool {
	return strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") != ""
}

// regexOf is a pattern for a tool name whose final * stands for any rest.
func regexOf(name string) string {
	stem, any := strings.CutSuffix(name, "*")
	stem = strings.NewReplacer(".", `\.`, "/", `\/`).Replace(stem)
	if any {
		return stem + ".*"
	}
	return stem
}

// importer serves jsonnet's imports from a file system.
type importer struct {
	fsys  fs.FS
	cache map[string]jsonnet.Contents
}

func (i *importer) Import(from, p string) (jsonnet.Contents, string, error) {
	at := path.Clean(p)
	if from != "" && !path.IsAbs(p) {
		at = path.Join(path.Dir(from), p)
	}
	if c, ok := i.cache[at]; ok {
		return c, at, nil
	}
	data, err := fs.ReadFile(i.fsys, at)
	if err != nil {
		return jsonnet.Contents{}, "", err
	}
	c := jsonnet.MakeContents(string(data))
	i.cache[at] = c
	return c, at, nil
}
