package shell

import "strings"

// An option is one that a command line gives, under its full name.
type option struct{ name, value string }

// options are arguments as getopt reads them.
type options struct {
	given    []option
	operands []string
	// rest are the operands after "--", the end of operands.
	rest []string
}

// parse reads arguments. short lists letters, ":" after one that takes a value,
// "::" after one that may have one attached. long lists names, "=" after one
// that takes a value, "?" after one that may; a name may be cut where it is
// still unique. stop: options end at the first operand.
func parse(args []string, short, long string, stop bool) options {
	var o options
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			o.rest = args[i+1:]
			o.operands = append(o.operands, o.rest...)
			return o
		case len(a) > 2 && a[0] == '-' && a[1] == '-':
			name, value, attached := strings.Cut(a[2:], "=")
			name, takes := longName(long, name)
			if takes == '=' && !attached && i+1 < len(args) {
				i++
				value = args[i]
			}
			o.given = append(o.given, option{name, value})
		case len(a) > 1 && a[0] == '-':
			for j := 1; j < len(a); j++ {
				k := strings.IndexByte(short, a[j])
				if k < 0 || a[j] == ':' || k+1 >= len(short) || short[k+1] != ':' {
					o.given = append(o.given, option{a[j : j+1], ""})
					continue
				}
				value := a[j+1:]
				if value == "" && !(k+2 < len(short) && short[k+2] == ':') && i+1 < len(args) {
					i++
					value = args[i]
				}
				o.given = append(o.given, option{a[j : j+1], value})
				break
			}
		default:
			if o.operands = append(o.operands, a); stop {
				o.operands = append(o.operands, args[i+1:]...)
				return o
			}
		}
	}
	return o
}

// longName completes the name of a long option, and says whether it takes a
// value: '=', '?', or 0.
func longName(list, name string) (string, byte) {
	full, takes := "", byte(0)
	for list != "" {
		var w string
		w, list, _ = strings.Cut(list, " ")
		t := byte(0)
		if n := len(w); n > 0 && (w[n-1] == '=' || w[n-1] == '?') {
			t, w = w[n-1], w[:n-1]
		}
		if w == name {
			return w, t
		}
		if full == "" && len(name) > 1 && strings.HasPrefix(w, name) {
			full, takes = w, t
		}
	}
	if full != "" {
		return full, takes
	}
	return name, 0
}

// has reports whether one of the names, with blanks between them, is given.
func (o *options) has(names string) bool {
	for _, g := range o.given {
		if one(names, g.name) {
			return true
		}
	}
	return false
}

// get returns the last value of the names.
func (o *options) get(names string) (string, bool) {
	for i := len(o.given) - 1; i >= 0; i-- {
		if one(names, o.given[i].name) {
			return o.given[i].value, true
		}
	}
	return "", false
}

// each calls f with the values of the names, one by one.
func (o *options) each(names string, f func(value string)) {
	for _, g := range o.given {
		if one(names, g.name) {
			f(g.value)
		}
	}
}
