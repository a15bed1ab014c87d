package shell

import "strings"

// An action is what a program does with its operands.
type action uint8

const (
	nothing    action = iota // only the options say what is written
	quiet                    // nothing, and it prints nothing
	filter                   // prints lines of what it reads
	writes                   // writes each operand
	deletes                  // deletes each operand
	permission               // changes the mode or owner of each operand
	writesLast               // writes its last operand, if there are two or more
	copies                   // the last operand, or what is in it, is written
	moves                    // and the others are gone
	links                    // a link to the first ones
	renames                  // moves files to names that aren't known
	inits                    // "init" writes the file of the row's name
	// What follows looks into its arguments in its own way.
	runsRest   // runs its operands as a command
	runsText   // runs its operands as a script
	runsShell  // sh
	runsCode   // python
	runsStdin  // at
	runsScript // npx
	packages   // npm
	isBusybox
	isEnv
	isXargs
	isFind
	isParallel
	isGit
	isSed
	isAwk
	isEd
	isDd
	isTee
	isTar
	isUnzip
	isGunzip
	isCurl
	isWget
	isPatch
	isApplyPatch
	isPrint
	isCat
	isBase
	isPowerShell
	isCmd
	isHooks
	isFormatter
	isTmux
)

// A program is a row of the table: what a program's arguments mean.
type program struct {
	name        string
	do          action
	short, long string // the options, as parse takes them
	// Operands count only if one of these options is given, and nothing counts
	// if one of off is.
	when, off string
	// The values of these options are written, too.
	out string
	// So many operands in front are no files.
	skip int
	// What "init" writes, the language of a runsCode, or the like.
	arg string
}

const (
	eslintFiles   = "eslint.config." + star + " .eslintrc" + star
	prettierFiles = ".prettierrc"
)

// find returns the row of a program, nil if there is none. Versions (python3.12,
// clang-format-15), the endings of Windows, and the g of GNU tools elsewhere
// than on Linux don't matter.
func find(name string) *program {
	if p := row(name); p != nil {
		return p
	}
	short := name
	if i := strings.LastIndexByte(short, '.'); i > 0 {
		switch ext := strings.ToLower(short[i:]); ext {
		case ".exe", ".cmd", ".bat", ".com", ".ps1":
			short = short[:i]
		}
	}
	short = strings.TrimRight(short, "0123456789.")
	short = strings.TrimSuffix(short, "-")
	if p := row(short); p != nil {
		return p
	}
	if len(short) > 2 && short[0] == 'g' {
		if p := row(short[1:]); p != nil {
			return p
		}
	}
	if lower := strings.ToLower(short); lower != short {
		return row(lower)
	}
	return nil
}

func row(name string) *program {
	i, j := 0, len(programs)
	for i < j {
		h := int(uint(i+j) >> 1)
		if programs[h].name < name {
			i = h + 1
		} else {
			j = h
		}
	}
	if i < len(programs) && programs[i].name == name {
		return &programs[i]
	}
	return nil
}

