package shell

import "strings"

// The checks that a variable of the environment turns off, and the value that
// does so: empty for any.
var hookSwitches = [...]struct{ name, value string }{
	{"HUSKY", "0"},
	{"HUSKY_SKIP_HOOKS", ""},
	{"SKIP", ""},
	{"LEFTHOOK", "0"},
	{"LEFTHOOK", "false"},
	{"LEFTHOOK_EXCLUDE", ""},
	{"OVERCOMMIT_DISABLE", ""},
	{"SKIP_SIMPLE_GIT_HOOKS", "1"},
	{"GIT_CONFIG_PARAMETERS", ""},
}

// A gitCommand is what a sub-command of git takes.
type gitCommand struct {
	name        string
	short, long string
	// hooks: it runs hooks that --no-verify, or letter, leaves out.
	hooks  bool
	letter string
}

// From git's own option tables. The option is --no-verify everywhere; -n means
// it for commit and am alone.
var gitCommands = [...]gitCommand{
	{"am", "p:C:S::", "directory= exclude= include= patch-format= resolvemsg= whitespace= gpg-sign? no-verify verify", true, "n"},
	{"apply", "C:p:", "exclude= include= directory= whitespace= build-fake-ancestor= check stat numstat summary apply cached index", false, ""},
	{"checkout", "b:B:", "orphan= conflict= pathspec-from-file= ours theirs", false, ""},
	{"cherry-pick", "m:X:s:S::", "mainline= strategy= strategy-option= gpg-sign? no-verify verify cleanup=", true, ""},
	{"clean", "e:", "exclude= dry-run", false, ""},
	{"commit", "F:m:c:C:t:S::u::", "message= file= author= date= reedit-message= reuse-message= fixup= squash= template= cleanup= trailer= pathspec-from-file= gpg-sign? untracked-files? no-verify verify no-verbose verbose", true, "n"},
	{"merge", "F:m:X:s:S::", "file= message= strategy= strategy-option= gpg-sign? cleanup= into-name= log? no-verify no-verify-signatures verify verify-signatures", true, ""},
	{"mv", "", "dry-run", false, ""},
	{"pull", "X:s:S::j:", "strategy= strategy-option= gpg-sign? cleanup= rebase? no-verify no-verify-signatures verify verify-signatures depth= upload-pack=", true, ""},
	{"push", "o:", "push-option= repo= receive-pack= exec= force-with-lease? recurse-submodules= signed? no-verify verify", true, ""},
	{"rebase", "x:X:s:S::C:", "exec= strategy= strategy-option= onto= gpg-sign? whitespace= empty= no-verify verify", true, ""},
	{"reset", "", "pathspec-from-file= hard keep merge soft mixed", false, ""},
	{"restore", "s:", "source= conflict= pathspec-from-file= staged worktree", false, ""},
	{"revert", "m:X:s:S::", "mainline= strategy= strategy-option= gpg-sign? cleanup=", false, ""},
	{"rm", "", "cached dry-run pathspec-from-file=", false, ""},
	{"stash", "m:", "message= pathspec-from-file=", false, ""},
}

// git follows a call of git.
func (s *scanner) git(args []string) {
	mark := len(s.log)
	s.gitCall(args, 0)
	s.rollback(mark)
}

func (s *scanner) gitCall(args []string, depth int) {
	var aliases []string
	var found []string // -c core.hooksPath
	i := 0
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		a := args[i]
		name, value, attached := strings.Cut(a, "=")
		next := func() string {
			if !attached && i+1 < len(args) {
				i++
				value = args[i]
			}
			return value
		}
		switch {
		case a == "-C":
			if i+1 < len(args) {
				i++
				s.chdir(args[i])
			}
		case a == "-c", name == "--config-env":
			kv := next()
			key, val, _ := strings.Cut(kv, "=")
			switch key := strings.ToLower(key); {
			case key == "core.hookspath":
				found = append(found, a+" "+kv)
			case strings.HasPrefix(key, "alias."):
				aliases = append(aliases, key[len("alias."):], val)
			case key == "include.path", !exact(key):
				s.undecided("a setting of git isn't known")
			}
		case name == "--work-tree":
			s.chdir(next())
		case name == "--git-dir", name == "--namespace", name == "--super-prefix", name == "--attr-source":
			next()
		}
	}
	if i >= len(args) {
		return
	}
	sub, rest := args[i], args[i+1:]
	for j := 0; j+1 < len(aliases); j += 2 {
		if strings.EqualFold(aliases[j], sub) && depth < maxDepth {
			s.gitAlias(aliases[j+1], args[:i], rest, depth)
			return
		}
	}
	if !exact(sub) {
		s.undecided("what git is asked to do isn't known")
		return
	}
	for _, f := range found {
		s.bypass(HooksPath, "git "+sub, f)
	}
	for j := range gitCommands {
		if c := &gitCommands[j]; c.name == sub {
			o := parse(rest, c.short, c.long, false)
			if c.hooks {
				s.gitHooks(c, &o)
			}
			s.gitFiles(sub, &o)
			s.unknown()
			return
		}
	}
	s.gitOther(sub, rest)
}

