// Package shell tells what a command line would do to files and to the checks
// that guard a commit, without running it.
//
// Scan reads the line as the shell would: it parses it, follows variables,
// folders, functions, aliases, pipes and nested shells as far as the text
// alone says, and looks each program up in a table of what its arguments mean.
// Nothing is executed and no file is opened.
//
// Reading a file, and naming one (in a pattern, a message, the text of a
// here-document), is no effect. What the text doesn't tell stays open: a
// target that is known in part is a pattern, a target that isn't known at all
// has an empty path, and code that can't be known makes the report undecided.
// What other programs do on their own (make, npm test, a script that is already
// on disk) is not part of the report and doesn't make it undecided.
package shell

// A Dialect is the language of a command line.
type Dialect uint8

// The dialects. Bash stands for all shells of the Bourne family. PowerShell
// and Cmd are read by a simpler scan: see powershell.go and cmd.go.
const (
	Bash Dialect = iota
	PowerShell
	Cmd
)

// A Kind is what happens to a file.
type Kind uint8

// The kinds of effects.
const (
	Write      Kind = iota // created, changed or replaced
	Delete                 // taken away, by a move, too
	Link                   // another name is made for it, through which it can be written
	Permission             // its mode, owner or attributes are changed
)

var kinds = [...]string{"write", "delete", "link", "permission"}

func (k Kind) String() string { return kinds[k] }

// An Effect is what a command line would do to one file.
type Effect struct {
	Kind Kind
	// Path is the file as the program gets it; empty if it isn't known.
	Path string
	// Glob: Path is a pattern. * and ? stand for characters other than a slash,
	// [...] for a class, ** for any text at all, and \ quotes. As in a shell, *
	// and ? don't match a dot that a name begins with; ** does.
	Glob bool
	// Dir is the folder that a relative Path starts from, itself relative to
	// the folder in which the command line starts; empty if it is that one.
	Dir string
	// DirGlob: Dir is a pattern, because it isn't known in full.
	DirGlob bool
	// Tree: if Path is a folder, what is in it is concerned, too.
	Tree bool
	// IfDir: it happens only if the folder of Path exists, as for the file y/x
	// in "cp x y".
	IfDir bool
	// Program is what does it: a program's base name, or "redirect".
	Program string
}

// A Bypass is a way around the checks of a repository.
type Bypass struct {
	Rule BypassRule
	// Program is the program with its sub-command, as in "git commit".
	Program string
	// What is the part of the command line that does it, as it was resolved.
	What string
}

// A BypassRule is a family of bypasses.
type BypassRule string

// The rules.
const (
	NoVerify    BypassRule = "no-verify"   // git commit --no-verify
	HooksPath   BypassRule = "hooks-path"  // core.hooksPath
	Environment BypassRule = "environment" // HUSKY=0 git commit
	Uninstall   BypassRule = "uninstall"   // pre-commit uninstall
)

// A Report is what a command line would do.
type Report struct {
	Effects  []Effect
	Bypasses []Bypass
	// Undecided: some part of the line couldn't be read, so that effects may be
	// missing. Why says which, for people.
	Undecided bool
	Why       string
}

// Options are what Scan knows beside the command line.
type Options struct {
	Dialect Dialect
	// Env looks up a variable of the environment that the line would run in. If
	// it is nil, or says false, the variable's value is not known.
	Env func(name string) (string, bool)
}

// The bounds of a scan. Beyond each of them the report is undecided.
const (
	// MaxInput bounds the command line in bytes.
	MaxInput = 64 << 10
	// MaxEffects bounds what is reported.
	MaxEffects = 1000

	maxDepth  = 8       // nested scripts and function calls
	maxNested = 4 << 16 // bytes of nested scripts
	maxChain  = 24      // programs that start programs
	maxSteps  = 40_000  // commands, words, and what variables hold, all in all
	maxFields = 2048    // words that come from one word
	maxText   = 1 << 16 // bytes of a variable's value or a command's output
	maxAlts   = 8       // values that a variable may have at one place
	maxRuns   = 32      // combinations of such values in one command
	maxRounds = 256     // rounds of a loop
)

// Scan reports what a command line would do.
func Scan(command string, o Options) Report {
	s := &scanner{env: o.Env, steps: maxSteps, nested: maxNested + MaxInput}
	if len(command) > MaxInput {
		s.undecided("the command is longer than what is read")
		command = command[:MaxInput]
	}
	s.script(command, o.Dialect)
	return s.rep
}

func (s *scanner) script(text string, d Dialect) {
	switch d {
	case PowerShell:
		s.powershell(text)
	case Cmd:
		s.cmd(text)
	default:
		s.bash(text)
	}
}

func (s *scanner) undecided(why string) {
	if !s.rep.Undecided {
		s.rep.Undecided, s.rep.Why = true, why
	}
}

// spend accounts for work. It reports false when there was too much of it.
func (s *scanner) spend(n int) bool {
	if s.steps -= n; s.steps < 0 {
		s.undecided("the command does more than what is followed")
		return false
	}
	return true
}

// effect records an effect on a file in every folder that may be in force.
func (s *scanner) effect(k Kind, path, program string, tree, ifDir bool) {
	if path == "" || device(path) {
		return
	}
	e := Effect{Kind: k, Tree: tree, IfDir: ifDir, Program: program}
	e.Path, e.Glob = render(path)
	if only(path, hole) {
		e.Path, e.Glob = "", false
	}
	dirs := s.dirs()
	if path[0] == '/' {
		dirs = startDir
	}
	for _, d := range dirs {
		e.Dir, e.DirGlob = render(d)
		s.add(e)
	}
}

func (s *scanner) add(e Effect) {
	// Loops and alternatives say the same thing over and over.
	for i := len(s.rep.Effects) - 1; i >= 0 && i >= len(s.rep.Effects)-64; i-- {
		if s.rep.Effects[i] == e {
			return
		}
	}
	if len(s.rep.Effects) >= MaxEffects {
		s.undecided("the command concerns more files than what is reported")
		s.steps = 0
		return
	}
	s.rep.Effects = append(s.rep.Effects, e)
}

func (s *scanner) bypass(rule BypassRule, program, what string) {
	what, _ = render(what)
	b := Bypass{rule, program, what}
	for _, old := range s.rep.Bypasses {
		if old == b {
			return
		}
	}
	if len(s.rep.Bypasses) < MaxEffects {
		s.rep.Bypasses = append(s.rep.Bypasses, b)
	}
}