// programs is sorted by name. It is laid out by the linker.
var programs = [...]program{
	{name: "7z", do: isUnzip, arg: "7z"},
	{name: "7za", do: isUnzip, arg: "7z"},
	{name: "apply_patch", do: isApplyPatch},
	{name: "applypatch", do: isApplyPatch},
	{name: "aria2c", do: isCurl, short: "o:d:i:", long: "out= dir="},
	{name: "ash", do: runsShell},
	{name: "at", do: runsStdin},
	{name: "autoflake", do: writes, short: "i", when: "i in-place"},
	{name: "autopep8", do: writes, short: "i", when: "i in-place"},
	{name: "awk", do: isAwk, arg: "awk"},
	{name: "basename", do: isBase},
	{name: "bash", do: runsShell},
	{name: "batch", do: runsStdin},
	{name: "biome", do: inits, arg: "biome.json"},
	{name: "black", do: isFormatter, short: "l:t:", long: "line-length= target-version= config= include= exclude= code= workers=", off: "check diff c code"},
	{name: "bun", do: runsCode, arg: "js"},
	{name: "bundle", do: runsScript},
	{name: "bunx", do: runsScript},
	{name: "bunzip", do: isGunzip},
	{name: "busybox", do: isBusybox},
	{name: "bzip", do: isGunzip},
	{name: "caffeinate", do: runsRest, short: "t:w:"},
	{name: "cat", do: isCat},
	{name: "chattr", do: permission, skip: 1},
	{name: "chflags", do: permission, skip: 1},
	{name: "chgrp", do: permission, long: "reference=", skip: 1},
	{name: "chmod", do: permission, long: "reference=", skip: 1},
	{name: "chown", do: permission, long: "reference=", skip: 1},
	{name: "chronic", do: runsRest},
	{name: "chroot", do: runsRest, skip: 1},
	{name: "chrt", do: runsRest, skip: 1},
	{name: "clang-format", do: writes, short: "i", when: "i"},
	{name: "cmd", do: isCmd},
	{name: "concurrently", do: runsText, short: "n:c:k", long: "names= prefix-colors= max-processes=", arg: "each"},
	{name: "cp", do: copies, short: "t:S:", long: "target-directory= no-target-directory suffix= recursive archive link symbolic-link attributes-only"},
	{name: "csplit", do: nothing, short: "f:b:n:", long: "prefix= suffix-format= digits=", out: "f prefix"},
	{name: "curl", do: isCurl, short: "o:d:H:X:u:A:e:b:c:D:F:T:x:m:K:w:r:E:Y:y:z:C:P:Q:t:", long: "output= dump-header= cookie-jar= trace= trace-ascii= stderr= etag-save= hsts= alt-svc= output-dir= header= data= data-raw= data-binary= data-urlencode= request= user= url= form= max-time= write-out= retry= connect-timeout= upload-file= cookie= proxy= remote-name remote-name-all libcurl=", out: "output dump-header cookie-jar D c trace trace-ascii stderr etag-save hsts alt-svc libcurl"},
	{name: "dash", do: runsShell},
	{name: "dd", do: isDd},
	{name: "deno", do: runsCode, arg: "js"},
	{name: "diff", do: nothing, long: "output=", out: "output"},
	{name: "dirname", do: isBase, arg: "dir"},
	{name: "doas", do: isEnv, short: "u:C:"},
	{name: "docker", do: nothing, arg: "docker"},
	{name: "dos2unix", do: writes},
	{name: "dotenv", do: runsRest, short: "e:f:v:"},
	{name: "dprint", do: inits, arg: "dprint.json"},
	{name: "eatmydata", do: runsRest},
	{name: "echo", do: isPrint},
	{name: "ed", do: isEd, short: "p:", long: "prompt="},
	{name: "egrep", do: filter, skip: 1},
	{name: "emacs", do: isEd, arg: "emacs"},
	{name: "env", do: isEnv, short: "u:C:S:", long: "unset= chdir= split-string= ignore-environment"},
	{name: "eslint", do: inits, short: "c:f:o:", long: "config= format= output-file= ext= rule= ignore-pattern= init fix cache-location=", out: "o output-file", arg: eslintFiles},
	{name: "ex", do: isEd, short: "c:S:T:t:u:r:i:", long: "cmd="},
	{name: "fakeroot", do: runsRest},
	{name: "fd", do: isFind, arg: "fd"},
	{name: "fdfind", do: isFind, arg: "fd"},
	{name: "ffmpeg", do: writesLast},
	{name: "find", do: isFind},
	{name: "fish", do: runsShell},
	{name: "flock", do: runsRest, short: "c:E:w:", long: "command= timeout= conflict-exit-code=", skip: 1, arg: "c command"},
	{name: "gcc", do: nothing, short: "o:", out: "o"},
	{name: "git", do: isGit},
	{name: "gofmt", do: writes, short: "wr:", when: "w"},
	{name: "gofumpt", do: writes, short: "wr:", when: "w"},
	{name: "goimports", do: writes, short: "w", when: "w"},
	{name: "gpg", do: nothing, short: "o:", long: "output=", out: "o output"},
	{name: "grep", do: filter, short: "e:f:m:A:B:C:d:D:", long: "regexp= file=", skip: 1},
	{name: "gunzip", do: isGunzip},
	{name: "gzip", do: isGunzip},
	{name: "head", do: filter, short: "n:c:"},
	{name: "husky", do: isHooks},
	{name: "hyperfine", do: runsText, short: "w:r:n:p:s:N", long: "warmup= runs= prepare= setup=", arg: "each"},
	{name: "iconv", do: nothing, short: "o:f:t:", long: "output=", out: "o output"},
	{name: "indent", do: writes},
	{name: "install", do: copies, short: "m:o:g:t:S:", long: "target-directory= no-target-directory mode= owner= group= suffix= directory", off: "d directory"},
	{name: "ionice", do: runsRest, short: "c:n:p:"},
	{name: "isort", do: isFormatter, long: "settings-file= profile=", off: "check check-only diff c"},
	{name: "jq", do: nothing},
	{name: "jsonlint", do: writes, short: "i", when: "i in-place"},
	{name: "ksh", do: runsShell},
	{name: "lefthook", do: isHooks},
	{name: "link", do: links},
	{name: "ln", do: links, short: "t:S:", long: "target-directory= no-target-directory suffix= symbolic"},
	{name: "ls", do: isPrint, arg: "lines"},
	{name: "markdownlint", do: writes, short: "fc:o:", long: "config= output=", when: "f fix", out: "o output"},
	{name: "mise", do: runsScript},
	{name: "mkdir", do: quiet},
	{name: "mkfifo", do: writes},
	{name: "mknod", do: writes},
	{name: "mksh", do: runsShell},
	{name: "mv", do: moves, short: "t:S:", long: "target-directory= no-target-directory suffix="},
	{name: "nawk", do: isAwk, arg: "awk"},
	{name: "nice", do: runsRest, short: "n:", long: "adjustment="},
	{name: "node", do: runsCode, arg: "js"},
	{name: "nodejs", do: runsCode, arg: "js"},
	{name: "nodemon", do: runsText, short: "x:e:w:", long: "exec=", arg: "x exec"},
	{name: "nohup", do: runsRest},
	{name: "npm", do: packages},
	{name: "npx", do: runsScript, short: "p:c:", long: "package= call="},
	{name: "nvim", do: isEd, short: "c:S:u:i:", long: "cmd="},
	{name: "openssl", do: nothing, arg: "-out"},
	{name: "overcommit", do: isHooks},
	{name: "pandoc", do: nothing, short: "o:", long: "output=", out: "o output"},
	{name: "parallel", do: isParallel},
	{name: "patch", do: isPatch, short: "p:i:d:o:r:D:F:B:z:Y:g:V:b", long: "strip= input= directory= output= reject-file= dry-run"},
	{name: "perl", do: runsCode, arg: "perl"},
	{name: "php", do: runsCode, arg: "php"},
	{name: "pipenv", do: runsScript},
	{name: "pkexec", do: runsRest, long: "user="},
	{name: "pnpm", do: packages},
	{name: "pnpx", do: runsScript},
	{name: "poetry", do: runsScript},
	{name: "powershell", do: isPowerShell},
	{name: "pre-commit", do: isHooks},
	{name: "prename", do: renames, skip: 1, off: "n nono"},
	{name: "prettier", do: writes, short: "w", long: "write config= ignore-path= parser= plugin= log-level=", when: "w write"},
	{name: "printf", do: isPrint},
	{name: "pwsh", do: isPowerShell},
	{name: "pypy", do: runsCode, arg: "python"},
	{name: "python", do: runsCode, arg: "python"},
	{name: "readlink", do: isPrint, arg: "lines"},
	{name: "realpath", do: isPrint, arg: "lines", long: "relative-to= relative-base="},
	{name: "rename", do: renames, skip: 1, off: "n nono"},
	{name: "rg", do: filter, skip: 1},
	{name: "rm", do: deletes},
	{name: "rmdir", do: deletes},
	{name: "rsync", do: copies, short: "e:f:T:n", long: "rsh= filter= exclude= include= exclude-from= include-from= files-from= log-file= backup-dir= suffix= dry-run remove-source-files", off: "n dry-run", out: "log-file"},
	{name: "ruby", do: runsCode, arg: "ruby"},
	{name: "ruff", do: isFormatter, long: "config= select= ignore= fix output-file=", arg: "ruff", out: "output-file"},
	{name: "runuser", do: isEnv, short: "u:c:g:", long: "command= user="},
	{name: "rustfmt", do: writes, long: "config= config-path= edition= emit=", off: "check"},
	{name: "scp", do: copies, short: "P:i:o:F:c:l:S:J:"},
	{name: "script", do: writes, short: "c:O:I:B:T:t::", long: "command= log-out= log-io=", out: "O B log-out log-io", arg: "c command"},
	{name: "sed", do: isSed, short: "e:f:i::l:", long: "expression= file= in-place? line-length="},
	{name: "setfacl", do: permission, short: "m:x:M:X:", long: "modify= remove="},
	{name: "setfattr", do: permission, short: "n:v:x:"},
	{name: "setsid", do: runsRest},
	{name: "sh", do: runsShell},
	{name: "shfmt", do: writes, short: "wi:ln:", when: "w write"},
	{name: "shred", do: writes, short: "n:s:", long: "iterations= size= random-source="},
	{name: "shuf", do: filter, short: "o:n:i:e", long: "output=", out: "o output"},
	{name: "sort", do: filter, short: "o:k:t:S:T:", long: "output= key= field-separator= buffer-size= temporary-directory= parallel=", out: "o output"},
	{name: "split", do: nothing},
	{name: "sponge", do: isTee},
	{name: "standard", do: writes, when: "fix"},
	{name: "stdbuf", do: runsRest, short: "i:o:e:", long: "input= output= error="},
	{name: "strace", do: runsRest, short: "e:o:p:s:a:u:", out: "o"},
	{name: "stylelint", do: writes, short: "c:f:o:", long: "config= formatter= output-file= custom-syntax= fix", when: "fix", out: "o output-file"},
	{name: "su", do: isEnv, short: "c:s:g:", long: "command= shell=", arg: "su"},
	{name: "sudo", do: isEnv, short: "u:g:C:D:h:p:r:t:T:U:R:", long: "user= group= chdir= host= prompt= close-from="},
	{name: "systemd-run", do: runsRest, short: "p:u:E:", long: "property= unit= setenv= uid= working-directory="},
	{name: "tac", do: filter},
	{name: "tail", do: filter, short: "n:c:"},
	{name: "tar", do: isTar},
	{name: "taskset", do: runsRest, skip: 1},
	{name: "tee", do: isTee, long: "append output-error?"},
	{name: "tidy", do: writes, short: "m", when: "m modify"},
	{name: "time", do: runsRest, short: "o:f:", long: "output= format=", out: "o output"},
	{name: "timeout", do: runsRest, short: "s:k:", long: "signal= kill-after=", skip: 1},
	{name: "tmux", do: isTmux},
	{name: "touch", do: writes, short: "d:r:t:", long: "date= reference="},
	{name: "toybox", do: isBusybox},
	{name: "trash", do: deletes},
	{name: "trash-put", do: deletes},
	{name: "truncate", do: writes, short: "s:r:", long: "size= reference="},
	{name: "ts-node", do: runsCode, arg: "js"},
	{name: "tsc", do: nothing, long: "outFile=", arg: "tsconfig.json"},
	{name: "tsx", do: runsCode, arg: "js"},
	{name: "uconv", do: nothing, short: "o:", out: "o"},
	{name: "unbuffer", do: runsRest},
	{name: "uniq", do: writesLast, short: "f:s:w:"},
	{name: "unix2dos", do: writes},
	{name: "unlink", do: deletes},
	{name: "unshare", do: runsRest},
	{name: "unxz", do: isGunzip},
	{name: "unzip", do: isUnzip, short: "d:x:P:", arg: "zip"},
	{name: "uv", do: runsScript},
	{name: "uvx", do: runsScript},
	{name: "vi", do: isEd, short: "c:S:T:u:i:", long: "cmd="},
	{name: "view", do: isEd, short: "c:S:T:u:i:", long: "cmd="},
	{name: "vim", do: isEd, short: "c:S:T:u:i:", long: "cmd="},
	{name: "watch", do: runsText, short: "n:", long: "interval="},
	{name: "wget", do: isWget, short: "O:o:a:P:i:U:t:T:e:B:A:R:D:l:", long: "output-document= output-file= append-output= directory-prefix= input-file= header= post-data= user-agent= tries= timeout= user= password= quiet no-check-certificate spider", out: "O output-document o output-file a append-output"},
	{name: "which", do: isPrint, arg: "lines"},
	{name: "xargs", do: isXargs, short: "a:d:E:I:i::L:l::n:P:s:e::", long: "arg-file= delimiter= replace? max-lines? max-args= max-procs= max-chars= eof?"},
	{name: "xmllint", do: nothing, short: "o:", long: "output=", out: "output o"},
	{name: "xxd", do: writesLast, short: "c:g:l:o:s:n:"},
	{name: "xz", do: isGunzip},
	{name: "yapf", do: writes, short: "i", when: "i in-place"},
	{name: "yarn", do: packages},
	{name: "yes", do: nothing},
	{name: "yq", do: writes, short: "iI:o:p:", when: "i inplace in-place", skip: 1},
	{name: "zip", do: nothing, arg: "zip"},
	{name: "zsh", do: runsShell},
	{name: "zstd", do: nothing, short: "o:", out: "o"},
}

