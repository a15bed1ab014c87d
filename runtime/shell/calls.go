package shell

import "strings"

// A meaning is what a call does.
type meaning uint8

const (
	writesFirst meaning = iota // the file of the first argument
	deletesAll
	movesFirst  // the first one goes, the second one is written
	copiesFirst // the second one is written
	linksFirst
	chmods
	opens      // depends on the mode
	onReceiver // writes what it is called on
	deletesReceiver
	movesReceiver
	runsCommand
	runsCodeText
	joins
	passes
	reads
)

type call struct {
	name  string
	means meaning
	// Other things have methods of that name, too: it counts only if it is
	// called on a module that is about files, or on nothing.
	common bool
}

// calls is what calls of the languages do, by the last part of their name.
var calls = [...]call{
	{"Popen", runsCommand, false}, {"File", passes, false}, {"Function", runsCodeText, false}, {"Path", joins, false}, {"Pathname", passes, false},
	{"PurePath", joins, false}, {"String", passes, false}, {"URL", passes, false}, {"__import__", passes, false}, {"abspath", passes, false},
	{"absolute", passes, false}, {"appendFile", writesFirst, false}, {"appendFileSync", writesFirst, false}, {"binwrite", writesFirst, false},
	{"call", runsCommand, false}, {"check_call", runsCommand, false}, {"check_output", runsCommand, false}, {"chmod", chmods, false},
	{"chmodSync", chmods, false}, {"chown", chmods, false}, {"copy", copiesFirst, true}, {"copy2", copiesFirst, false}, {"copyFile", copiesFirst, false},
	{"copyFileSync", copiesFirst, false}, {"copySync", copiesFirst, false}, {"copyfile", copiesFirst, false}, {"copytree", copiesFirst, false},
	{"cp", copiesFirst, false}, {"cpSync", copiesFirst, false}, {"createWriteStream", writesFirst, false}, {"delete", deletesAll, true},
	{"eval", runsCodeText, false}, {"exec", runsCommand, false}, {"execFile", runsCommand, false}, {"execFileSync", runsCommand, false},
	{"execSync", runsCommand, false}, {"exists", reads, false}, {"existsSync", reads, false}, {"expanduser", passes, false}, {"fileURLToPath", passes, false},
	{"file_get_contents", reads, false}, {"file_put_contents", writesFirst, false}, {"fopen", opens, false}, {"getoutput", runsCommand, false},
	{"hardlink_to", onReceiver, false}, {"import", passes, false}, {"import_module", passes, false}, {"input", opens, true}, {"join", joins, false}, {"joinpath", joins, false},
	{"link", linksFirst, true}, {"linkSync", linksFirst, false}, {"log", reads, false}, {"ln_s", linksFirst, false}, {"ln_sf", linksFirst, false}, {"move", movesFirst, true},
	{"moveSync", movesFirst, false}, {"mv", movesFirst, false}, {"new", opens, true}, {"normalize", passes, false}, {"open", opens, false}, {"openSync", opens, false},
	{"outputFile", writesFirst, false}, {"outputFileSync", writesFirst, false}, {"outputJson", writesFirst, false}, {"outputJsonSync", writesFirst, false},
	{"passthru", runsCommand, false}, {"popen", runsCommand, false}, {"print", reads, false}, {"print_r", reads, false}, {"puts", reads, false}, {"read", reads, false},
	{"readFile", reads, false}, {"readFileSync", reads, false}, {"readJson", reads, false}, {"readJsonSync", reads, false}, {"readTextFile", reads, false},
	{"readTextFileSync", reads, false}, {"realpath", passes, false}, {"remove", deletesAll, true}, {"removeSync", deletesAll, false}, {"removedirs", deletesAll, false},
	{"rename", movesFirst, true}, {"renameSync", movesFirst, false}, {"renames", movesFirst, false}, {"replace", movesFirst, true}, {"require", passes, false},
	{"resolve", joins, false}, {"rm", deletesAll, true}, {"rmSync", deletesAll, false}, {"rm_f", deletesAll, false}, {"rm_r", deletesAll, false}, {"rm_rf", deletesAll, false},
	{"rmdir", deletesAll, true}, {"rmdirSync", deletesAll, false}, {"rmtree", deletesAll, false}, {"run", runsCommand, false}, {"shell_exec", runsCommand, false},
	{"spawn", runsCommand, false}, {"spawnSync", runsCommand, false}, {"str", passes, false}, {"symlink", linksFirst, false}, {"symlinkSync", linksFirst, false},
	{"symlink_to", onReceiver, false}, {"system", runsCommand, false}, {"touch", writesFirst, true}, {"truncate", writesFirst, true}, {"truncateSync", writesFirst, false},
	{"unlink", deletesAll, true}, {"unlinkSync", deletesAll, false}, {"utime", writesFirst, false}, {"utimesSync", writesFirst, false}, {"write", writesFirst, true},
	{"writeFile", writesFirst, false}, {"writeFileSync", writesFirst, false}, {"writeJson", writesFirst, false}, {"writeJsonSync", writesFirst, false},
	{"writeTextFile", writesFirst, false}, {"writeTextFileSync", writesFirst, false}, {"write_bytes", onReceiver, false}, {"write_text", onReceiver, false},
}

