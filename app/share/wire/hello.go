package wire

import "strings"

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
	// background process; empty at first.
	Initialize, Initialized []byte

	// Moved says that the client has activated a project, and which: see the frame
	// Moved. Otherwise its command tells which one it has.
	Moved   bool
	Project string
}

// The payload of a Hello begins with versionMark and the version of the protocol, one
// digit, in all versions. Then each text of the greeting stands behind a byte of zero,
// which none of them can hold, and a letter that says which it is.
const (
	versionMark = "1:"
	textMark    = "\x00"
)

// AppendHello appends the payload of a Hello.
func AppendHello(dst []byte, g Greeting) []byte {
	dst = append(dst, versionMark...)
	dst = append(dst, '0'+Version)
	add := func(letter byte, texts ...string) {
		for _, text := range texts {
			dst = append(dst, textMark...)
			dst = append(dst, letter)
			dst = append(dst, text...)
		}
	}
	add('V', g.Program)
	add('D', g.Dir)
	add('C', g.Command...)
	add('E', g.Env...)
	add('F', g.Flags...)
	add('O', g.Own)
	add('I', string(g.Initialize))
	add('N', string(g.Initialized))
	if g.Moved {
		add('M', g.Project)
	}
	return dst
}

// ParseHello reads the payload of a Hello. The version is that of the other
// end, also when it is another one than ours: then nothing else is read but the
// version of its program, where that stands where ours has it. The error Is ErrFrame.
func ParseHello(payload []byte) (version int, _ Greeting, err error) {
	rest, ok := strings.CutPrefix(string(payload), versionMark)
	if !ok || rest == "" || rest[0] < '1' || rest[0] > '9' {
		return 0, Greeting{}, ErrFrame
	}
	version = int(rest[0] - '0')
	texts := map[byte][]string{}
	for i, text := range strings.Split(rest[1:], textMark) {
		switch {
		case i > 0 && text != "":
			texts[text[0]] = append(texts[text[0]], text[1:])
		case version == Version && (i > 0 || text != ""):
			return 0, Greeting{}, ErrFrame
		}
	}
	// Each but those of the command, the environment and the flags is there once at most.
	only := func(letter byte) string { return strings.Join(texts[letter], "") }
	if version != Version {
		return version, Greeting{Program: only('V')}, nil
	}
	return version, Greeting{
		Program: only('V'), Dir: only('D'), Command: texts['C'], Env: texts['E'], Flags: texts['F'], Own: only('O'),
		Initialize: []byte(only('I')), Initialized: []byte(only('N')),
		Moved: texts['M'] != nil, Project: only('M'),
	}, nil
}
