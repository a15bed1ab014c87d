package bundle

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fill puts the path of the hook binary in the place of the placeholders of one
// decoded string.
func (p Placeholder) fill(s, hook string) (string, error) {
	shell := p.Shell != "" && strings.Contains(s, p.Shell)
	raw := p.Raw != "" && strings.Contains(s, p.Raw)
	if !shell && !raw {
		return s, nil
	}
	switch {
	case !utf8.ValidString(hook):
		return "", fmt.Errorf("the path %q is not UTF-8, so no JSON file can hold it; set FLOW_AGENTS_HOME to a folder with another name", hook)
	case strings.ContainsRune(hook, 0):
		return "", fmt.Errorf("the path %q holds a NUL byte", hook)
	}
	if shell {
		s = strings.ReplaceAll(s, p.Shell, Quote(hook))
	}
	if raw && strings.Contains(s, p.Raw) {
		// Hosts fill in ${NAME} in a command that they run without a shell.
		if strings.Contains(hook, "${") {
			return "", fmt.Errorf("the path %q holds ${, which hosts replace by a variable; set FLOW_AGENTS_HOME to a folder with another name", hook)
		}
		s = strings.ReplaceAll(s, p.Raw, hook)
	}
	return s, nil
}

// Quote writes word for a POSIX shell: as it is if no character is special,
// else in single quotes.
func Quote(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+:,./-"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
