// Package evasion holds inputs that try to get past the policies, and everyday
// inputs that must get through. What a shell input may do to the policies'
// files and hooks was not decided by reading it but by running it in a
// repository made for that; see README.md.
package evasion

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed corpus
var corpus embed.FS

// A Label says what a policy owes an input.
type Label string

const (
	// MustDeny: running it changes what is protected, and its text shows that.
	MustDeny Label = "must-deny"
	// MustAllow: running it changes nothing that is protected.
	MustAllow Label = "must-allow"
	// DetectAfter: running it changes what is protected, and its text doesn't
	// show that. It may be refused if something else than the text gives it
	// away; else the change must be found afterwards.
	DetectAfter Label = "detect-after"
	// Unlabelled inputs were written and not yet run.
	Unlabelled Label = "?"
)

// An Input is one command as an agent hands it to its shell tool.
type Input struct {
	Family, Name string
	// Command may hold {REPO}, {TMP} and {HOME}; see Expand.
	Command string
	// Needs names programs without which Command does something else.
	Needs []string
	// Clean inputs start from a work tree without pending changes.
	Clean bool
	// Setup is run before the state is taken that the command's is compared with.
	Setup string
	// Hidden says why the text doesn't show what the command changes.
	Hidden string
	// Open says why either answer is right, whatever the label; empty for most.
	Open string

	Label Label
	// Shows is what the run showed, in words: changes, and whether it failed.
	Shows string
}

// ID is unique: the family and the name with a slash between.
func (in Input) ID() string { return in.Family + "/" + in.Name }

// Everyday inputs are what agents run all day, without any ill will.
func (in Input) Everyday() bool { return strings.HasPrefix(in.Family, "everyday-") }

// Expand gives Command with absolute paths, slash-separated: the repository's
// top, the folder for temporary files, and the home folder.
func (in Input) Expand(repo, tmp, home string) string {
	return expander(repo, tmp, home).Replace(in.Command)
}

func expander(repo, tmp, home string) *strings.Replacer {
	return strings.NewReplacer("{REPO}", repo, "{TMP}", tmp, "{HOME}", home)
}

// Load gives all shell inputs (bash), in the order of their files and in them.
func Load() ([]Input, error) { return load(func(name string) bool { return name != powershell }) }

// LoadPowerShell gives the PowerShell inputs. They were labelled by reading.
func LoadPowerShell() ([]Input, error) {
	return load(func(name string) bool { return name == powershell })
}

const powershell = "powershell.txt"

func load(want func(name string) bool) ([]Input, error) {
	entries, err := corpus.ReadDir("corpus")
	if err != nil {
		return nil, err
	}
	var all []Input
	for _, e := range entries {
		if path.Ext(e.Name()) != ".txt" || !want(e.Name()) {
			continue
		}
		data, err := corpus.ReadFile("corpus/" + e.Name())
		if err != nil {
			return nil, err
		}
		list, err := parse(e.Name(), string(data))
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			all = append(all, b.Input)
		}
	}
	return all, nil
}

// A block is an input and the number, from 0, of its verdict's line in the file.
type block struct {
	Input
	verdict int
}

// parse reads one family. Errors name file, line and what to write.
func parse(name, text string) ([]block, error) {
	family := strings.TrimSuffix(name, ".txt")
	var list []block
	header, lines := false, strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var command []string
	end := func() error {
		if len(list) == 0 {
			return nil
		}
		b := &list[len(list)-1]
		for len(command) > 0 && command[len(command)-1] == "" {
			command = command[:len(command)-1]
		}
		b.Command, command = strings.Join(command, "\n"), nil
		if header || b.Command == "" {
			return fmt.Errorf("%s: %s has no verdict or no command; a verdict is one line like %q, and ? before the first run", name, b.ID(), MustAllow)
		}
		return nil
	}
	for i, line := range lines {
		if id, ok := strings.CutPrefix(line, "=== "); ok {
			if err := end(); err != nil {
				return nil, err
			}
			list = append(list, block{Input: Input{Family: family, Name: id}})
			header = true
			continue
		}
		switch {
		case len(list) == 0:
			if line != "" && !strings.HasPrefix(line, "#") {
				return nil, fmt.Errorf("%s:%d: before the first input there are only lines that start with #", name, i+1)
			}
		case !header:
			command = append(command, line)
		default:
			b := &list[len(list)-1]
			key, value, _ := strings.Cut(line, ": ")
			switch key {
			case "needs":
				b.Needs = strings.Fields(value)
			case "start":
				if value != "clean" {
					return nil, fmt.Errorf("%s:%d: start is clean or not given", name, i+1)
				}
				b.Clean = true
			case "setup":
				b.Setup = value
			case "hidden":
				b.Hidden = value
			case "open":
				b.Open = value
			case string(MustDeny), string(MustAllow), string(DetectAfter), string(Unlabelled):
				b.Label, b.Shows, b.verdict, header = Label(key), value, i, false
			default:
				return nil, fmt.Errorf("%s:%d: %q is none of needs, start, setup, hidden, open, nor a verdict (%s, %s, %s, ?)", name, i+1, key, MustDeny, MustAllow, DetectAfter)
			}
		}
	}
	return list, end()
}

// An Edit is one call of a tool that isn't a shell, in Claude Code's
// vocabulary. Edits were labelled by reading.
type Edit struct {
	ID    string         `json:"id"`
	Label Label          `json:"label"`
	Tool  string         `json:"tool"`
	Input map[string]any `json:"input"`
	// Why is for readers; it may be empty. Open is as in Input.
	Why  string `json:"why,omitempty"`
	Open string `json:"open,omitempty"`
}

// Expand gives Input with absolute paths in the place of {REPO}, {TMP}, {HOME}.
func (e Edit) Expand(repo, tmp, home string) map[string]any {
	r := expander(repo, tmp, home)
	var each func(v any) any
	each = func(v any) any {
		switch v := v.(type) {
		case string:
			return r.Replace(v)
		case []any:
			list := make([]any, len(v))
			for i := range v {
				list[i] = each(v[i])
			}
			return list
		case map[string]any:
			m := make(map[string]any, len(v))
			for key, value := range v {
				m[r.Replace(key)] = each(value)
			}
			return m
		}
		return v
	}
	return each(e.Input).(map[string]any)
}

// LoadEdits gives the inputs for tools that edit files.
func LoadEdits() ([]Edit, error) {
	const name = "corpus/edit-tools.jsonl"
	data, err := corpus.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var list []Edit
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var e Edit
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		list = append(list, e)
	}
	return list, nil
}
