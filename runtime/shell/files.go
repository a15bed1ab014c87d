package shell

import (
	"strings"

	"github.com/flow-agents/flow-agents/runtime/event"
	"github.com/flow-agents/flow-agents/runtime/patch"
)

// copy follows cp, mv, ln and what is like them.
func (s *scanner) copy(p *program, o *options) {
	op := o.operands
	to, folder := o.get("t target-directory")
	if p.name == "rsync" || p.name == "scp" {
		folder = false
		to = ""
	}
	from := op
	alone := p.do == links && len(op) == 1 && !folder // ln x: makes the link here
	if alone {
		to, folder = ".", true
	}
	if !folder {
		if len(op) < 2 {
			return
		}
		from, to = op[:len(op)-1], op[len(op)-1]
	}
	if remote(p, to) {
		return
	}
	tree := p.do == moves || p.name == "rsync" || o.has("r R recursive a archive")
	exactName := o.has("T no-target-directory")
	if strings.HasSuffix(to, "/") || strings.HasSuffix(to, "/.") || to == "." || to == ".." || strings.HasSuffix(to, "/..") || len(from) > 1 {
		folder = true
	}
	if !folder {
		s.effect(Write, to, p.name, tree, false)
	}
	for _, f := range from {
		if !s.spend(1) {
			return
		}
		switch {
		case p.do == moves, o.has("remove-source-files"):
			s.effect(Delete, f, p.name, true, false)
		case p.do == links, p.name == "cp" && o.has("l link s symbolic-link"):
			s.effect(Link, f, p.name, true, false)
		}
		if !folder && exactName {
			continue
		}
		name := base(strings.TrimSuffix(f, "/."))
		if f == "." || f == ".." || strings.HasSuffix(f, "/.") || strings.HasSuffix(f, "/") && p.name == "rsync" {
			s.effect(Write, to, p.name, true, false)
			continue
		}
		if text, ok := s.file(f); ok && !folder {
			s.wrote(to, text, false)
		}
		s.effect(Write, join(to, name), p.name, tree, !folder)
	}
}

// remote reports whether a path is on another machine.
func remote(p *program, path string) bool {
	if p.name != "rsync" && p.name != "scp" {
		return false
	}
	i := strings.IndexByte(path, ':')
	return i > 0 && strings.IndexByte(path[:i], '/') < 0
}

func (s *scanner) tee(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	text := hole + "\n"
	if s.stdin != nil {
		text = s.stdin.text
	}
	for _, f := range o.operands {
		if strings.HasPrefix(f, procSubst) {
			continue
		}
		s.effect(Write, f, p.name, false, false)
		s.wrote(f, text, o.has("a append"))
	}
	if p.name == "tee" {
		s.emit(text)
	}
}

func (s *scanner) cat(args []string) {
	o := parse(args, "", "", false)
	if len(o.operands) == 0 {
		o.operands = []string{"-"}
	}
	for _, f := range o.operands {
		text, ok := s.file(f)
		switch {
		case ok:
			s.emit(text)
		case (f == "-" || f == "/dev/stdin") && s.stdin != nil:
			s.emit(s.stdin.text)
		case strings.HasPrefix(f, procSubst):
			s.emit(f[len(procSubst):])
		default:
			s.unknown()
		}
	}
}

// prints follows programs that print their arguments.
func (s *scanner) prints(p *program, args []string) {
	switch {
	case s.out == nil:
	case p.name == "echo":
		s.echo(args)
	case p.name == "printf":
		s.printf(args)
	default:
		o := parse(args, p.short, p.long, false)
		for _, f := range o.operands {
			switch p.name {
			case "basename":
				f = base(f)
				if len(o.operands) > 1 {
					f = strings.TrimSuffix(f, o.operands[1])
				}
				s.line(f)
				return
			case "dirname":
				if f = strings.TrimSuffix(dirOf(f), "/"); f == "" {
					f = "."
				}
			}
			s.line(f)
		}
		if len(o.operands) == 0 {
			s.unknown()
		}
	}
}

