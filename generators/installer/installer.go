// Package installer emits the scripts that install a host's bundle on a
// machine that has nothing yet: they pick the platform's archive, check it,
// and leave the rest to `flow-agents init`.
package installer

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/flow-agents/flow-agents/generators/fileset"
	"github.com/flow-agents/flow-agents/generators/model"
)

// Emit returns install.sh, which can be run, and install.ps1, relative to the
// host's bundle. The tree holds templates/install. An error is a fault of a
// template.
func Emit(h model.Host, tree fs.FS) (fileset.Set, error) {
	var out fileset.Set
	sh, err := render(tree, "install.sh", h)
	if err != nil {
		return nil, err
	}
	out.AddExecutable("install.sh", sh)
	ps, err := render(tree, "install.ps1", h)
	if err != nil {
		return nil, err
	}
	out.Add("install.ps1", ps)
	return out, nil
}

func render(tree fs.FS, name string, h model.Host) ([]byte, error) {
	src, err := fs.ReadFile(tree, "templates/install/"+name+".tmpl")
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"sh": Shell, "ps": PowerShell}).Parse(string(src))
	if err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, h); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return b.Bytes(), nil
}

// Shell quotes a word for a POSIX shell.
func Shell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// PowerShell quotes a string for PowerShell, which takes the typographic
// single quotes for quotes too.
func PowerShell(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) {
			b.WriteRune(r)
		}
		b.WriteRune(r)
	}
	b.WriteByte('\'')
	return b.String()
}
