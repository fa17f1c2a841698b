package wire

import "strconv"

// Greeting is what a Hello carries. All of it is said by a process of the same
// user, and is checked before it is used.
type Greeting struct {
	Program string   // version of lamplighter-connect
	Dir     string   // the client's working directory
	Command []string // what the client would run, as given
	Env     []string // NAME=VALUE, those for which Relevant is true
	Flags   []string // of connect, as given: --web-dashboard-global-port=3000
	Own     string   // of a server that the shim runs itself: see Ran; "" = none

	// The client's own lines, when it began the conversation with an earlier
	// background process; nil at first.
	Initialize, Initialized []byte

	// Moved says that the client has activated a project, and which: see the frame
	// Moved. Otherwise its command tells which one it has.
	Moved   bool
	Project string
}

// AppendHello appends the payload of a Hello: the version of the protocol, and
// then each field as a list of texts, all of them with their length before
// them, in decimal, with a colon.
func AppendHello(dst []byte, g Greeting) []byte {
	dst = appendText(dst, strconv.Itoa(Version))
	var moved []string
	if g.Moved {
		moved = []string{g.Project}
	}
	for _, list := range [][]string{{g.Program}, {g.Dir}, g.Command, g.Env, g.Flags, {g.Own}, {string(g.Initialize)}, {string(g.Initialized)}, moved} {
		dst = appendText(dst, strconv.Itoa(len(list)))
		for _, text := range list {
			dst = appendText(dst, text)
		}
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	dst = strconv.AppendInt(dst, int64(len(text)), 10)
	dst = append(dst, ':')
	return append(dst, text...)
}

// ParseHello reads the payload of a Hello. The version is that of the other
// end, also when it is another one than ours: then nothing else is read but the
// version of its program, where that stands where ours has it. The error Is ErrFrame.
func ParseHello(payload []byte) (version int, g Greeting, err error) {
	r := reader{rest: payload}
	version = r.number()
	if r.bad || version <= 0 {
		return 0, Greeting{}, ErrFrame
	}
	g.Program = r.one()
	if version != Version {
		return version, Greeting{Program: g.Program}, nil
	}
	g.Dir = r.one()
	g.Command, g.Env, g.Flags = r.list(), r.list(), r.list()
	g.Own = r.one()
	if line := r.one(); line != "" {
		g.Initialize = []byte(line)
	}
	if line := r.one(); line != "" {
		g.Initialized = []byte(line)
	}
	switch moved := r.list(); {
	case len(moved) > 1:
		r.bad = true
	case len(moved) == 1:
		g.Moved, g.Project = true, moved[0]
	}
	if r.bad || len(r.rest) > 0 {
		return 0, Greeting{}, ErrFrame
	}
	return version, g, nil
}

type reader struct {
	rest []byte
	bad  bool
}

// text reads one text with its length before it.
func (r *reader) text() string {
	n := 0
	for i, c := range r.rest {
		switch {
		case c == ':' && i > 0 && n <= len(r.rest)-i-1:
			text := string(r.rest[i+1 : i+1+n])
			r.rest = r.rest[i+1+n:]
			return text
		case c < '0' || c > '9' || n > MaxHello:
			r.bad, r.rest = true, nil
			return ""
		}
		n = 10*n + int(c-'0')
	}
	r.bad, r.rest = true, nil
	return ""
}

func (r *reader) number() int {
	n, err := strconv.Atoi(r.text())
	if err != nil || n < 0 {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) list() []string {
	var list []string
	for n := r.number(); n > 0 && !r.bad; n-- {
		list = append(list, r.text())
	}
	return list
}

func (r *reader) one() string {
	list := r.list()
	if len(list) != 1 {
		r.bad = true
		return ""
	}
	return list[0]
}
