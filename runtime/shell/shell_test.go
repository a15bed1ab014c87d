package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/flow-agents/flow-agents/internal/golden"
)

// home is the environment of the tests.
func home(name string) (string, bool) {
	switch name {
	case "HOME":
		return "/home/me", true
	case "EMPTY":
		return "", true
	}
	return "", false
}

// show writes a report in one line: effects as letter, marks and path, bypasses
// as !rule, and ? for undecided.
func show(r Report) string {
	var out []string
	for _, e := range r.Effects {
		s := e.Kind.String()[:1]
		for _, m := range []struct {
			on   bool
			mark string
		}{{e.Glob, "*"}, {e.Tree, "/"}, {e.IfDir, "~"}, {e.DirGlob, "#"}} {
			if m.on {
				s += m.mark
			}
		}
		s += ":"
		if e.Dir != "" {
			s += e.Dir + "|"
		}
		out = append(out, s+strings.ReplaceAll(e.Path, " ", "_"))
	}
	for _, b := range r.Bypasses {
		out = append(out, "!"+string(b.Rule))
	}
	if r.Undecided {
		out = append(out, "?")
	}
	return strings.Join(out, " ")
}

// Each file holds one row for each command line, "\n" in it for a new line,
// then a tab, then what show says of it.
func TestCommands(t *testing.T) {
	for file, d := range map[string]Dialect{"bash": Bash, "git": Bash, "code": Bash, "powershell": PowerShell, "cmd": Cmd} {
		t.Run(file, func(t *testing.T) {
			path := filepath.Join("testdata", file+".tsv")
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			var out strings.Builder
			for line := range strings.Lines(string(data)) {
				line = strings.TrimSuffix(line, "\n")
				if line == "" || strings.HasPrefix(line, "#") {
					out.WriteString(line + "\n")
					continue
				}
				command, want, _ := strings.Cut(line, "\t")
				got := show(Scan(strings.ReplaceAll(command, `\n`, "\n"), Options{Dialect: d, Env: home}))
				if !golden.Updating() && got != want {
					t.Errorf("%s\n  got  %s\n  want %s", command, got, want)
				}
				out.WriteString(command + "\t" + got + "\n")
			}
			if golden.Updating() {
				require.NoError(t, os.WriteFile(path, []byte(out.String()), 0o644))
			}
		})
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		pattern, glob string
		want          bool
	}{
		{".eslintrc*", ".eslintrc*", true}, {"*", ".eslintrc*", false}, {"**", ".eslintrc*", true}, {".*", ".eslintrc*", true},
		{"*.json", "biome.json", true}, {"*.js", "biome.json", false}, {"b?ome.json", "biome.json", true}, {"[ab]iome.json", "biome.json", true},
		{"eslint.*.js", "eslint.config.*", true}, {"src*", "eslint.config.*", false}, {`\*`, "biome.json", false}, {"biome.json", "biome.json", true},
		{".eslint**", ".eslintrc*", true}, {"**.log", ".eslintrc*", true}, {"", "", true}, {"a", "?", true}, {"?", ".a", false},
	} {
		require.Equal(t, c.want, Overlap(c.pattern, c.glob), "%s and %s", c.pattern, c.glob)
	}
}

// The worst that fits in the limits ends soon.
func TestBounds(t *testing.T) {
	rep := func(s string) string { return strings.Repeat(s, MaxInput/len(s)) }
	for name, in := range map[string]string{
		"long": rep("rm a; ") + rep("x"), "parens": rep("("), "braces": rep("{"), "closed": rep("{ "), "subst": rep("$("), "quotes": rep(`"$(`), "backquotes": rep("`"),
		"expansion": "rm " + strings.Repeat("{a,b}", 16), "many": rep("rm {a,b}{c,d} "), "variables": rep("a=$a$a;"), "doubling": "a=xxxxxxxx;" + rep("a=$a$a;"),
		"names": rep("a1=1;b=2;"), "loops": strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 100) + "rm $i" + strings.Repeat(";done", 100),
		"whiles": strings.Repeat("while read x; do ", 150) + "rm $x" + strings.Repeat(";done", 150), "self": "f() { f; f; f; f; }; f",
		"evals": "x='eval \"$x\"; eval \"$x\"'; eval \"$x\"", "ifs": rep("if a; then "), "pipes": rep("echo a|"), "ands": rep("a&&"), "redirects": rep(">a "),
		"heredocs": rep("<<a "), "params": rep("${a%"), "suffix": "a=" + strings.Repeat("a", 250) + ";" + rep("b=${a%*b*c};"), "arith": rep("$(("), "cases": rep("case a in a) "),
		"alternatives": rep("if a; then x=1; y=2; else x=3; y=4; fi; "), "words": "for i in {1..200}; do rm " + strings.Repeat("a ", 20000) + "; done",
		"python": "python3 -c '" + rep("(") + "'", "python calls": "python3 -c '" + rep("open(") + "'", "node": "node -e '" + rep("a.b(") + "'", "concat": `python3 -c '` + rep(`"a"+`) + `'`,
		"sed": "sed '" + rep("s/a/b/w f;") + "'", "awk": "awk '" + rep("print>") + "'", "find": "find " + rep("-exec a "), "xargs": rep("xargs "), "env": rep("env "), "sudo": rep("sudo "),
		"not": rep("python3 -c '!!"), "bangs": "python3 -c '" + rep("!") + "'", "aliases": "alias a=b b=a; a; " + rep("alias x='x y';x;"), "subshells": rep("(a=1);"),
		"git": "git " + rep("-c a=b "), "chain": "cat <<E | sh | sh | sh\n" + rep("echo rm x|sh;"), "coproc": rep("coproc "), "time": rep("time "), "functions": rep("function a "),
	} {
		for d := Bash; d <= Cmd; d++ {
			start := time.Now()
			Scan(in, Options{Dialect: d})
			if took := time.Since(start); took > time.Second {
				t.Errorf("%s, dialect %d: %s", name, d, took)
			} else if took > 100*time.Millisecond {
				t.Logf("%s, dialect %d: %s", name, d, took)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, file := range []string{"bash", "git", "code", "powershell", "cmd"} {
		data, err := os.ReadFile(filepath.Join("testdata", file+".tsv"))
		require.NoError(f, err)
		for line := range strings.Lines(string(data)) {
			command, _, _ := strings.Cut(line, "\t")
			f.Add(strings.ReplaceAll(command, `\n`, "\n"), byte(0))
		}
	}
	f.Fuzz(func(t *testing.T, command string, d byte) {
		start := time.Now()
		r := Scan(command, Options{Dialect: Dialect(d % 3), Env: home})
		if took := time.Since(start); took > 2*time.Second {
			t.Fatalf("%s for %d bytes", took, len(command))
		}
		if len(r.Effects) > MaxEffects || r.Undecided != (r.Why != "") {
			t.Fatal("the report is not as promised")
		}
		for _, e := range r.Effects {
			if e.Glob {
				Overlap(base(e.Path), ".eslintrc*")
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct{ name, command string }{
		{"plain", `npm run lint -- --max-warnings 0 src/components && git add -A && git commit -m "fix: lint" 2>&1 | tail -5`},
		{"write", `cd packages/web && for f in a b c; do sed -i 's/error/off/' "$f/.eslintrc.json"; done; echo done > out.log`},
		{"code", `python3 -c "import json; d=json.load(open('a.json')); d['x']=1; json.dump(d, open('b.json','w'))"`},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Scan(c.command, Options{})
			}
		})
	}
}
