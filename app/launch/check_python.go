package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// interpreter is what a Python says about itself.
type interpreter struct {
	Executable string   `json:"executable"`
	Version    string   `json:"version"`
	Path       []string `json:"path"`
	Pip        bool     `json:"pip"`
	Managed    bool     `json:"managed"` // by the system's packages: pip refuses
	UV         bool     `json:"uv"`      // a tool that uv installed
	Pipx       bool     `json:"pipx"`
	Serena     string   `json:"serena"` // version of the package there
	Script     string   `json:"script"` // its program, when it is there
}

// askCode makes an interpreter describe itself, whichever version it is. The
// directory in which it runs is taken off its path before anything is imported.
const askCode = `import sys
if sys.path and not sys.path[0]:
    del sys.path[0]
import json, os
try:
    from importlib.util import find_spec
    pip = find_spec("pip") is not None
except Exception:
    pip = True
try:
    from importlib.metadata import version
    serena = version("serena-agent")
except Exception:
    serena = ""
try:
    import sysconfig
    managed = sys.prefix == sys.base_prefix and os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))
except Exception:
    managed = False
script = ""
try:
    for name in ("serena", "serena.exe"):
        path = os.path.join(sysconfig.get_path("scripts"), name)
        if os.path.isfile(path):
            script = path
except Exception:
    pass
def lies(name):
    return os.path.exists(os.path.join(sys.prefix, name))
print(json.dumps({"executable": sys.executable, "version": sys.version.split()[0], "path": [p for p in sys.path if p],
    "pip": pip, "managed": managed, "uv": lies("uv-receipt.toml"), "pipx": lies("pipx_metadata.json"), "serena": serena, "script": script}))
`

// askInterpreter makes the interpreter that command begins with describe
// itself; nil when it does not.
func (f *Finder) askInterpreter(ctx context.Context, command []string, r run) (*interpreter, error) {
	r.limit = f.o.Limits.Version
	// Before 3.11 there is no -P; then the neutral directory has to do.
	for _, safe := range [][]string{{"-P"}, nil} {
		r.command = slices.Concat(command, safe, []string{"-c", askCode})
		o, err := execute(ctx, r)
		if err != nil {
			return nil, err
		}
		if told := parseInterpreter(o.stdout); told != nil {
			return told, nil
		}
		if o.startErr != nil || o.timedOut {
			break
		}
	}
	return nil, nil
}

// parseInterpreter reads the last line that is an answer to askCode.
func parseInterpreter(output string) *interpreter {
	lines := strings.Split(output, "\n")
	for _, line := range slices.Backward(lines) {
		var told interpreter
		if json.Unmarshal([]byte(line), &told) == nil && told.Executable != "" {
			for i, dir := range told.Path {
				told.Path[i] = filepath.Clean(dir) // "//src", where it runs in /
			}
			return &told
		}
	}
	return nil
}

// old reports whether no Serena runs in this Python.
func (i *interpreter) old() bool { return CompareVersions(i.Version, oldestPython) < 0 }

// install says what to do to have Serena there.
func (i *interpreter) install(again bool) string {
	switch {
	case i.old():
		return fmt.Sprintf("Python %s is too old for Serena, which needs %s or newer; with a newer one: uv tool install -p 3.13 %s", i.Version, oldestPython, packageName)
	case i.UV:
		return "To install it there again: uv tool install --reinstall " + packageName
	case i.Pipx:
		return "To install it there again: pipx reinstall " + packageName
	case i.Managed:
		return "This Python belongs to the system, and pip will not change it. To install Serena beside it: uv tool install " + packageName + " (or: pipx install " + packageName + ")"
	}
	command := []string{i.Executable, "-m", "pip", "install"}
	if !i.Pip {
		command = []string{"uv", "pip", "install", "--python", i.Executable}
	}
	if again {
		command = append(command, "--force-reinstall")
	}
	return "To install it there: " + monitor.Quoted(append(command, packageName))
}

// behind returns the interpreter that a script names in its first lines, or that
// lies beside a program of Windows, which names none.
func behind(program string) []string {
	if path := shebang(program); path != "" && command.IsPython(monitor.ProgramName(path)) {
		return []string{path}
	}
	for _, beside := range []string{"python.exe", filepath.Join("..", "python.exe")} {
		path := filepath.Join(filepath.Dir(program), beside)
		if strings.EqualFold(filepath.Ext(program), ".exe") && isFile(path) {
			return []string{path}
		}
	}
	return nil
}