// program follows a program with its arguments, argv[0] among them.
func (s *scanner) program(name string, argv []string) {
	if s.chain >= maxChain {
		s.undecided("a program starts a program, and so on, too often")
		return
	}
	s.chain++
	s.start(name, argv)
	s.chain--
}

func (s *scanner) start(name string, argv []string) {
	p := find(name)
	args := argv[1:]
	if p == nil {
		if text, ok := s.file(argv[0]); ok && argv[0] != name {
			// A script that the line itself has written.
			s.scriptFile(text, args)
			return
		}
		s.unknown()
		return
	}
	if s.special(p, args) {
		return
	}
	o := parse(args, p.short, p.long, p.do == runsRest || p.do == isEnv)
	if p.off != "" && o.has(p.off) {
		s.unknown()
		return
	}
	if p.out != "" {
		o.each(p.out, func(v string) { s.effect(Write, v, p.name, false, false) })
	}
	op := o.operands[min(p.skip, len(o.operands)):]
	if p.when != "" && !o.has(p.when) {
		op = nil
	}
	switch p.do {
	case writes:
		s.all(Write, op, p.name, false)
	case deletes:
		s.all(Delete, op, p.name, o.has("r R recursive") || p.name == "trash" || p.name == "trash-put")
		return
	case permission:
		if len(op) < len(o.operands) && o.has("r w x X s t i a u g o") && !strings.HasPrefix(o.operands[0], "+") && !strings.HasPrefix(o.operands[0], "=") {
			op = o.operands // chmod -x f
		}
		if o.has("reference") || p.name == "setfacl" || p.name == "setfattr" {
			op = o.operands
		}
		s.all(Permission, op, p.name, o.has("R recursive"))
		return
	case writesLast:
		if n := len(op); n > 1 {
			s.effect(Write, op[n-1], p.name, false, false)
		}
	case copies, moves, links:
		s.copy(p, &o)
		return
	case renames:
		for _, f := range op {
			s.effect(Delete, f, p.name, false, false)
			s.effect(Write, dirOf(f)+hole, p.name, false, false)
		}
	case quiet:
		return
	case filter:
		if s.stdin != nil && len(op) == 0 {
			s.emit(s.stdin.text)
			return
		}
	case runsRest:
		if p.arg != "" {
			o.each(p.arg, func(v string) { s.nest(v, nil) })
		}
		s.run(op)
		return
	}
	s.unknown()
}

