// Package spelling tells how far apart two words are, for messages that ask
// what was probably meant.
package spelling

// Distance is how many bytes have to be put in, taken out or replaced to make
// one word the other: the Levenshtein distance. Words are short.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(row[j]+1, row[j-1]+1, cost)
		}
	}
	return row[len(b)]
}
