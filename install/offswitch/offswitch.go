// Package offswitch reads one boolean out of a host's config file, with the
// place where it stands.
package offswitch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/flow-agents/flow-agents/install/jsonedit"
)

// A Setting is a boolean found in a file. Line counts from 1.
type Setting struct {
	Value bool
	Line  int
}

var bom = []byte("\xef\xbb\xbf")

// Find looks for the boolean at key in src, the text of file. It returns nil if
// there is none. A file that can't be read in its format is a *jsonedit.Error.
func Find(file, format string, src []byte, key []string) (*Setting, error) {
	src = bytes.TrimPrefix(src, bom)
	switch format {
	case "json":
		return findJSON(file, src, key)
	case "toml":
		return findTOML(file, src, key)
	}
	return nil, fmt.Errorf("%s: format %q is not known", file, format)
}

func findJSON(file string, src []byte, key []string) (*Setting, error) {
	doc, err := jsonedit.Parse(file, src, jsonedit.JSONC)
	if err != nil {
		return nil, err
	}
	var path jsonedit.Path
	for _, k := range key {
		path = append(path, k)
	}
	value, ok := doc.Decoded(path...).(bool)
	if !ok {
		return nil, nil
	}
	line, _ := doc.Pos(path...)
	return &Setting{value, line}, nil
}

func findTOML(file string, src []byte, key []string) (*Setting, error) {
	var doc map[string]any
	if err := toml.Unmarshal(src, &doc); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, col := at.Position()
			return nil, &jsonedit.Error{File: file, Line: line, Column: col, Msg: "can't be parsed: " + strings.TrimPrefix(at.Error(), "toml: ")}
		}
		return nil, &jsonedit.Error{File: file, Line: 1, Column: 1, Msg: "can't be parsed: " + err.Error()}
	}
	var v any = doc
	for _, k := range key {
		table, _ := v.(map[string]any)
		v = table[k]
	}
	value, ok := v.(bool)
	if !ok {
		return nil, nil
	}
	return &Setting{value, tomlLine(src, key)}, nil
}

// tomlLine returns the line of a key that is known to be in src, in whichever
// form it is written: below a table header, dotted, or in an inline table.
func tomlLine(src []byte, key []string) int {
	var p unstable.Parser
	p.Reset(src)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = keyOf(e)
		case unstable.KeyValue:
			if n := find(e, table, key); n != nil {
				return p.Shape(n.Raw).Start.Line
			}
		}
	}
	return 0
}

// find returns the last part of the key of the key-value that sets key.
func find(kv *unstable.Node, prefix, key []string) *unstable.Node {
	full := slices.Concat(prefix, keyOf(kv))
	if len(full) > len(key) || !slices.Equal(full, key[:len(full)]) {
		return nil
	}
	if len(full) == len(key) {
		var last *unstable.Node
		for it := kv.Key(); it.Next(); {
			last = it.Node()
		}
		return last
	}
	if kv.Value().Kind != unstable.InlineTable {
		return nil
	}
	for it := kv.Value().Children(); it.Next(); {
		if n := find(it.Node(), full, key); n != nil {
			return n
		}
	}
	return nil
}

func keyOf(n *unstable.Node) []string {
	var parts []string
	for it := n.Key(); it.Next(); {
		parts = append(parts, string(it.Node().Data))
	}
	return parts
}
