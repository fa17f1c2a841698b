package workspace

// FitDiffs returns changes of which all texts together have at most so many bytes.
// The first ones that fit keep theirs; left is how many have lost it.
func FitDiffs(changes []Change, most int) (fitted []Change, left int) {
	fitted = append([]Change{}, changes...)
	for i := range fitted {
		text := &fitted[i].Diff
		if len(*text) > most {
			*text = ""
			left++
		}
		most -= len(*text)
	}
	return fitted, left
}
