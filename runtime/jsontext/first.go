package jsontext

import "io"

// An Input is what FirstValue read.
type Input struct {
	// Text is the value, or what there is of it.
	Text []byte
	End  End
}

// An End says how reading ended.
type End uint8

// The ways in which reading ends.
const (
	Complete  End = iota // Text is one whole value
	Empty                // nothing but white space came
	Broken               // the input ended inside the value, or failed
	TooLong              // the value is longer than the limit
	TooDeep              // Text is one value, but nested deeper than the limit
	Malformed            // what came is not JSON
)

// FirstValue reads one JSON value from r and stops there, without waiting for
// the end of the input: some programs never close it. What follows the value
// is ignored, and so is a byte-order mark before it. progress, if not nil, is
// called whenever bytes came in.
//
// A value that has not ended after limit bytes is TooLong. The rest of it is
// read all the same, up to a bound, and thrown away: a program that can't
// write all of its output may take that for a failure and not wait for the
// answer.
func FirstValue(r io.Reader, limit int, progress func()) Input {
	var s Scanner
	buf := make([]byte, 0, min(16<<10, limit+1))
	begin, seen := -1, 0
	for {
		if len(buf) == cap(buf) {
			if len(buf) > limit {
				discard(r, &s, progress)
				return Input{Trim(buf[max(begin, 0):]), TooLong}
			}
			next := make([]byte, len(buf), min(2*cap(buf), limit+1))
			copy(next, buf)
			buf = next
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if n > 0 && progress != nil {
			progress()
		}
		if begin < 0 {
			switch {
			case len(buf) >= len(mark) && string(buf[:len(mark)]) == mark:
				begin = len(mark)
			case err != nil || len(buf) > 0 && mark[:min(len(mark), len(buf))] != string(buf[:min(len(mark), len(buf))]):
				begin = 0
			}
			seen = max(begin, 0)
		}
		if begin >= 0 {
			used, st := s.Scan(buf[seen:])
			seen += used
			switch {
			case st == Bad:
				return Input{buf, Malformed}
			case st != More && seen > limit:
				return Input{Trim(buf[begin:]), TooLong}
			case st == Deep:
				return Input{Trim(buf[begin:seen]), TooDeep}
			case st == Done:
				return Input{Trim(buf[begin:seen]), Complete}
			}
		}
		if err != nil {
			text := Trim(buf[max(begin, 0):])
			switch {
			case len(buf) > limit:
				return Input{text, TooLong}
			case s.Finish() == Done:
				return Input{text, Complete}
			case len(text) == 0:
				return Input{nil, Empty}
			}
			return Input{text, Broken}
		}
	}
}

// maxDiscard bounds what is read of a value that is too long.
const maxDiscard = 64 << 20

// discard reads on to the end of the value that s has begun.
func discard(r io.Reader, s *Scanner, progress func()) {
	buf := make([]byte, 64<<10)
	for total := 0; total < maxDiscard; {
		n, err := r.Read(buf)
		total += n
		if n > 0 && progress != nil {
			progress()
		}
		if _, st := s.Scan(buf[:n]); st != More || err != nil {
			return
		}
	}
}

// mark is the byte-order mark in UTF-8.
const mark = "\xef\xbb\xbf"