func (s *scanner) all(k Kind, paths []string, program string, tree bool) {
	for _, f := range paths {
		if !s.spend(1) {
			return
		}
		s.effect(k, f, program, tree, false)
	}
}

// dirOf is the folder in a path, with the slash.
func dirOf(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// special follows a program that reads its arguments in its own way.
func (s *scanner) special(p *program, args []string) bool {
	switch p.do {
	case isGit:
		s.git(args)
	case runsShell:
		s.shell(args)
	case runsCode:
		s.interpreter(p, args)
	case runsText:
		s.runText(p, args)
	case runsStdin:
		if s.stdin != nil {
			s.nest(s.stdin.text, nil)
		}
	case runsScript, packages:
		s.packageRunner(p, args)
	case isBusybox:
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
		if len(args) > 0 {
			s.program(base(args[0]), args)
		}
	case isEnv:
		s.environment(p, args)
	case isXargs:
		s.xargs(p, args)
	case isParallel:
		s.parallel(args)
	case isFind:
		s.find(p, args)
	case isSed:
		s.sed(p, args)
	case isAwk:
		s.awk(p, args)
	case isEd:
		s.editor(p, args)
	case isDd:
		for _, a := range args {
			if f, ok := strings.CutPrefix(a, "of="); ok {
				s.effect(Write, f, p.name, false, false)
			}
		}
		s.unknown()
	case isTee:
		s.tee(p, args)
	case isTar:
		s.tar(args)
	case isUnzip:
		s.unzip(p, args)
	case isGunzip:
		s.gunzip(p, args)
	case isCurl:
		s.curl(p, args)
	case isWget:
		s.wget(p, args)
	case isPatch:
		s.patch(p, args)
	case isApplyPatch:
		s.applyPatch(args)
	case isCat:
		s.cat(args)
	case isPrint, isBase:
		s.prints(p, args)
	case isPowerShell:
		s.powershellProgram(args)
	case isCmd:
		s.cmdProgram(args)
	case isHooks:
		if len(args) > 0 && (args[0] == "uninstall" || args[0] == "--uninstall" || args[0] == "-u") {
			s.bypass(Uninstall, p.name, p.name+" "+args[0])
		}
	case isTmux:
		for _, a := range args {
			if strings.IndexByte(a, ' ') > 0 {
				s.nest(a, nil)
			}
		}
	case inits, isFormatter:
		s.formatter(p, args)
	case nothing:
		s.misc(p, args)
		return p.arg != ""
	default:
		return false
	}
	return true
}