func (s *scanner) gitAlias(text string, global, rest []string, depth int) {
	if script, ok := strings.CutPrefix(text, "!"); ok {
		s.nest(script+` "$@"`, rest)
		return
	}
	words := strings.Fields(unquoted(text))
	s.gitCall(append(append(append([]string(nil), global...), words...), rest...), depth+1)
}

// gitHooks looks for what leaves the hooks of a sub-command out. The last of
// --verify and --no-verify counts.
func (s *scanner) gitHooks(c *gitCommand, o *options) {
	program := "git " + c.name
	what := ""
	for _, g := range o.given {
		switch {
		case g.name == "no-verify" || len(g.name) >= len("no-veri") && strings.HasPrefix("no-verify", g.name):
			what = "--no-verify"
		case g.name == c.letter && c.letter != "":
			what = "-" + g.name
		case g.name == "verify", g.name == "no-no-verify":
			what = ""
		}
	}
	if what != "" {
		s.bypass(NoVerify, program, what)
	}
	for _, op := range o.operands {
		if only(op, hole) {
			s.undecided("an argument of git isn't known")
		}
	}
	o.each("exec x", func(v string) {
		if c.name == "rebase" {
			s.nest(v, nil)
		}
	})
	for _, h := range &hookSwitches {
		v, ok := s.vars[h.name]
		if !ok || !v.export {
			continue
		}
		for _, text := range v.alts {
			if text == "" || h.value != "" && h.value != text || h.name == "GIT_CONFIG_PARAMETERS" && !strings.Contains(strings.ToLower(text), "core.hookspath") {
				continue
			}
			s.bypass(Environment, program, h.name+"="+text)
		}
	}
	if n, ok := s.vars["GIT_CONFIG_COUNT"]; ok && n.export {
		for i := range 8 {
			key := s.vars["GIT_CONFIG_KEY_"+string(rune('0'+i))]
			for _, text := range key.alts {
				if strings.EqualFold(text, "core.hooksPath") {
					s.bypass(HooksPath, program, "GIT_CONFIG_KEY_"+string(rune('0'+i))+"="+text)
				}
			}
		}
	}
}

// gitFiles follows the sub-commands that change files of the work tree.
func (s *scanner) gitFiles(sub string, o *options) {
	op := o.operands
	if _, ok := o.get("pathspec-from-file"); ok && sub != "commit" {
		s.undecided("a list of files isn't known")
	}
	switch sub {
	case "checkout":
		switch {
		case o.rest != nil:
			op = o.rest
		case o.has("b B orphan"):
			op = nil
		}
		s.pathspecs(Write, op)
		if o.has("f force") && len(op) < 2 && !o.has("b B orphan") && o.rest == nil {
			s.effect(Write, ".", "git", true, false)
		}
	case "restore":
		if !o.has("S staged") || o.has("W worktree") {
			s.pathspecs(Write, op)
		}
	case "reset":
		if o.has("hard keep merge") {
			s.effect(Write, ".", "git", true, false)
		}
	case "stash":
		switch {
		case len(op) == 0, op[0] == "pop", op[0] == "apply":
			s.effect(Write, ".", "git", true, false)
		case op[0] == "push", op[0] == "save":
			if o.rest != nil {
				s.pathspecs(Write, o.rest)
			} else if op[0] == "push" && len(op) > 1 {
				s.pathspecs(Write, op[1:])
			} else {
				s.effect(Write, ".", "git", true, false)
			}
		}
	case "clean":
		if o.has("n dry-run") {
			return
		}
		if len(op) == 0 {
			op = []string{"."}
		}
		for _, f := range op {
			s.effect(Delete, pathspec(f), "git", true, false)
		}
	case "rm":
		if !o.has("cached n dry-run") {
			for _, f := range op {
				s.effect(Delete, pathspec(f), "git", true, false)
			}
		}
	case "mv":
		if !o.has("n dry-run") {
			s.copy(&program{name: "git", do: moves}, &options{operands: op})
		}
	case "apply", "am":
		if sub == "apply" && (o.has("check stat numstat summary") && !o.has("apply") || o.has("cached")) {
			return
		}
		if sub == "am" && o.has("abort quit skip continue resolved show-current-patch r") {
			return
		}
		dir, _ := o.get("directory")
		if len(op) == 0 || len(op) == 1 && op[0] == "-" {
			if s.stdin != nil {
				s.patchText(s.stdin.text, true, dir, "git", false)
			} else {
				s.patchText("", false, dir, "git", false)
			}
			return
		}
		for _, f := range op {
			text, ok := s.file(f)
			if !ok && strings.HasPrefix(f, procSubst) {
				text, ok = f[len(procSubst):], true
			}
			s.patchText(text, ok, dir, "git", false)
		}
	}
}

