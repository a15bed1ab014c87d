// Package scaffold writes the first version of a host's manifest: valid, with
// every canonical event as a gap for the author to fill in.
package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"cuelang.org/go/cue/format"

	"github.com/flow-agents/flow-agents/generators/model"
)

var id = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Manifest renders a manifest for a new host. month is YYYY-MM. tree
// holds templates/scaffold/manifest.cue.tmpl.
func Manifest(c *model.Catalog, hostID, month string, tree fs.FS) ([]byte, error) {
	if !id.MatchString(hostID) {
		return nil, fmt.Errorf("host id %q: use lower-case words joined by '-', such as acme-code", hostID)
	}
	for _, h := range c.Hosts {
		if h.ID == hostID {
			return nil, fmt.Errorf("host %s has a manifest already", hostID)
		}
	}
	t, err := template.New("manifest.cue.tmpl").
		Option("missingkey=error").
		Funcs(template.FuncMap{"cue": strconv.Quote}).
		ParseFS(tree, "templates/scaffold/manifest.cue.tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"ID": hostID, "Title": title(hostID), "Month": month, "Events": c.Events})
	if err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}

// title makes a first guess at a name for people: acme-code -> Acme Code.
func title(id string) string {
	words := strings.Split(id, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
