package launch

import (
	"path"
	"strings"
)

// question is what a login shell is started with to learn its PATH.
type question struct {
	argv0 string // instead of the shell's path
	args  []string
}

// questions returns the ways to ask a shell, best first: as a login shell and
// interactively, because people set PATH in either set of files. The command is
// written so that every shell reads it alike, fish, csh and nu included: one
// program with one quoted text, in which the shell replaces nothing.
func questions(shell, marker string) []question {
	ask := "/bin/sh -c 'echo; echo " + marker + `; printf "%s\n" "$PATH"; echo ` + marker + "'"
	name := path.Base(shell)
	switch name {
	case "csh", "tcsh":
		// -l is taken only alone; a name with a dash means the same.
		return []question{{argv0: "-" + name, args: []string{"-c", ask}}, {args: []string{"-c", ask}}}
	case "pwsh":
		return []question{{args: []string{"-Login", "-NonInteractive", "-Command", ask}}}
	case "elvish":
		return []question{{args: []string{"-c", ask}}}
	}
	return []question{
		{args: []string{"-l", "-i", "-c", ask}},
		{args: []string{"-l", "-c", ask}},
		{args: []string{"-c", ask}},
	}
}

// answered finds the PATH between two markers in what a shell has said, which
// may be a greeting, a question and the noise of its files besides.
func answered(output, marker string) (string, bool) {
	const newline = "\n"
	output = strings.ReplaceAll(output, "\r", "")
	end := strings.LastIndex(output, newline+marker)
	if end < 0 {
		return "", false
	}
	begin := strings.LastIndex(output[:end], marker+newline)
	if begin < 0 {
		return "", false
	}
	value := output[begin+len(marker)+len(newline) : end]
	return value, value != ""
}

// shellOf finds the shell in the text of /etc/passwd.
func shellOf(passwd, uid string) string {
	for line := range strings.SplitSeq(passwd, "\n") {
		fields := strings.Split(line, ":")
		if len(fields) == 7 && fields[2] == uid {
			return strings.TrimSpace(fields[6])
		}
	}
	return ""
}

// logsIn reports whether a shell is one; some users have a program that refuses.
func logsIn(shell string) bool {
	switch path.Base(shell) {
	case "nologin", "false", "true", "sync", ".":
		return false
	}
	return path.IsAbs(shell)
}
