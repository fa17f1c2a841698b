package cli

import (
	"strings"
	"testing"
)

func TestPathAdvice(t *testing.T) {
	const dir = "/home/a/.local/bin"
	for name, test := range map[string]struct {
		system, path, dir, home, shell string
		want                           string // "" for none
	}{
		"there":         {"linux", "/bin:" + dir, dir, "/home/a", "/bin/bash", ""},
		"with a slash":  {"linux", dir + "/:/bin", dir, "/home/a", "/bin/bash", ""},
		"missing":       {"linux", "/bin::/usr/bin", dir, "/home/a", "/bin/bash", `~/.profile, and log in again:` + "\n" + `  export PATH="$HOME/.local/bin":"$PATH"`},
		"no PATH":       {"linux", "", dir, "/home/a", "", "~/.profile"},
		"zsh":           {"darwin", "/bin", dir, "/home/a", "/bin/zsh", "~/.zprofile"},
		"fish":          {"linux", "/bin", dir, "/home/a", "/usr/bin/fish", `fish_add_path "$HOME/.local/bin"`},
		"odd letters":   {"linux", "/bin", "/opt/a$b \"c\"`d", "/home/a", "", `export PATH="/opt/a\$b \"c\"` + "\\`d\""},
		"a longer name": {"linux", dir + "x", dir, "/home/a", "", "~/.profile"},
		"another home":  {"linux", "/bin", "/home/ab/bin", "/home/a", "", `"/home/ab/bin"`},
		"windows":       {"windows", `C:\Windows`, `C:\Users\a\Lamplighter`, `C:\Users\a`, "", `add C:\Users\a\Lamplighter to Path`},
		"on windows":    {"windows", `C:\Windows;c:/users/A/lamplighter\`, `C:\Users\a\Lamplighter`, `C:\Users\a`, "", ""},
		"an escape":     {"linux", "/bin", "/opt/\x1b[2J", "/home/a", "", "export PATH"},
		"a colon":       {"linux", "/bin", "/home/a:b/.local/bin", "/home/a:b", "", ""},
		"no directory":  {"linux", "/bin", "", "/home/a", "", ""},
	} {
		got := pathAdvice(test.system, test.path, test.dir, test.home, test.shell)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) || strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