const fileModules = "os fs fse shutil File IO Bun Deno FileUtils promises fsp Dir posix node:fs node:fs/promises fs/promises fs-extra pathlib fileinput io codecs"

func verb(name string) *call {
	for i := range calls {
		if calls[i].name == name {
			return &calls[i]
		}
	}
	return nil
}

// callee reads the arguments of a call and records what it does. recv is what
// it is called on. It returns what the call may come to.
func (c *coder) callee(path string, recv []string) ([]string, bool) {
	i := strings.LastIndexByte(path, '.')
	name, module := path[i+1:], ""
	if i >= 0 {
		module = path[:i]
	}
	loose := len(c.loose)
	args := c.args()
	v := verb(name)
	if v == nil {
		return unknownVals, false
	}
	about := module == "" || one(fileModules, module[strings.LastIndexByte(module, '.')+1:]) || c.moduleVar(module)
	means := v.means
	if v.common && !about {
		// On a path: Path('x').unlink()
		switch {
		case recv == nil || only1(recv, hole):
			return unknownVals, false
		case name == "unlink" || name == "rmdir":
			means = deletesReceiver
		case name == "rename" || name == "replace":
			means = movesReceiver
		case name == "touch" || name == "truncate":
			means = onReceiver
		default:
			return unknownVals, false
		}
		if means == movesReceiver && len(args) != 1 {
			return unknownVals, false // of a string
		}
	}
	at := func(i int) []string {
		if i < len(args) {
			return args[i].vals
		}
		return nil
	}
	switch means {
	case writesFirst:
		c.target(Write, at(0))
	case deletesAll:
		for _, a := range args {
			if a.name == "" && a.word == "" || len(args) == 1 || len(a.vals) > 0 && !only1(a.vals, hole) {
				c.target(Delete, a.vals)
			}
		}
		if len(args) > 0 && only1(args[0].vals, hole) {
			c.target(Delete, args[0].vals)
		}
	case movesFirst:
		c.target(Delete, at(0))
		c.into(at(1), at(0))
	case copiesFirst:
		c.into(at(1), at(0))
	case linksFirst:
		c.target(Link, at(0))
		c.target(Write, at(1))
	case chmods:
		if (c.lang == "perl" || c.lang == "ruby") && len(args) > 1 {
			c.target(Permission, at(1))
		} else {
			c.target(Permission, at(0))
		}
	case onReceiver:
		c.target(Write, recv)
		if name == "symlink_to" || name == "hardlink_to" {
			c.target(Link, at(0))
		}
	case deletesReceiver:
		c.target(Delete, recv)
	case movesReceiver:
		c.target(Delete, recv)
		c.target(Write, at(0))
	case opens:
		c.opens(name, about, recv, args)
		c.loose = c.loose[:min(loose, len(c.loose))]
		return at(0), false
	case runsCommand:
		if name == "exec" && (c.lang == "python" || module != "" && c.lang == "js" && !c.moduleVar(module)) && c.lang == "python" {
			for _, t := range at(0) {
				c.s.code(t, c.lang)
			}
			break
		}
		c.command(args)
	case runsCodeText:
		for _, t := range at(0) {
			if c.lang == "perl" || c.lang == "js" || c.lang == "python" || c.lang == "ruby" || c.lang == "php" {
				c.s.code(t, c.lang)
			}
		}
	case joins:
		if name == "join" && recv != nil && !about && module != "path" && module != "os.path" && !strings.HasSuffix(module, "path") && module != "" && len(args) == 1 {
			// 'sep'.join(list)
			return unknownVals, false
		}
		var vals []string
		if name == "joinpath" {
			vals = recv
		}
		for _, a := range args {
			if vals == nil {
				vals = a.vals
			} else {
				vals = c.concat(vals, a.vals, "/")
			}
		}
		if len(args) == 0 {
			return recv, false
		}
		return vals, false
	case passes:
		if len(args) > 0 {
			return at(0), false
		}
		return recv, false
	case reads:
		c.loose = c.loose[:min(loose, len(c.loose))]
	}
	return unknownVals, false
}

