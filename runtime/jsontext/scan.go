// Package jsontext reads and writes JSON text without reflection and without
// copying what nobody asks for. It accepts exactly what encoding/json accepts,
// and tells what is only nested too deeply for that from what is no JSON.
//
// A Scanner finds the end of one value and checks it on the way; a Value is
// checked text that can be looked into; AppendString writes a string.
package jsontext

// A Status is how far a Scanner has come.
type Status uint8

// The states of a scan.
const (
	More Status = iota // so far so good; the value goes on
	Done               // the value is complete
	Bad                // not JSON
	// Deep: the value is complete, but nested deeper than maxDepth. What is
	// below that was only counted, not checked.
	Deep
)

// maxDepth is the deepest nesting that encoding/json takes.
const maxDepth = 10000

type state uint8

const (
	inValue     state = iota // a value must begin
	inFirstElem              // after '[': a value or ']'
	inFirstKey               // after '{': a key or '}'
	inKey                    // after ',' in an object: a key
	inColon
	inAfter // after a member or element: ',' or the closing bracket
	inString
	inEscape
	inHex // hex digits of \u are left
	inMinus
	inZero
	inInt
	inDot
	inFrac
	inExp
	inExpSign
	inExpDigits
	inLiteral // the rest of true, false or null is left
	inAbyss   // below maxDepth: only strings and brackets are told apart
	inAbyssString
	inAbyssEscape
	inDone
	inError
)

// A Scanner checks one JSON value that arrives in pieces. Its zero value is
// ready for the first piece.
type Scanner struct {
	state state
	key   bool   // the string under way is an object's key
	hex   uint8  // digits of \u that are still to come
	rest  string // of a literal
	depth int
	below int  // levels beyond maxDepth
	deep  bool // there were such levels
	// One bit for each level: 1 object, 0 array.
	object [maxDepth/64 + 1]uint64
}

// Scan takes the next piece and returns how many bytes of it belong to the
// value, counting white space before it. With Done, the value ends there; a
// number at the top ends only at the byte after it, or by Finish.
func (s *Scanner) Scan(b []byte) (int, Status) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch s.state {
		case inString:
			for c >= 0x20 && c != '"' && c != '\\' {
				if i++; i == len(b) {
					return i, More
				}
				c = b[i]
			}
			switch {
			case c == '\\':
				s.state = inEscape
			case c != '"':
				return s.fail(i)
			case s.key:
				s.key = false
				s.state = inColon
			default:
				s.end()
			}
		case inEscape:
			switch c {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				s.state = inString
			case 'u':
				s.state, s.hex = inHex, 4
			default:
				return s.fail(i)
			}
		case inHex:
			if _, ok := unhex(c); !ok {
				return s.fail(i)
			}
			if s.hex--; s.hex == 0 {
				s.state = inString
			}
		case inLiteral:
			if c != s.rest[0] {
				return s.fail(i)
			}
			if s.rest = s.rest[1:]; s.rest == "" {
				s.end()
			}
		case inAbyss, inAbyssString, inAbyssEscape:
			s.abyss(c)
		case inMinus, inZero, inInt, inDot, inFrac, inExp, inExpSign, inExpDigits:
			next, ok := number(s.state, c)
			switch {
			case ok:
				s.state = next
			case !ends(s.state):
				return s.fail(i)
			default:
				s.end()
				if s.state == inDone {
					return i, s.done()
				}
				i-- // the byte after a number is its container's
				continue
			}
		default:
			if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
				continue
			}
			if !s.structure(c) {
				return s.fail(i)
			}
		}
		if s.state == inDone {
			return i + 1, s.done()
		}
	}
	switch s.state {
	case inDone:
		return 0, s.done()
	case inError:
		return 0, Bad
	}
	return len(b), More
}

// done is the status of a complete value.
func (s *Scanner) done() Status {
	if s.deep {
		return Deep
	}
	return Done
}

// Finish says that no more will come, and returns Done if that completes a
// number at the top, else More for a value that broke off.
func (s *Scanner) Finish() Status {
	switch {
	case s.state == inDone, s.depth == 0 && ends(s.state):
		return s.done()
	case s.state == inError:
		return Bad
	}
	return More
}

func (s *Scanner) fail(i int) (int, Status) {
	s.state = inError
	return i, Bad
}

