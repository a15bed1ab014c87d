package shell

import "mvdan.cc/sh/v3/syntax"

// A scanner follows one command line.
type scanner struct {
	env    func(string) (string, bool)
	rep    Report
	steps  int // that are left
	nested int // bytes of scripts that are left
	depth  int
	chain  int // programs that start each other

	vars map[string]value
	// What vars was before, to go back to at the end of a subshell.
	log     []change
	params  []string // $1 and so on
	given   bool     // params are those of a call, not of the line itself
	last    string   // $_
	funcs   map[string]*syntax.Stmt
	aliases map[string]string
	files   map[string]string // that the line has written, if it is known what

	stdin *input   // nil: not known
	out   *capture // nil: nobody looks at it

	choices []choice
	rerun   bool // the command is looked at for other values of its variables
}

// A value is what a variable may hold.
type value struct {
	alts   []string // one of these
	list   []string // of an array
	array  bool
	export bool
}

type change struct {
	name string
	old  value
	was  bool
}

// An input is text that commands read one after the other.
type input struct{ text string }

// A capture takes the output of commands.
type capture struct{ text []byte }

// A choice is the value of a variable, of several, that a command is looked at
// for.
type choice struct {
	name string
	n, i int
}

// The names that the folders go by among the variables: no shell variable is
// called so.
const (
	dirVar = " dir"
	oldVar = " old"
)

var startDir = []string{""}

// dirs returns the folders that may be in force.
func (s *scanner) dirs() []string {
	if v, ok := s.vars[dirVar]; ok {
		return v.alts
	}
	return startDir
}

func (s *scanner) chdir(to string) {
	from := s.dirs()
	alts := make([]string, 0, len(from))
	for _, d := range from {
		alts = append(alts, join(d, to))
	}
	s.setDir(alts)
}

func (s *scanner) setDir(alts []string) {
	s.set(oldVar, value{alts: s.dirs()})
	s.set(dirVar, value{alts: alts})
}

func (s *scanner) set(name string, v value) {
	old, was := s.vars[name]
	if s.rerun && was {
		v = merge(old, v)
	}
	v.export = v.export || old.export
	if len(s.log) >= 2*maxSteps {
		s.spend(maxSteps + 1)
		return
	}
	s.log = append(s.log, change{name, old, was})
	if s.vars == nil {
		s.vars = map[string]value{}
	}
	s.vars[name] = v
}

// setText gives a variable one value.
func (s *scanner) setText(name, text string) {
	s.spend(1 + len(text)/64)
	if len(text) > maxText {
		text = hole
	}
	s.set(name, value{alts: []string{text}})
}

// get returns one value of a variable, and false if it has none here.
func (s *scanner) get(name string) (string, bool) {
	v, ok := s.vars[name]
	if !ok {
		switch {
		case name == "IFS":
			return " \t\n", true
		case s.env != nil:
			if text, ok := s.env(name); ok {
				return text, true
			}
		}
		return hole, false
	}
	if v.array {
		if len(v.list) == 0 {
			return "", true
		}
		return v.list[0], true
	}
	if len(v.alts) == 0 {
		return "", true
	}
	if i := s.pick(name, len(v.alts)); i >= 0 {
		return v.alts[i], true
	}
	return hole, true
}

func merge(a, b value) value {
	v := value{array: a.array || b.array, export: a.export || b.export}
	if v.array {
		v.list = union(a.list, b.list, maxFields)
		v.list = union(v.list, a.alts, maxFields)
		v.list = union(v.list, b.alts, maxFields)
		return v
	}
	v.alts = union(a.alts, b.alts, maxAlts)
	return v
}

func union(a, b []string, most int) []string {
	out := a[:len(a):len(a)]
next:
	for _, x := range b {
		for _, y := range out[:min(len(out), 4*maxAlts)] {
			if x == y {
				continue next
			}
		}
		if len(out) == most {
			return []string{hole}
		}
		out = append(out, x)
	}
	return out
}

// rollback undoes what was set since a mark.
func (s *scanner) rollback(mark int) {
	for i := len(s.log) - 1; i >= mark; i-- {
		if c := s.log[i]; c.was {
			s.vars[c.name] = c.old
		} else {
			delete(s.vars, c.name)
		}
	}
	s.log = s.log[:min(mark, len(s.log))]
}

type setting struct {
	name string
	val  value
}

// since returns what the variables that were set since a mark are now.
func (s *scanner) since(mark int) []setting {
	var list []setting
	for _, c := range s.log[min(mark, len(s.log)):] {
		dup := false
		for i := range list[:min(len(list), 64)] {
			dup = dup || list[i].name == c.name
		}
		if !dup {
			list = append(list, setting{c.name, s.vars[c.name]})
		}
	}
	return list
}

// maybe makes what was set since a mark a possibility, beside what was before.
func (s *scanner) maybe(mark int) {
	if mark >= len(s.log) {
		return
	}
	list := s.since(mark)
	s.rollback(mark)
	s.also(list)
}

// also adds possibilities.
func (s *scanner) also(list []setting) {
	for _, x := range list {
		v := x.val
		switch old, was := s.vars[x.name]; {
		case was:
			v = merge(old, v)
		case x.name == dirVar || x.name == oldVar:
			v = merge(value{alts: startDir}, v)
		default:
			v = merge(v, value{alts: []string{hole}})
		}
		s.set(x.name, v)
	}
}

// pick returns which of n values of a variable the command is looked at for,
// -1 if there are too many.
func (s *scanner) pick(name string, n int) int {
	if n == 1 {
		return 0
	}
	runs := 1
	for _, c := range s.choices {
		if c.name == name {
			return min(c.i, n-1)
		}
		runs *= c.n
	}
	if runs*n > maxRuns {
		return -1
	}
	s.choices = append(s.choices, choice{name: name, n: n})
	return 0
}

// again goes on to the next combination of values, if there is one.
func (s *scanner) again() bool {
	for i := len(s.choices) - 1; i >= 0; i-- {
		if s.choices[i].i++; s.choices[i].i < s.choices[i].n {
			s.choices = s.choices[:i+1]
			s.rerun = true
			return true
		}
	}
	return false
}

// emit is output of a command.
func (s *scanner) emit(text string) {
	if s.out == nil {
		return
	}
	if len(s.out.text)+len(text) > maxText || !s.spend(len(text)/64) {
		s.out.text = []byte(hole)
		return
	}
	s.out.text = append(s.out.text, text...)
}

// line is output that is known, one line; unknown is output that isn't.
func (s *scanner) line(text string) { s.emit(text); s.emit("\n") }
func (s *scanner) unknown()         { s.emit(hole + "\n") }

// file returns what the line itself has written into a file.
func (s *scanner) file(path string) (string, bool) {
	d := s.dirs()
	if len(d) != 1 || !exact(path) {
		return "", false
	}
	text, ok := s.files[tidy(join(d[0], path))]
	return text, ok
}

func (s *scanner) wrote(path, text string, more bool) {
	d := s.dirs()
	if len(d) != 1 || !exact(path) || device(path) {
		return
	}
	key := tidy(join(d[0], path))
	if more {
		if old, ok := s.files[key]; ok {
			text = old + text
		}
	}
	if s.files == nil {
		s.files = map[string]string{}
	}
	if len(text) > maxText {
		text = hole
	}
	s.files[key] = text
}

// tidy takes "./" from the front of a path.
func tidy(path string) string {
	for len(path) > 2 && path[0] == '.' && path[1] == '/' {
		path = path[2:]
	}
	return path
}
