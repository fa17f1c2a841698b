package launch

import (
	"slices"
	"strings"
	"testing"
)

func TestPartsOfCommands(t *testing.T) {
	for _, test := range []struct{ command, asking, interpreter, module string }{
		{"/v/serena", "/v/serena --version", "", ""},
		{"/v/serena start-mcp-server --port 1", "/v/serena --version", "", ""},
		{"py -3.12 -m serena.mcp", "py -3.12 -m serena.mcp --version", "py -3.12", "serena.mcp"},
		{"py -V:3.13 -P -m serena.cli", "py -V:3.13 -P -m serena.cli --version", "py -V:3.13", "serena.cli"},
		{"python -mserena", "python -mserena --version", "python", "serena"},
		{"python -P -c code", "python -P -c code --version", "python", ""},
		{"python script.py -m x", "python script.py -m x --version", "python", ""},
		{"python -m", "python -m --version", "python", ""},
	} {
		command := strings.Fields(test.command)
		before := slices.Clone(command)
		if got := strings.Join(asking(command), " "); got != test.asking {
			t.Errorf("%s: asking %q", test.command, got)
		}
		if got := strings.Join(interpreterOf(command), " "); got != test.interpreter {
			t.Errorf("%s: interpreter %q", test.command, got)
		}
		if got := moduleOf(command); got != test.module {
			t.Errorf("%s: module %q", test.command, got)
		}
		if !slices.Equal(command, before) {
			t.Errorf("%s was changed to %q", test.command, command)
		}
	}
}