// moduleVar reports whether a variable holds a module that is about files.
func (c *coder) moduleVar(name string) bool {
	for _, v := range c.value(name) {
		if one(fileModules, v) {
			return true
		}
	}
	return false
}

func only1(vals []string, text string) bool { return len(vals) == 1 && vals[0] == text }

// target records an effect on the files that an argument may name.
func (c *coder) target(k Kind, vals []string) {
	if len(vals) == 0 {
		c.open = true
		return
	}
	for _, v := range vals {
		if v == "" || only(v, hole) {
			c.open = true
			continue
		}
		c.s.effect(k, v, c.lang, false, false)
	}
}

// into records that something is written to a place, or in it.
func (c *coder) into(to, from []string) {
	c.target(Write, to)
	for _, t := range to {
		for _, f := range from {
			if !only(f, hole) && !only(t, hole) {
				c.s.effect(Write, join(t, base(f)), c.lang, false, true)
			}
		}
	}
}

// opens reads a call that opens a file: what for is told by its mode.
func (c *coder) opens(name string, about bool, recv []string, args []arg) {
	if name == "input" { // of fileinput
		for _, a := range args {
			if a.name == "inplace" && len(args) > 0 {
				c.target(Write, args[0].vals)
			}
		}
		return
	}
	if len(args) == 0 {
		return
	}
	file, mode, flags := args[0].vals, []string(nil), ""
	switch {
	case c.lang == "perl":
		if len(args) == 2 { // open F, ">x"
			for _, v := range args[1].vals {
				if rest := strings.TrimLeft(v, "+<> "); strings.ContainsAny(v[:len(v)-len(rest)], "+>") {
					c.target(Write, []string{rest})
				} else if cmd, ok := strings.CutPrefix(v, "|"); ok {
					c.s.nest(cmd, nil)
				} else if cmd, ok := strings.CutSuffix(v, "|"); ok {
					c.s.nest(cmd, nil)
				}
			}
			return
		}
		if len(args) > 2 {
			mode, file = args[1].vals, args[2].vals
			for _, m := range mode {
				switch {
				case strings.ContainsAny(m, ">+"):
					c.target(Write, file)
					return
				case strings.Contains(m, "|"):
					c.command(args[2:])
					return
				}
			}
		}
		return
	case !about && recv != nil && c.lang == "python":
		// Path('x').open('w')
		file, mode = recv, args[0].vals
		if len(args) == 1 && !short(mode) {
			file, mode = args[0].vals, nil // some module's open
		}
	case len(args) > 1:
		mode = args[1].vals
	}
	for _, a := range args[min(1, len(args)):] {
		flags += " " + a.word
		if a.name == "mode" || a.name == "flags" {
			mode = a.vals
		}
	}
	if c.lang == "python" || c.lang == "js" || c.lang == "ruby" || c.lang == "php" {
		for _, m := range mode {
			if strings.ContainsAny(m, "wax+") && len(m) < 8 {
				c.target(Write, file)
				return
			}
		}
		if strings.Contains(flags, "O_W") || strings.Contains(flags, "O_RDWR") || strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_TRUNC") || strings.Contains(flags, "WRONLY") || strings.Contains(flags, "RDWR") {
			c.target(Write, file)
			return
		}
		if only1(mode, hole) && name != "new" {
			c.target(Write, file)
		}
		for _, f := range file {
			if cmd, ok := strings.CutPrefix(f, "|"); ok && c.lang == "ruby" {
				c.s.nest(cmd, nil)
			}
		}
	}
}

func short(vals []string) bool {
	for _, v := range vals {
		if len(v) > 4 {
			return false
		}
	}
	return true
}

// command follows a command that code starts: as one text, or as a list.
func (c *coder) command(args []arg) {
	if len(args) == 0 {
		return
	}
	argv := args[0].vals
	list := args[0].list
	if len(args) > 1 && args[1].list {
		argv, list = append(argv[:len(argv):len(argv)], args[1].vals...), true
	} else if !list && len(args) > 1 && (c.lang == "perl" || c.lang == "ruby") {
		argv, list = nil, true
		for _, a := range args {
			argv = append(argv, a.vals...)
		}
	}
	if list {
		c.s.run(argv)
		return
	}
	for _, text := range argv {
		if only(text, hole) {
			c.s.undecided("a command that a script starts isn't known")
			continue
		}
		mark := len(c.s.log)
		c.s.nest(text, nil)
		c.s.rollback(mark)
	}
}
