package evasion

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everything is the shell families, the PowerShell inputs and the edits.
func everything(t *testing.T) (shell, power []Input, edits []Edit) {
	t.Helper()
	shell, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	power, err = LoadPowerShell()
	if err != nil {
		t.Fatal(err)
	}
	edits, err = LoadEdits()
	if err != nil {
		t.Fatal(err)
	}
	return shell, power, edits
}

func TestCorpus(t *testing.T) {
	shell, power, edits := everything(t)
	seen, texts := map[string]bool{}, map[string]string{}
	remote := regexp.MustCompile(`[a-z]+://([^/\s"'@]+@)?([a-z0-9.-]+)|[a-z]+@[a-z0-9.-]+:`)
	everyday, counted := 0, 0
	for _, in := range append(shell, power...) {
		if seen[in.ID()] {
			t.Errorf("%s is there twice", in.ID())
		}
		seen[in.ID()] = true
		text := in.Setup + "\n" + in.Command
		if other := texts[text]; other != "" && in.Family != "powershell" {
			t.Errorf("%s and %s are the same", other, in.ID())
		}
		texts[text] = in.ID()
		for _, host := range remote.FindAllStringSubmatch(text, -1) {
			if name := host[2]; name != "localhost" && name != "127.0.0.1" && !strings.HasSuffix(name, "example.test") {
				t.Errorf("%s names a remote host: %s", in.ID(), host[0])
			}
		}
		if (in.Label == DetectAfter) != (in.Hidden != "") && in.Family != "powershell" && in.Open == "" {
			t.Errorf("%s: is %s and hidden: %q; hidden belongs to %s", in.ID(), in.Label, in.Hidden, DetectAfter)
		}
		if in.Label == Unlabelled {
			t.Errorf("%s has no label yet", in.ID())
		}
		if in.Everyday() && in.Label != MustAllow && in.Open == "" {
			t.Errorf("%s is an everyday input and %s", in.ID(), in.Label)
		}
	}
	table := map[string]int{}
	for _, in := range append(shell, power...) {
		if in.Open != "" {
			table[in.Family+" open"]++
		} else {
			table[in.Family+" "+string(in.Label)]++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(table)) {
		t.Logf("%4d %s", table[line], line)
	}
	for _, in := range shell {
		if in.Open != "" {
			continue
		}
		counted++
		if in.Everyday() {
			everyday++
		}
	}
	if counted < 700 || 2*everyday < counted {
		t.Errorf("%d shell inputs, %d of them everyday; wanted are 700, half of them everyday", counted, everyday)
	}
	if len(power) < 80 || len(edits) < 80 {
		t.Errorf("%d PowerShell inputs and %d edits; wanted are 80 of each", len(power), len(edits))
	}
	for _, e := range edits {
		if seen["edit/"+e.ID] {
			t.Errorf("edit %s is there twice", e.ID)
		}
		seen["edit/"+e.ID] = true
		if e.Label != MustDeny && e.Label != MustAllow || e.Tool == "" || len(e.Input) == 0 {
			t.Errorf("edit %s: label, tool or input is missing or wrong", e.ID)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"text\n":                           "x.txt:1: before the first input",
		"=== a\nrun\n":                     `x.txt:2: "run" is none of`,
		"=== a\nstart: dirty\n":            "x.txt:2: start is clean",
		"=== a\nmust-deny\n=== b\n?\ntrue": "x/a has no verdict or no command",
		"=== a\n":                          "x/a has no verdict or no command",
	} {
		if _, err := parse("x.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	list, err := parse("x.txt", "# about\n\n=== a\nneeds: jq zsh\nmust-deny: f changed\nx\n\ny\n\n=== b\n?\nz\n")
	if err != nil || len(list) != 2 || list[0].Command != "x\n\ny" || list[0].Shows != "f changed" || len(list[0].Needs) != 2 || list[1].Label != Unlabelled {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestExpand(t *testing.T) {
	in := Input{Command: "cp {REPO}/a {TMP}/b {HOME}"}
	if got := in.Expand("/r", "/t", "/h"); got != "cp /r/a /t/b /h" {
		t.Error(got)
	}
	e := Edit{Input: map[string]any{"a": []any{map[string]any{"{REPO}/x": "{TMP}"}}, "n": 1.0}}
	got := e.Expand("/r", "/t", "/h")
	if m := got["a"].([]any)[0].(map[string]any); m["/r/x"] != "/t" || got["n"] != 1.0 {
		t.Error(got)
	}
}

// write puts verdicts, by id, into the corpus's files.
func write(t *testing.T, verdicts map[string]string) {
	names, err := filepath.Glob("corpus/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list, err := parse(filepath.Base(name), string(data))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, b := range list {
			if v, ok := verdicts[b.ID()]; ok {
				lines[b.verdict] = v
			}
		}
		if text := strings.Join(lines, "\n"); text != string(data) {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
