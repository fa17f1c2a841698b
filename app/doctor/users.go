package doctor

import (
	"fmt"
	"strings"

	"lamplighter/app/share"
)

// userFacts are who else could reach a server on a port of this machine.
type userFacts struct {
	others []string // names of people who are logged in or have programs running
	err    error    // it is not known
}

func gatherUsers() userFacts {
	names, err := share.LoggedIn()
	return userFacts{cleaned(names), err}
}

func judgeUsers(f userFacts) []Line {
	const means = "A server that listens on a port of this machine asks for no password: another user's program could call its tools. Lamplighter's own ports turn others away."
	switch {
	case len(f.others) > 0:
		return []Line{{
			Mark: Warn, Text: fmt.Sprintf("other users are here: %s", strings.Join(f.others, ", ")), Means: means,
			Do: "Prefer servers over standard input and output, or use HTTP only while you are alone here.",
		}}
	case f.err != nil:
		return []Line{{Mark: Warn, Text: fmt.Sprintf("who else is logged in is not known: %v", f.err), Means: means}}
	}
	return []Line{{Mark: OK, Text: "nobody else is logged in"}}
}