// misc follows programs whose options are like nobody else's.
func (s *scanner) misc(p *program, args []string) {
	switch p.name {
	case "openssl":
		for i, a := range args {
			if a == "-out" && i+1 < len(args) {
				s.effect(Write, args[i+1], p.name, false, false)
			}
		}
	case "tsc":
		for i, a := range args {
			if a == "--init" {
				s.effect(Write, p.arg, p.name, false, false)
			}
			if strings.EqualFold(a, "--outFile") && i+1 < len(args) {
				s.effect(Write, args[i+1], p.name, false, false)
			}
		}
	case "zip":
		if o := parse(args, "b:n:P:x:i:t:", "", false); len(o.operands) > 0 {
			s.effect(Write, o.operands[0], p.name, false, false)
		}
	case "docker":
		o := parse(args, "", "", false)
		if op := o.operands; len(op) > 2 && op[0] == "cp" && strings.IndexByte(op[len(op)-1], ':') < 0 {
			to := op[len(op)-1]
			s.effect(Write, to, p.name, true, false)
			s.effect(Write, join(to, base(op[len(op)-2])), p.name, true, true)
		}
	}
	if p.arg != "" {
		s.unknown()
	}
}

func (s *scanner) tar(args []string) {
	const short = "f:C:T:X:g:I:b:H:L:N:V:K:"
	const long = "file= directory= files-from= exclude= exclude-from= transform= xform= strip-components= use-compress-program= create extract get list append update delete to-stdout to-command= checkpoint-action= remove-files"
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		// tar xf a.tar: the first word is a cluster, whose values follow in turn.
		var list []string
		rest := args[1:]
		for _, c := range args[0] {
			list = append(list, "-"+string(c))
			if i := strings.IndexRune(short, c); c != ':' && i >= 0 && len(rest) > 0 {
				list, rest = append(list, rest[0]), rest[1:]
			}
		}
		args = append(list, rest...)
	}
	o := parse(args, short, long, false)
	dir, in := o.get("C directory")
	at := func(f string) string {
		if in {
			return join(dir, f)
		}
		return f
	}
	o.each("I use-compress-program to-command", func(v string) { s.nest(v, nil) })
	o.each("checkpoint-action", func(v string) {
		if c, ok := strings.CutPrefix(v, "exec="); ok {
			s.nest(c, nil)
		}
	})
	switch {
	case o.has("x extract get") && !o.has("O to-stdout"):
		for _, f := range o.operands {
			s.effect(Write, at(f), "tar", true, false)
		}
		if len(o.operands) == 0 {
			s.undecided("what is in an archive isn't known")
		}
	case o.has("c create r append u update A delete"):
		if f, ok := o.get("f file"); ok && f != "-" {
			s.effect(Write, f, "tar", false, false)
		}
		if o.has("remove-files") {
			s.all(Delete, o.operands, "tar", true)
		}
	}
	s.unknown()
}

func (s *scanner) unzip(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	s.unknown()
	op := o.operands
	dir, _ := o.get("d")
	if p.arg == "7z" {
		if len(op) == 0 || op[0] != "x" && op[0] != "e" {
			return
		}
		s.undecided("what is in an archive isn't known")
		return
	}
	if o.has("l p t v Z z c") || len(op) == 0 {
		return
	}
	for _, f := range op[1:] {
		s.effect(Write, join(dir, wild(f)), p.name, false, false)
	}
	if len(op) == 1 {
		s.undecided("what is in an archive isn't known")
	}
}

func (s *scanner) gunzip(p *program, args []string) {
	o := parse(args, "S:T:", "suffix=", false)
	s.unknown()
	if o.has("c stdout to-stdout l list t test") {
		return
	}
	unpack := p.name == "gunzip" || p.name == "bunzip" || p.name == "unxz" || o.has("d decompress uncompress")
	for _, f := range o.operands {
		if !o.has("k keep") {
			s.effect(Delete, f, p.name, false, false)
		}
		if unpack {
			if i := strings.LastIndexByte(f, '.'); i > 0 {
				s.effect(Write, f[:i], p.name, false, false)
			}
		} else {
			s.effect(Write, f+"."+star, p.name, false, false)
		}
	}
}

func (s *scanner) curl(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	o.each(p.out, func(v string) { s.save(v, p.name) })
	dir, _ := o.get("output-dir dir d")
	if p.name == "curl" {
		dir, _ = o.get("output-dir")
	}
	o.each("o output out", func(v string) { s.save(join(dir, v), p.name) })
	if p.name != "curl" && !o.has("o out") || o.has("O remote-name remote-name-all") {
		urls := o.operands
		o.each("url", func(v string) { urls = append(urls, v) })
		for _, u := range urls {
			s.effect(Write, join(dir, urlBase(u)), p.name, false, false)
		}
		if o.has("J remote-header-name") {
			s.effect(Write, hole, p.name, false, false)
		}
	}
	s.unknown()
}

