package docs

import (
	"net/url"
	"strings"
)

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`,
	"\r\n", " ", "\n", " ", "\r", " ",
)

// markdown writes prose so that a Markdown reader shows it as it is, also in a
// table.
func markdown(s string) string { return markdownEscapes.Replace(s) }

// code writes s as a code span that is safe in a table. Within a table, a bar
// is escaped even inside code.
func code(s string) string {
	if s == "" {
		return ""
	}
	fence, run, longest := "`", 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	pad := ""
	if longest > 0 {
		fence = strings.Repeat("`", longest+1)
		pad = " "
	}
	s = strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ").Replace(s)
	return fence + pad + s + pad + fence
}

func codes(ss []string) string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = code(s)
	}
	return strings.Join(out, ", ")
}

// link writes an address so that a reader can follow it, and anything else as
// prose.
func link(s string) string {
	if u, err := url.Parse(s); err == nil && u.Scheme == "https" && !strings.ContainsAny(s, " <>|\r\n") {
		return "<" + s + ">"
	}
	return markdown(s)
}

// tableRow joins cells, already escaped, to one line of a table.
func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// columnHeads is the head of a table of the matrix; first names its rows.
func columnHeads(cols []column, first string) string {
	cells := []string{first}
	for _, c := range cols {
		cells = append(cells, markdown(c.Name())+"<br>"+c.Level+" now, "+c.SurfaceLevel+" possible")
	}
	return tableRow(cells...)
}

func columnRule(cols []column) string { return strings.Repeat("| --- ", len(cols)+1) + "|" }