// structure takes a byte outside strings, numbers and literals.
func (s *Scanner) structure(c byte) bool {
	switch s.state {
	case inColon:
		s.state = inValue
		return c == ':'
	case inKey:
		s.state, s.key = inString, true
		return c == '"'
	case inFirstKey:
		if c == '}' {
			return s.pop(true)
		}
		s.state, s.key = inString, true
		return c == '"'
	case inAfter:
		obj := s.inObject()
		switch {
		case c == ',' && obj:
			s.state = inKey
		case c == ',':
			s.state = inValue
		case c == '}':
			return obj && s.pop(true)
		case c == ']':
			return !obj && s.pop(false)
		default:
			return false
		}
		return true
	case inFirstElem:
		if c == ']' {
			return s.pop(false)
		}
		return s.begin(c)
	case inValue:
		return s.begin(c)
	}
	return false
}

func (s *Scanner) begin(c byte) bool {
	switch c {
	case '{':
		return s.push(true)
	case '[':
		return s.push(false)
	case '"':
		s.state = inString
	case '-':
		s.state = inMinus
	case '0':
		s.state = inZero
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s.state = inInt
	case 't':
		s.state, s.rest = inLiteral, "rue"
	case 'f':
		s.state, s.rest = inLiteral, "alse"
	case 'n':
		s.state, s.rest = inLiteral, "ull"
	default:
		return false
	}
	return true
}

func (s *Scanner) push(object bool) bool {
	if s.depth == maxDepth {
		s.state, s.below, s.deep = inAbyss, 1, true
		return true
	}
	bit := uint64(1) << (s.depth % 64)
	if object {
		s.object[s.depth/64] |= bit
		s.state = inFirstKey
	} else {
		s.object[s.depth/64] &^= bit
		s.state = inFirstElem
	}
	s.depth++
	return true
}

func (s *Scanner) pop(object bool) bool {
	if s.inObject() != object {
		return false
	}
	s.depth--
	s.end()
	return true
}

// abyss takes a byte below maxDepth, to find the way up again.
func (s *Scanner) abyss(c byte) {
	switch {
	case s.state == inAbyssEscape:
		s.state = inAbyssString
	case s.state == inAbyssString:
		switch c {
		case '\\':
			s.state = inAbyssEscape
		case '"':
			s.state = inAbyss
		}
	case c == '"':
		s.state = inAbyssString
	case c == '{', c == '[':
		s.below++
	case c == '}', c == ']':
		if s.below--; s.below == 0 {
			s.end()
		}
	}
}

func (s *Scanner) inObject() bool {
	d := s.depth - 1
	return s.object[d/64]>>(d%64)&1 == 1
}

// end closes a value.
func (s *Scanner) end() {
	s.state = inAfter
	if s.depth == 0 {
		s.state = inDone
	}
}

// number steps through the grammar of a number.
func number(st state, c byte) (state, bool) {
	digit := '0' <= c && c <= '9'
	switch st {
	case inMinus:
		if c == '0' {
			return inZero, true
		}
		return inInt, digit
	case inDot, inFrac:
		if st == inFrac && (c == 'e' || c == 'E') {
			return inExp, true
		}
		return inFrac, digit
	case inExp:
		if c == '+' || c == '-' {
			return inExpSign, true
		}
		return inExpDigits, digit
	case inExpSign, inExpDigits:
		return inExpDigits, digit
	}
	switch {
	case c == '.':
		return inDot, true
	case c == 'e', c == 'E':
		return inExp, true
	}
	return inInt, digit && st == inInt
}

// ends reports whether a number may end in the state.
func ends(st state) bool {
	return st == inZero || st == inInt || st == inFrac || st == inExpDigits
}

// Valid reports whether b is one JSON value with nothing but white space
// around it.
func Valid(b []byte) bool {
	var s Scanner
	n, st := s.Scan(b)
	if st == More {
		return s.Finish() == Done
	}
	if st != Done {
		return false
	}
	for _, c := range b[n:] {
		if !space(c) {
			return false
		}
	}
	return true
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func unhex(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c - 'a' + 10), true
	case 'A' <= c && c <= 'F':
		return rune(c - 'A' + 10), true
	}
	return 0, false
}