func (s *scanner) pathspecs(k Kind, list []string) {
	for _, f := range list {
		if !s.spend(1) {
			return
		}
		s.effect(k, pathspec(f), "git", true, false)
	}
}

// pathspec is the path in a pathspec, in which wildcards match although the
// shell has left them, and a dot in front as well.
func pathspec(f string) string {
	if rest, ok := strings.CutPrefix(f, ":("); ok {
		magic, path, ok := strings.Cut(rest, ")")
		if !ok || strings.Contains(magic, "exclude") {
			return ""
		}
		if strings.Contains(magic, "literal") {
			return path
		}
		if f = path; strings.Contains(magic, "icase") {
			f = strings.ToLower(path)
		}
	} else if strings.HasPrefix(f, ":/") {
		f = f[2:]
	} else if strings.HasPrefix(f, ":!") || strings.HasPrefix(f, ":^") {
		return ""
	}
	if f == "" {
		return "."
	}
	// Here * matches slashes, too.
	if strings.IndexByte(f, '*') >= 0 {
		f = strings.ReplaceAll(f, "*", hole)
	}
	return wild(f)
}

// gitOther follows the sub-commands that are no rows.
func (s *scanner) gitOther(sub string, rest []string) {
	s.unknown()
	switch sub {
	case "config":
		s.gitConfig(rest)
	case "diff", "log", "show", "format-patch", "archive", "bundle", "rev-list":
		o := parse(rest, "o:", "output= output-directory=", false)
		if sub != "archive" && sub != "diff" && sub != "log" && sub != "show" {
			return
		}
		if f, ok := o.get("output"); ok {
			s.effect(Write, f, "git", false, false)
		} else if f, ok := o.get("o"); ok && sub == "archive" {
			s.effect(Write, f, "git", false, false)
		}
	case "checkout-index":
		o := parse(rest, "", "prefix= stage=", false)
		s.pathspecs(Write, o.operands)
		if o.has("a all") {
			s.effect(Write, ".", "git", true, false)
		}
	case "submodule", "bisect", "filter-branch":
		for i, a := range rest {
			switch {
			case sub == "submodule" && a == "foreach":
				words := rest[i+1:]
				for len(words) > 0 && strings.HasPrefix(words[0], "-") {
					words = words[1:]
				}
				s.nest(strings.Join(words, " "), nil)
				return
			case sub == "bisect" && a == "run":
				s.run(rest[i+1:])
				return
			}
		}
		if sub == "filter-branch" {
			s.undecided("a script of git filter-branch isn't followed")
		}
	}
}

// gitConfig looks for changes of where hooks are, and for aliases.
func (s *scanner) gitConfig(rest []string) {
	o := parse(rest, "f:", "file= type= blob= value= comment= default= get get-all get-regexp get-urlmatch list unset unset-all add replace-all remove-section rename-section edit", false)
	op := o.operands
	change := o.has("unset unset-all add replace-all remove-section rename-section")
	if len(op) > 0 {
		switch op[0] {
		case "set", "unset", "remove-section", "rename-section":
			change, op = true, op[1:]
		case "get", "list":
			return
		case "edit":
			s.undecided("what is edited in git's settings isn't known")
			return
		}
	}
	if f, ok := o.get("f file"); ok && (change || len(op) > 1) {
		s.effect(Write, f, "git", false, false)
	}
	if o.has("get get-all get-regexp get-urlmatch list l") || len(op) == 0 {
		return
	}
	key := strings.ToLower(op[0])
	section := o.has("remove-section rename-section") || key == "core"
	switch {
	case !change && len(op) < 2: // It is read.
	case key == "core.hookspath", change && section && key == "core":
		s.bypass(HooksPath, "git config", strings.Join(rest, " "))
	case strings.HasPrefix(key, "alias.") && len(op) > 1:
		// A commit in an alias is a commit that is to come.
		n := len(s.rep.Effects)
		s.gitAlias(op[1], nil, nil, maxDepth)
		s.rep.Effects = s.rep.Effects[:n]
	}
}