// save writes a file, unless it is the standard output.
func (s *scanner) save(path, program string) {
	if path != "-" {
		s.effect(Write, path, program, false, false)
	}
}

func (s *scanner) wget(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	o.each(p.out, func(v string) { s.save(v, p.name) })
	if !o.has("O output-document spider") {
		dir, _ := o.get("P directory-prefix")
		for _, u := range o.operands {
			s.effect(Write, join(dir, urlBase(u)), p.name, false, false)
		}
		if o.has("i input-file r recursive m mirror") {
			s.undecided("what is fetched isn't known")
		}
	}
	s.unknown()
}

// urlBase is the name that a download gets.
func urlBase(url string) string {
	url = tame(url)
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	if _, rest, ok := strings.Cut(url, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			url = rest[i:]
		} else {
			return "index.html"
		}
	}
	if b := base(url); b != "" && b != "/" {
		return b
	}
	return "index.html"
}

func (s *scanner) patch(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	s.unknown()
	if o.has("dry-run C") {
		return
	}
	dir, _ := o.get("d directory")
	if out, ok := o.get("o output"); ok {
		s.save(join(dir, out), p.name)
		return
	}
	if len(o.operands) > 0 {
		s.effect(Write, join(dir, o.operands[0]), p.name, false, false)
		return
	}
	text, ok := "", false
	if in, given := o.get("i input"); given {
		text, ok = s.file(in)
	} else if s.stdin != nil {
		text, ok = s.stdin.text, true
	}
	s.patchText(text, ok, dir, p.name, false)
}

// patchText follows a patch. must: text that is none makes the report
// undecided.
func (s *scanner) patchText(text string, ok bool, dir, program string, must bool) {
	if !ok || !known(text) {
		s.undecided("the text of a patch isn't known")
		if !ok {
			return
		}
	}
	list := patch.Targets(text)
	if len(list) > event.MaxTargets {
		s.undecided("the patch changes too many files")
	}
	if len(list) == 0 && must {
		s.undecided("the text of a patch isn't known")
	}
	for _, t := range list {
		if !s.spend(1) {
			return
		}
		k := Write
		if t.Op == event.Delete || t.Op == event.MoveFrom {
			k = Delete
		}
		s.effect(k, join(dir, t.Path), program, false, false)
	}
}

func (s *scanner) applyPatch(args []string) {
	switch {
	case len(args) > 0:
		s.patchText(strings.Join(args, "\n"), true, "", "apply_patch", true)
	case s.stdin != nil:
		s.patchText(s.stdin.text, true, "", "apply_patch", true)
	default:
		s.undecided("the text of a patch isn't known")
	}
	s.unknown()
}

// formatter follows tools whose sub-command or option says whether they write.
func (s *scanner) formatter(p *program, args []string) {
	o := parse(args, p.short, p.long, false)
	o.each(p.out, func(v string) { s.save(v, p.name) })
	s.unknown()
	op := o.operands
	sub := ""
	if len(op) > 0 {
		sub = op[0]
	}
	switch {
	case p.do == isFormatter && p.name == "ruff":
		if len(op) > 0 && (sub == "format" && !o.has("check diff") || sub == "check" && o.has("fix unsafe-fixes")) {
			s.all(Write, op[1:], p.name, false)
		}
	case p.do == isFormatter:
		if p.off == "" || !o.has(p.off) {
			s.all(Write, op, p.name, false)
		}
	case o.has("init"), p.name != "eslint" && sub == "init":
		for _, f := range strings.Fields(p.arg) {
			s.effect(Write, f, p.name, false, false)
		}
		if p.name == "biome" && o.has("jsonc") {
			s.effect(Write, "biome.jsonc", p.name, false, false)
		}
	case p.name == "eslint":
		if o.has("fix") {
			s.all(Write, op, p.name, false)
		}
	case p.name == "biome" && sub == "migrate":
		if o.has("write fix") {
			s.effect(Write, "biome.json", p.name, false, false)
			s.effect(Write, "biome.jsonc", p.name, false, false)
		}
	case o.has("write fix apply apply-unsafe"), sub == "fmt":
		s.all(Write, op[min(1, len(op)):], p.name, false)
	}
}
