package document

import "slices"

// placed tells for each of the new words which of the old ones it stands for, -1
// for none. Words that stay are themselves; others take the places of those
// between them that go, one for one, so that what is written around them stays.
func placed(old, words []string) []int {
	at := kept(old, words)
	done := 0 // the old words before it are taken, or gone
	for i := 0; i < len(at); {
		if at[i] >= 0 {
			done = at[i] + 1
			i++
			continue
		}
		next := i // the next that stays
		for next < len(at) && at[next] < 0 {
			next++
		}
		upTo := len(old)
		if next < len(at) {
			upTo = at[next]
		}
		for ; i < next; i++ {
			if done < upTo {
				at[i] = done
				done++
			}
		}
	}
	return at
}

// kept tells for each of the new words which of the old ones it is, -1 for none.
// It finds the most that can stay in their order; in very long lists only those
// at the beginning and at the end.
func kept(old, words []string) []int {
	const many = 1 << 20 // steps
	at := make([]int, len(words))
	for i := range at {
		at[i] = -1
	}
	// The end first: words are mostly put before others.
	n, m := len(old), len(words)
	for n > 0 && m > 0 && old[n-1] == words[m-1] {
		n, m = n-1, m-1
		at[m] = n
	}
	start := 0
	for start < n && start < m && old[start] == words[start] {
		at[start] = start
		start++
	}
	old, middle := old[start:n], words[start:m]
	if len(old) == 0 || len(middle) == 0 || len(old) > many/len(middle) {
		return at
	}
	// most[i][j] is how many words can stay of old[i:] and middle[j:].
	most := make([][]int, len(old)+1)
	for i := range most {
		most[i] = make([]int, len(middle)+1)
	}
	for i, word := range slices.Backward(old) {
		for j := len(middle) - 1; j >= 0; j-- {
			most[i][j] = max(most[i+1][j], most[i][j+1])
			if word == middle[j] {
				most[i][j] = most[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(old) && j < len(middle); {
		switch {
		case old[i] == middle[j]:
			at[start+j] = start + i
			i, j = i+1, j+1
		case most[i+1][j+1] == most[i][j]: // one in the place of the other
			i, j = i+1, j+1
		case most[i+1][j] >= most[i][j+1]:
			i++
		default:
			j++
		}
	}
	return at
}
