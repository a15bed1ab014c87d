// Package digest names things by a hash of what they are.
package digest

import "crypto/sha256"

// Hex returns the first n bytes, at most 32, of a SHA-256 in hexadecimal. With
// more than one part the hash is over the parts with a zero byte between them.
func Hex(n int, parts ...string) string {
	h := sha256.New()
	for i, p := range parts {
		if i > 0 {
			h.Write([]byte{0})
		}
		h.Write([]byte(p))
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*sha256.Size)
	for _, c := range sum[:n] {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}
