package entries

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// An Owner recognises our entries by the command that they run: a program of
// this base name, followed by this word. No extra key marks them, because
// hosts rewrite their settings and drop keys that they don't know.
type Owner struct{ Program, FirstArg string }

// wrappers are programs that run another one, named behind them.
var wrappers = []string{"env", "command", "exec", "nohup", "nice", "time", "timeout", "sudo", "call"}

// keywords of a shell leave the next word in the place of a command.
var keywords = []string{"if", "then", "else", "elif", "do", "while", "until", "!", "{"}

// Owns reports whether a hook, as decoded by encoding/json, runs our program:
// as command and args, as an argument vector, or inside a shell line.
func (o Owner) Owns(hook any) bool { return len(o.Commands(hook)) > 0 }

// Commands lists the programs that a hook runs and that are ours, as they are
// written: absolute paths, or with a variable in front. A hook may have several
// for different platforms.
func (o Owner) Commands(hook any) []string {
	var out []string
	switch h := hook.(type) {
	case map[string]any:
		if args, ok := h["args"].([]any); ok && len(args) > 0 {
			if cmd, ok := h["command"].(string); ok && o.pair(cmd, args[0]) {
				out = append(out, cmd)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(h)) {
			if key != "args" {
				out = append(out, o.Commands(h[key])...)
			}
		}
	case []any:
		if len(h) > 1 {
			if cmd, ok := h[0].(string); ok && o.pair(cmd, h[1]) {
				return []string{cmd}
			}
		}
		for _, v := range h {
			if m, ok := v.(map[string]any); ok {
				out = append(out, o.Commands(m)...)
			}
		}
	case string:
		if cmd, ok := o.inShell(h); ok {
			return []string{cmd}
		}
	}
	return out
}

func (o Owner) pair(program string, arg any) bool {
	first, ok := arg.(string)
	return ok && first == o.FirstArg && o.isProgram(program)
}

func (o Owner) isProgram(word string) bool {
	base := word[strings.LastIndexAny(word, `/\`)+1:]
	return base == o.Program || strings.EqualFold(base, o.Program+".exe")
}

// inShell looks for our program in the place of a command. The line may be for
// a POSIX shell, PowerShell or cmd.
func (o Owner) inShell(line string) (string, bool) {
	if !strings.Contains(line, o.FirstArg) {
		return "", false
	}
	for _, cmd := range commands(line) {
		for i := 0; i+1 < len(cmd); i++ {
			if !o.isProgram(cmd[i]) || cmd[i+1] != o.FirstArg {
				continue
			}
			if i == 0 || slices.Contains(wrappers, cmd[0]) || strings.EqualFold(cmd[0], "if") {
				return cmd[i], true
			}
		}
	}
	return "", false
}

// commands splits a shell line into simple commands, each a list of words
// without their quotes, assignments and keywords in front dropped.
func commands(line string) [][]string {
	var all [][]string
	var cmd []string
	var word strings.Builder
	started := false
	endWord := func() {
		if started {
			cmd = append(cmd, word.String())
			word.Reset()
			started = false
		}
	}
	endCommand := func() {
		endWord()
		full := cmd
		for len(cmd) > 1 && (slices.Contains(keywords, cmd[0]) || assignment(cmd[0])) {
			cmd = cmd[1:]
		}
		if len(cmd) > 0 {
			all = append(all, cmd)
		}
		// cmd has an if whose condition is followed by the command itself.
		if len(full) > 1 && strings.EqualFold(full[0], "if") {
			all = append(all, full)
		}
		cmd = nil
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				n = len(line) - i - 1
			}
			word.WriteString(line[i+1 : i+1+n])
			started = true
			i += n + 1
		case '"':
			started = true
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
		case '\\':
			// A backslash in front of a letter is part of a Windows path.
			if i+1 < len(line) && strings.IndexByte(" '\"\\$`;&|()<>#", line[i+1]) >= 0 {
				i++
			}
			word.WriteByte(line[i])
			started = true
		case ' ', '\t':
			endWord()
		case '\n', ';', '&', '|', '(', ')':
			endCommand()
		case '#':
			if started {
				word.WriteByte(c)
				continue
			}
			n := strings.IndexByte(line[i:], '\n')
			if n < 0 {
				n = len(line) - i
			}
			i += n - 1
		default:
			word.WriteByte(c)
			started = true
		}
	}
	endCommand()
	return all
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// canonical is a decoded value as text, to compare and to report.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
