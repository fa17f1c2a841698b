package launch

import (
	"slices"
	"strings"
	"testing"
)

func TestAnswered(t *testing.T) {
	for _, test := range []struct {
		output, want string
		ok           bool
	}{
		{"", "", false},
		{"\nM\n/bin:/usr/bin\nM\n", "/bin:/usr/bin", true},
		{"welcome\nsay yes? \nM\n/bin\nM\nbye\n", "/bin", true},
		{"no newline after the greeting\nM\n/a\nM\n", "/a", true},
		{"\r\nM\r\n/a b:/ü\r\nM\r\n", "/a b:/ü", true},
		{"\nM\n/old\nM\n\nM\n/new\nM\n", "/new", true},
		{"\nM\n\nM\n", "", false},
		{"\nM\n/half", "", false},
		{"echo M; printf M", "", false},
	} {
		if got, ok := answered(test.output, "M"); got != test.want || ok != test.ok {
			t.Errorf("%q: got %q, %t", test.output, got, ok)
		}
	}
}

func TestQuestions(t *testing.T) {
	for _, test := range []struct{ shell, argv0, args string }{
		{"/bin/bash", "", "-l -i -c"},
		{"/usr/bin/fish", "", "-l -i -c"},
		{"/opt/homebrew/bin/zsh", "", "-l -i -c"},
		{"/bin/tcsh", "-tcsh", "-c"},
		{"/bin/csh", "-csh", "-c"},
		{"/usr/bin/pwsh", "", "-Login -NonInteractive -Command"},
		{"/usr/bin/elvish", "", "-c"},
	} {
		first := questions(test.shell, "M")[0]
		args := first.args[:len(first.args)-1]
		if first.argv0 != test.argv0 || strings.Join(args, " ") != test.args {
			t.Errorf("%s: %q %q", test.shell, first.argv0, first.args)
		}
	}
}

func TestShellOf(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000:U,,,:/home/u:/usr/bin/fish\nbroken:x:7\nd:x:2:2::/:/usr/sbin/nologin\n"
	for uid, want := range map[string]string{"0": "/bin/bash", "1000": "/usr/bin/fish", "2": "/usr/sbin/nologin", "7": "", "9": ""} {
		if got := shellOf(passwd, uid); got != want {
			t.Errorf("%s: %q", uid, got)
		}
	}
	var logging []string
	for _, shell := range []string{"/bin/zsh", "/usr/sbin/nologin", "/bin/false", "", "bash"} {
		if logsIn(shell) {
			logging = append(logging, shell)
		}
	}
	if !slices.Equal(logging, []string{"/bin/zsh"}) {
		t.Errorf("got %q", logging)
	}
}
