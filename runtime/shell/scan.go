package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bash follows a script of the Bourne family.
func (s *scanner) bash(text string) {
	if s.depth >= maxDepth || s.nested < len(text) {
		s.undecided("the command has too many scripts in each other")
		return
	}
	s.nested -= len(text)
	if deep(text) {
		s.undecided("the command is nested too deeply")
		s.tokens(text)
		return
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		// zsh has forms of its own.
		if file, err = syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(text), ""); err != nil {
			s.undecided("the command could not be parsed")
			s.tokens(text)
			return
		}
	}
	s.depth++
	s.stmts(file.Stmts)
	s.depth--
}

// deep reports whether a text has more brackets open than a parser should be
// asked to follow.
func deep(text string) bool {
	const most = 200
	open, words := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`':
			open++
		case ')', '}':
			open = max(0, open-1)
		case 'i', 'w', 'u', 'c':
			// if, while, until, case, coproc: they nest without brackets.
			if rest := text[i:]; strings.HasPrefix(rest, "if") || strings.HasPrefix(rest, "while") || strings.HasPrefix(rest, "until") || strings.HasPrefix(rest, "case") || strings.HasPrefix(rest, "coproc") {
				words++
			}
		case 'f', 'd', 'e':
			if rest := text[i:]; strings.HasPrefix(rest, "fi") || strings.HasPrefix(rest, "done") || strings.HasPrefix(rest, "esac") {
				words = max(0, words-1)
			}
		}
		if open > most || words > 4*most {
			return true
		}
	}
	return false
}

func (s *scanner) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(st)
	}
}

// apart follows statements of a subshell.
func (s *scanner) apart(list []*syntax.Stmt) {
	mark := len(s.log)
	s.stmts(list)
	s.rollback(mark)
}

// stmt follows a statement, once for each combination of values that the
// variables of a plain command may have.
func (s *scanner) stmt(st *syntax.Stmt) {
	if !s.spend(1) {
		return
	}
	in, out, choices, rerun := s.stdin, s.out, s.choices, s.rerun
	s.choices = nil
	for {
		to := s.redirects(st.Redirs)
		plain := true
		switch c := st.Cmd.(type) {
		case *syntax.CallExpr:
			s.call(c)
		case *syntax.DeclClause:
			s.declare(c)
		case nil:
			if s.stdin != in && s.stdin != nil {
				s.emit(s.stdin.text) // $(<file)
			}
		default:
			plain = false
			for s.again() {
				to = s.redirects(st.Redirs)
			}
			s.choices, s.rerun = nil, rerun
			s.command(c)
		}
		for _, path := range to.paths {
			s.wrote(path, string(s.out.text), to.more)
		}
		s.stdin, s.out = in, out
		if !plain || !s.again() {
			break
		}
	}
	s.stdin, s.out, s.choices, s.rerun = in, out, choices, rerun
}

func (s *scanner) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.Block:
		s.stmts(c.Stmts)
	case *syntax.Subshell:
		s.apart(c.Stmts)
	case *syntax.BinaryCmd:
		s.binary(c)
	case *syntax.IfClause:
		s.ifClause(c)
	case *syntax.WhileClause:
		s.while(c)
	case *syntax.ForClause:
		s.loop(c)
	case *syntax.CaseClause:
		s.text(c.Word)
		var ends []setting
		for _, item := range c.Items {
			mark := len(s.log)
			for _, p := range item.Patterns {
				s.text(p)
			}
			s.stmts(item.Stmts)
			ends = append(ends, s.since(mark)...)
			s.rollback(mark)
		}
		s.also(ends)
	case *syntax.FuncDecl:
		if c.Name != nil {
			if s.funcs == nil {
				s.funcs = map[string]*syntax.Stmt{}
			}
			s.funcs[c.Name.Value] = c.Body
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		s.apart([]*syntax.Stmt{c.Stmt})
	case *syntax.TestDecl:
		s.stmt(c.Body)
	case *syntax.ArithmCmd:
		s.arithm(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			s.arithm(x)
		}
	case *syntax.TestClause:
		s.test(c.X)
	default:
		s.undecided("the command has a form that isn't known")
	}
}

func (s *scanner) binary(b *syntax.BinaryCmd) {
	switch b.Op {
	case syntax.AndStmt:
		s.maybe(s.and(b))
	case syntax.OrStmt:
		s.stmt(b.X)
		mark := len(s.log)
		s.stmt(b.Y)
		s.maybe(mark)
	default:
		in, out, mark := s.stdin, s.out, len(s.log)
		c := &capture{}
		s.out = c
		s.stmt(b.X)
		s.rollback(mark)
		s.stdin, s.out = &input{string(c.text)}, out
		s.stmt(b.Y)
		s.rollback(mark)
		s.stdin = in
	}
}

// and follows a chain of &&, in which each part runs only if those before it
// did. It returns the mark of what may not have happened at its end.
func (s *scanner) and(b *syntax.BinaryCmd) int {
	var mark int
	if x, ok := b.X.Cmd.(*syntax.BinaryCmd); ok && x.Op == syntax.AndStmt && len(b.X.Redirs) == 0 {
		mark = s.and(x)
	} else {
		s.stmt(b.X)
		mark = len(s.log)
	}
	s.stmt(b.Y)
	return mark
}

func (s *scanner) ifClause(c *syntax.IfClause) {
	// The condition of the first arm always runs.
	var ends []setting
	for first := true; c != nil; c, first = c.Else, false {
		mark := len(s.log)
		s.stmts(c.Cond)
		if first {
			mark = len(s.log)
		}
		s.stmts(c.Then)
		ends = append(ends, s.since(mark)...)
		if len(c.Cond) > 0 || c.Else != nil {
			s.rollback(mark)
		}
		if !s.spend(1) {
			return
		}
	}
	s.also(ends)
}

func (s *scanner) while(c *syntax.WhileClause) {
	mark := len(s.log)
	for round := range maxRounds {
		start := len(s.log)
		left := -1
		if s.stdin != nil {
			left = len(s.stdin.text)
		}
		s.stmts(c.Cond)
		if s.stdin != nil && left == 0 {
			break
		}
		s.stmts(c.Do)
		reads := s.stdin != nil && len(s.stdin.text) < left
		if !reads && (round > 0 || len(s.log) == start) || !s.spend(1) {
			break
		}
	}
	s.maybe(mark)
}

func (s *scanner) loop(c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		items := s.params
		if l.InPos.IsValid() {
			items = s.everyWord(l.Items)
		} else if !s.given {
			items = []string{hole}
		}
		for i, item := range items {
			if i >= maxRounds {
				s.undecided("a loop has too many rounds")
				break
			}
			s.setText(l.Name.Value, item)
			s.stmts(c.Do)
			if !s.spend(1) {
				break
			}
		}
	case *syntax.CStyleLoop:
		mark := len(s.log)
		s.arithm(l.Init)
		s.arithm(l.Cond)
		s.arithm(l.Post)
		s.stmts(c.Do)
		s.stmts(c.Do)
		s.maybe(mark)
	default:
		s.stmts(c.Do)
	}
}

// everyWord returns the fields that words may come to, for all values of their
// variables.
func (s *scanner) everyWord(list []*syntax.Word) []string {
	s.choices = nil
	items := s.words(list)
	for s.again() {
		items = union(items, s.words(list), maxFields)
	}
	s.choices, s.rerun = nil, false
	return items
}

// arithm looks for what an arithmetic expression runs and sets.
func (s *scanner) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		if x != nil {
			s.text(x)
		}
	case *syntax.BinaryArithm:
		if w, ok := x.X.(*syntax.Word); ok && x.Op >= syntax.Assgn && w.Lit() != "" {
			s.setText(w.Lit(), hole)
		}
		s.arithm(x.X)
		s.arithm(x.Y)
	case *syntax.UnaryArithm:
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.Inc || x.Op == syntax.Dec) && w.Lit() != "" {
			s.setText(w.Lit(), hole)
		}
		s.arithm(x.X)
	case *syntax.ParenArithm:
		s.arithm(x.X)
	case *syntax.FlagsArithm:
		s.arithm(x.X)
	}
}

// test looks for what [[ ]] runs.
func (s *scanner) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		s.text(x)
	case *syntax.BinaryTest:
		s.test(x.X)
		s.test(x.Y)
	case *syntax.UnaryTest:
		s.test(x.X)
	case *syntax.ParenTest:
		s.test(x.X)
	}
}

// A target is where the output of a statement goes.
type target struct {
	paths []string
	more  bool // it is appended
}

// redirects follows the redirections of a statement: files are written, and
// what the statement reads and writes is another thing than before.
func (s *scanner) redirects(list []*syntax.Redirect) target {
	var to target
	for _, r := range list {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			text := ""
			if r.Hdoc != nil {
				text = s.hereDoc(r)
			}
			s.read(r, text)
			continue
		case syntax.WordHdoc:
			s.read(r, s.text(r.Word)+"\n")
			continue
		}
		words := s.words([]*syntax.Word{r.Word})
		switch r.Op {
		case syntax.RdrIn:
			s.stdin = nil
			if len(words) == 1 {
				if text, ok := s.file(words[0]); ok {
					s.read(r, text)
				} else if !strings.HasPrefix(words[0], procSubst) {
					s.stdin = &input{hole}
				} else {
					s.stdin = &input{words[0][len(procSubst):]}
				}
			}
			continue
		case syntax.DplIn:
			continue
		case syntax.DplOut:
			// >&2 names a descriptor, >&file a file.
			if len(words) != 1 || words[0] == "-" || strings.TrimRight(words[0], "0123456789-") == "" || words[0] == hole {
				continue
			}
		}
		for _, w := range words {
			if strings.HasPrefix(w, procSubst) {
				continue
			}
			s.effect(Write, w, "redirect", false, false)
			if fd := r.N; r.Op != syntax.RdrInOut && (fd == nil || fd.Value == "1") {
				if len(to.paths) == 0 {
					s.out = &capture{}
				}
				to.paths = append(to.paths, w)
				to.more = to.more || r.Op == syntax.AppOut || r.Op == syntax.AppAll
			}
		}
	}
	return to
}

func (s *scanner) read(r *syntax.Redirect, text string) {
	if r.N == nil || r.N.Value == "0" {
		s.stdin = &input{text}
	}
}

// hereDoc is the body of a here-document. It is plain text if any part of its
// end mark is quoted.
func (s *scanner) hereDoc(r *syntax.Redirect) string {
	x := expansion{s: s, one: true}
	for _, p := range r.Hdoc.Parts {
		x.part(p, true)
	}
	text := string(x.cur)
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text
}
