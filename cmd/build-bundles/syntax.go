package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"cuelang.org/go/cue/scanner"
	"cuelang.org/go/cue/token"

	"github.com/flow-agents/flow-agents/generators/load"
)

// unreadable recognises what the parser says of a file that is no CUE.
var unreadable = regexp.MustCompile(`^(expected |illegal |missing |unexpected |unknown escape|string literal not|comment not|invalid )`)

// firstSyntax keeps the first of a parser's errors, because the others mostly
// follow from it, and says what is probably wrong there. Other findings stay as
// they are.
func firstSyntax(fs load.Findings) load.Findings {
	if len(fs) == 0 || fs[0].Path != "" || !unreadable.MatchString(fs[0].Text) {
		return fs
	}
	f := fs[0]
	if at := strings.Split(f.Pos, ":"); f.Hint == "" && len(at) >= 3 {
		if src, err := os.ReadFile(strings.Join(at[:len(at)-2], ":")); err == nil {
			var line int
			fmt.Sscan(at[len(at)-2], &line)
			f.Hint = syntaxHint(f.Text, src, line)
		}
	}
	return load.Findings{f}
}

// syntaxHint says what a parser's error at a line, counted from 1, usually
// comes from.
func syntaxHint(text string, src []byte, line int) string {
	lines := strings.Split(string(src), "\n")
	here, before := "", ""
	if line >= 1 && line <= len(lines) {
		here = strings.TrimSpace(lines[line-1])
	}
	for i := line - 2; i >= 0 && i < len(lines) && before == ""; i-- {
		before = strings.TrimSpace(lines[i])
	}
	switch {
	case strings.Contains(text, "UTF-8"), strings.Contains(text, "NUL"):
		return "save the file as UTF-8 text"
	case strings.Contains(text, "U+201"):
		return `a string stands in plain quotes: "..."`
	case strings.HasPrefix(text, "string literal not"):
		return `a string ends on the line where it starts: close it with "`
	case strings.HasPrefix(here, "#"), strings.HasPrefix(here, "/*"):
		return "a comment starts with //"
	case assigned.MatchString(here), strings.HasPrefix(text, "expected label") && assigned.MatchString(before):
		return "a field is written with a colon, NAME: VALUE"
	case strings.Contains(text, "found ','"):
		return "there is one , too many, or a value is missing before it"
	}
	if h := unbalanced(src); h != "" {
		return h
	}
	switch {
	case strings.HasPrefix(text, "missing ','"):
		return "what stands in one line is separated by ,; a name with a - in it stands in quotes"
	case strings.HasPrefix(text, "expected label"), strings.HasPrefix(text, "expected operand"):
		return "a field is written NAME: VALUE, and a name with other characters than letters and digits in quotes"
	}
	return ""
}

var assigned = regexp.MustCompile(`^[A-Za-z"-]+ *= `)

// unbalanced finds the first brace that closes another than its indentation
// says, or that closes nothing or is never closed.
func unbalanced(src []byte) string {
	type brace struct {
		tok          token.Token
		line, indent int
	}
	indent := map[int]int{}
	for i, l := range strings.Split(string(src), "\n") {
		indent[i+1] = len(l) - len(strings.TrimLeft(l, " \t"))
	}
	var s scanner.Scanner
	s.Init(token.NewFile("", 0, len(src)), src, func(token.Pos, string, []any) {}, 0)
	var open []brace
	var last [2]int // lines of the outermost pair that was closed last
	for {
		pos, tok, _ := s.Scan()
		if tok == token.EOF {
			break
		}
		switch tok {
		case token.INTERPOLATION:
			return "" // its parts are no tokens
		case token.LBRACE, token.LBRACK, token.LPAREN:
			open = append(open, brace{tok, pos.Line(), indent[pos.Line()]})
		case token.RBRACE, token.RBRACK, token.RPAREN:
			line := pos.Line()
			if len(open) == 0 {
				if last[0] == 0 {
					return fmt.Sprintf("nothing is open that this %s could close", tok)
				}
				return fmt.Sprintf("nothing is open any more: what starts in line %d was closed in line %d", last[0], last[1])
			}
			b := open[len(open)-1]
			open = open[:len(open)-1]
			pair := b.tok == token.LBRACE && tok == token.RBRACE || b.tok == token.LBRACK && tok == token.RBRACK || b.tok == token.LPAREN && tok == token.RPAREN
			first := pos.Column() == indent[line]+1
			if !pair || line != b.line && (!first || indent[line] != b.indent) {
				return fmt.Sprintf("the %s in line %d closes the %s in line %d: one is missing or too many between them", tok, line, b.tok, b.line)
			}
			if len(open) == 0 && line > b.line {
				last = [2]int{b.line, line}
			}
		}
	}
	if len(open) > 0 {
		b := open[len(open)-1]
		return fmt.Sprintf("the %s in line %d is never closed", b.tok, b.line)
	}
	return ""
}
