package telemetry

import (
	"strings"

	"github.com/flow-agents/flow-agents/runtime/text"
)

// The longest values in bytes that a record repeats.
const (
	maxLabel = 200
	maxCwd   = 4096
)

// redacted stands for what looks like a credential.
const redacted = "[redacted]"

// label is an id or a name as the host gave it, fit for a record: one short
// line, and no credential. Hosts take some of them from files and arguments of
// others, where anything can be.
func label(s string) string {
	if s = plain(s); secret(s) {
		return redacted
	}
	return text.Cut(s, maxLabel)
}

// plain takes all control characters out of a text.
func plain(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text.Clean(s), "\n", ""), "\t", "")
}

// credentials are how well-known kinds of tokens begin.
var credentials = [...]string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza",
	"xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "ya29.", "eyJ",
}

// secret reports whether a text holds what looks like a credential: a private
// key, or one of the known beginnings at the beginning of a word with enough
// behind it. Some harmless names are taken for one; that costs a label.
func secret(s string) bool {
	if strings.Contains(s, "-----BEGIN") {
		return true
	}
	for _, prefix := range credentials {
		for rest, from := s, 0; ; {
			i := strings.Index(rest, prefix)
			if i < 0 {
				break
			}
			rest = rest[i+len(prefix):]
			if from += i; (from == 0 || !alnum(s[from-1])) && long(rest) {
				return true
			}
			from += len(prefix)
		}
	}
	return false
}

// long reports whether a text begins like the rest of a token: with 16
// characters of one, or 8 if there is a digit among them.
func long(s string) bool {
	digit := false
	for i := range len(s) {
		c := s[i]
		if !alnum(c) && c != '-' && c != '_' {
			return false
		}
		if digit = digit || c <= '9' && c >= '0'; i == 15 || i >= 7 && digit {
			return true
		}
	}
	return false
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
