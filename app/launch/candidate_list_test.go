package launch

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// short writes a candidate for a table.
func short(c Candidate) string {
	text := strings.Join(c.Command, " ")
	text = strings.ReplaceAll(text, " -P -c "+entry, " ENTRY")
	text = strings.ReplaceAll(text, " --from serena-agent serena", " FROM")
	if c.problem != NoProblem {
		text = "no " + text
	}
	if c.Untrusted {
		text = "untrusted " + text
	}
	return text + " | " + c.Source
}

func TestCandidates(t *testing.T) {
	linux := func(disk madeDisk, path, login string, env ...string) facts {
		return facts{
			goos: "linux", home: "/home/u", project: "/home/u/work/p", disk: disk, env: parseEnviron("linux", env),
			path: splitPath("linux", path), login: splitPath("linux", login),
		}
	}
	darwin := func(disk madeDisk, path string) facts {
		return facts{
			goos: "darwin", home: "/Users/u", project: "/Users/u/p", disk: disk, env: environ{},
			path: splitPath("darwin", path),
		}
	}
	windows := func(disk madeDisk, path string) facts {
		return facts{
			goos: "windows", home: `C:\Users\u`, project: `C:\Users\u\p`, disk: disk, path: splitPath("windows", path),
			env: parseEnviron("windows", []string{
				`LocalAppData=C:\Users\u\AppData\Local`, `APPDATA=C:\Users\u\AppData\Roaming`, `SystemRoot=C:\Windows`, `ProgramData=C:\ProgramData`, `SystemDrive=C:`,
			}),
		}
	}
	for _, test := range []struct {
		name   string
		facts  facts
		wanted Wanted
		want   []string
	}{
		{
			name:  "nothing at all",
			facts: linux(madeDisk{}, "/usr/bin:/bin", ""),
			want: []string{
				"no serena | PATH of this process",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name: "the whole order on Linux",
			facts: linux(madeDisk{files: []string{
				"/usr/bin/serena", "/usr/bin/python3", "/opt/login/serena",
				"/home/u/work/p/.venv/bin/serena", "/home/u/work/p/venv/bin/serena", "/home/u/work/p/.pixi/envs/dev/bin/serena",
				"/home/u/.local/bin/serena", "/home/u/.local/bin/uvx", "/home/u/.local/share/uv/tools/serena-agent/bin/serena",
				"/home/u/.local/share/pipx/venvs/serena-agent/bin/serena", "/home/u/.pyenv/shims/serena", "/home/u/.pyenv/shims/python3",
				"/home/u/.pyenv/versions/3.9.18/bin/python3", "/home/u/.pyenv/versions/3.10.1/bin/serena", "/home/u/.pyenv/versions/3.12.1/bin/serena",
				"/home/u/.pyenv/versions/3.12.1/bin/python3", "/home/linuxbrew/.linuxbrew/bin/serena",
			}}, "/usr/bin", "/opt/login"),
			want: []string{
				"/usr/bin/serena | PATH of this process",
				"/opt/login/serena | PATH of the login shell",
				"untrusted /home/u/work/p/.venv/bin/serena | the project's own .venv",
				"untrusted /home/u/work/p/venv/bin/serena | the project's own venv",
				"untrusted /home/u/work/p/.pixi/envs/dev/bin/serena | the project's own .pixi",
				"/home/u/.local/bin/serena | ~/.local/bin",
				"/home/u/.local/share/uv/tools/serena-agent/bin/serena | the tools of uv",
				"/home/u/.local/share/pipx/venvs/serena-agent/bin/serena | pipx",
				"/home/u/.pyenv/shims/serena | the shims of pyenv",
				"/home/u/.pyenv/versions/3.12.1/bin/serena | pyenv's Python 3.12.1",
				"/home/u/.pyenv/versions/3.10.1/bin/serena | pyenv's Python 3.10.1",
				"/home/linuxbrew/.linuxbrew/bin/serena | Homebrew",
				"/home/u/.local/bin/uvx FROM | uvx, found by ~/.local/bin",
				"/usr/bin/python3 ENTRY | Python, found by PATH of this process",
				"/home/u/.pyenv/shims/python3 ENTRY | Python, found by the shims of pyenv",
				"/home/u/.pyenv/versions/3.12.1/bin/python3 ENTRY | Python, found by pyenv's Python 3.12.1",
				"/home/u/.pyenv/versions/3.9.18/bin/python3 ENTRY | Python, found by pyenv's Python 3.9.18",
			},
		},
		{
			name: "where the environment says",
			facts: linux(madeDisk{files: []string{
				"/t/serena-agent/bin/serena", "/tb/serena", "/d/uv/tools/serena-agent/bin/serena", "/x/venvs/serena-agent/bin/serena", "/xb/serena",
				"/py/shims/serena", "/brew/bin/serena", "/b/serena", "/elsewhere/env/bin/serena",
			}}, "", "", "UV_TOOL_DIR=/t", "UV_TOOL_BIN_DIR=/tb", "XDG_DATA_HOME=/d", "PIPX_HOME=/x", "PIPX_BIN_DIR=/xb", "PYENV_ROOT=/py", "HOMEBREW_PREFIX=/brew", "XDG_BIN_HOME=/b"),
			want: []string{
				"/b/serena | XDG_BIN_HOME",
				"/t/serena-agent/bin/serena | the tools of uv",
				"/d/uv/tools/serena-agent/bin/serena | the tools of uv",
				"/tb/serena | the tools of uv",
				"/x/venvs/serena-agent/bin/serena | pipx",
				"/xb/serena | pipx",
				"/py/shims/serena | the shims of pyenv",
				"/brew/bin/serena | Homebrew",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name: "the same file is one candidate, the same Python in two environments is two",
			facts: linux(madeDisk{
				files: []string{"/tools/bin/serena", "/py/python3.11", "/usr/bin/python3"},
				links: map[string]string{
					"/home/u/.local/bin/serena": "/tools/bin/serena", "/a/bin/python3": "/py/python3.11", "/a/bin/python": "/py/python3.11",
					"/b/bin/python3": "/py/python3.11", "/bin": "/usr/bin", "/bin/python3": "/usr/bin/python3",
				},
			}, "/tools/bin:/a/bin:/b/bin:/usr/bin:/bin", ""),
			want: []string{
				"/tools/bin/serena | PATH of this process",
				"no uvx FROM | uvx",
				"/a/bin/python3 ENTRY | Python, found by PATH of this process",
				"/b/bin/python3 ENTRY | Python, found by PATH of this process",
				"/usr/bin/python3 ENTRY | Python, found by PATH of this process",
			},
		},
		{
			name: "what is the project's by whatever way",
			facts: linux(madeDisk{
				files: []string{"/home/u/work/p/bin/serena", "/home/u/work/p/.venv/bin/python3", "/home/u/work/p/.venv/bin/uvx"},
				links: map[string]string{"/home/u/.local/bin/serena": "/home/u/work/p/.venv/bin/serena"},
			}, "/home/u/work/p/bin:/home/u/work/p/.venv/bin", ""),
			want: []string{
				"untrusted /home/u/work/p/bin/serena | PATH of this process",
				"untrusted /home/u/.local/bin/serena | ~/.local/bin",
				"untrusted /home/u/work/p/.venv/bin/uvx FROM | uvx, found by PATH of this process",
				"untrusted /home/u/work/p/.venv/bin/python3 ENTRY | Python, found by PATH of this process",
			},
		},
		{
			name:   "the settings name the project's environment",
			facts:  linux(madeDisk{files: []string{"/home/u/work/p/.venv/bin/serena"}}, "", ""),
			wanted: Wanted{Command: []string{"{project}/.venv/bin/serena"}},
			want: []string{
				"/home/u/work/p/.venv/bin/serena | the settings",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "a relative path in the settings lies in the project",
			facts:  linux(madeDisk{}, "", ""),
			wanted: Wanted{Command: []string{"./tools/server", "--x"}},
			want:   []string{"/home/u/work/p/tools/server --x | the settings"},
		},
		{
			name:   "home in the settings",
			facts:  linux(madeDisk{}, "", ""),
			wanted: Wanted{Command: []string{"~/bin/server"}},
			want:   []string{"/home/u/bin/server | the settings"},
		},
		{
			name: "a bare name of another server is looked up, and nothing else is tried",
			facts: linux(madeDisk{files: []string{"/usr/bin/serena", "/a/server", "/b/server", "/home/u/.local/bin/server", "/home/u/work/p/bin/server"}},
				"/usr/bin:/home/u/work/p/bin:/a", "/b"),
			wanted: Wanted{Command: []string{"server", "--port", "{port}"}},
			want: []string{
				"untrusted /home/u/work/p/bin/server --port {port} | the settings, found by PATH of this process",
				"/a/server --port {port} | the settings, found by PATH of this process",
				"/b/server --port {port} | the settings, found by PATH of the login shell",
				"/home/u/.local/bin/server --port {port} | the settings, found by ~/.local/bin",
			},
		},
		{
			name:   "a bare name that is nowhere",
			facts:  linux(madeDisk{files: []string{"/usr/bin/serena"}}, "/usr/bin", ""),
			wanted: Wanted{Command: []string{"serena-mcp-server"}},
			want: []string{
				"no serena-mcp-server | the settings",
				"/usr/bin/serena | PATH of this process",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "the program of old has today's beside it",
			facts:  linux(madeDisk{files: []string{"/v/bin/serena", "/v/bin/serena-mcp-server"}}, "", ""),
			wanted: Wanted{Command: []string{"/v/bin/serena-mcp-server"}},
			want: []string{
				"/v/bin/serena-mcp-server | the settings",
				"/v/bin/serena | beside what the settings name",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "an interpreter with a module of Serena has the program beside it",
			facts:  linux(madeDisk{files: []string{"/v/bin/serena", "/v/bin/python3"}}, "", ""),
			wanted: Wanted{Command: []string{"/v/bin/python3", "-m", "serena.mcp"}},
			want: []string{
				"/v/bin/python3 -m serena.mcp | the settings",
				"/v/bin/serena | beside what the settings name",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "an interpreter with another module has nothing beside it",
			facts:  linux(madeDisk{files: []string{"/v/bin/serena", "/v/bin/python3"}}, "", ""),
			wanted: Wanted{Command: []string{"/v/bin/python3", "-m", "serenade"}, Serena: true},
			want: []string{
				"/v/bin/python3 -m serenade | the settings",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "a Python of Windows has its programs below it",
			facts:  windows(madeDisk{files: []string{`C:\Py\Scripts\serena.exe`, `C:\Py\python.exe`}}, ""),
			wanted: Wanted{Command: []string{`C:\Py\python.exe`, "-m", "serena.cli"}},
			want: []string{
				`C:\Py\python.exe -m serena.cli | the settings`,
				`C:\Py\Scripts\serena.exe | beside what the settings name`,
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name:   "a script of the user that is Serena",
			facts:  linux(madeDisk{files: []string{"/usr/bin/serena"}}, "/usr/bin", ""),
			wanted: Wanted{Command: []string{"/opt/mine.sh"}, Serena: true},
			want: []string{
				"/opt/mine.sh | the settings",
				"/usr/bin/serena | PATH of this process",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
		{
			name: "macOS",
			facts: darwin(madeDisk{files: []string{
				"/usr/bin/python3", "/opt/homebrew/bin/serena", "/opt/homebrew/bin/uvx", "/usr/local/bin/serena", "/Users/u/Library/Python/3.12/bin/serena",
				"/Library/Frameworks/Python.framework/Versions/3.13/bin/python3",
			}}, "/usr/bin:/bin:/usr/sbin:/sbin"),
			want: []string{
				"no serena | PATH of this process",
				"/opt/homebrew/bin/serena | Homebrew",
				"/usr/local/bin/serena | Homebrew",
				"/Users/u/Library/Python/3.12/bin/serena | Python's installations of the user",
				"/opt/homebrew/bin/uvx FROM | uvx, found by Homebrew",
				"/usr/bin/python3 ENTRY | Python, found by PATH of this process",
				"/Library/Frameworks/Python.framework/Versions/3.13/bin/python3 ENTRY | Python, found by Python's own installation",
			},
		},
		{
			name: "Windows",
			facts: func() facts {
				f := windows(madeDisk{files: []string{
					`C:\tools\serena.cmd`, `C:\Users\u\p\.venv\Scripts\serena.exe`, `C:\Users\u\.local\bin\serena.exe`, `C:\Users\u\.local\bin\uvx.exe`,
					`C:\Users\u\AppData\Roaming\uv\tools\serena-agent\Scripts\serena.exe`, `C:\Users\u\pipx\venvs\serena-agent\Scripts\serena.exe`,
					`C:\Users\u\.pyenv\pyenv-win\shims\serena.bat`, `C:\Users\u\scoop\shims\serena.exe`, `C:\ProgramData\scoop\shims\serena.exe`,
					`C:\Users\u\AppData\Local\Programs\Python\Python39\Scripts\serena.exe`, `C:\Users\u\AppData\Local\Programs\Python\Python312\Scripts\serena.exe`,
					`C:\Users\u\AppData\Local\Programs\Python\Python312\python.exe`, `C:\Users\u\AppData\Roaming\Python\Python312\Scripts\serena.exe`,
					`C:\Users\u\AppData\Local\Microsoft\WindowsApps\python.exe`,
				}}, `C:\Windows\system32;C:\Tools;C:\tools\;relative;C:\Users\u\AppData\Local\Microsoft\WindowsApps`)
				f.disk = anyCase{f.disk.(madeDisk)}
				f.python = []string{`C:\Py313\python.exe`, `C:\Users\u\AppData\Local\Programs\Python\Python312\python.exe`}
				return f
			}(),
			want: []string{
				`C:\Tools\serena.cmd | PATH of this process`,
				`untrusted C:\Users\u\p\.venv\Scripts\serena.exe | the project's own .venv`,
				`C:\Users\u\.local\bin\serena.exe | ~/.local/bin`,
				`C:\Users\u\AppData\Roaming\uv\tools\serena-agent\Scripts\serena.exe | the tools of uv`,
				`C:\Users\u\pipx\venvs\serena-agent\Scripts\serena.exe | pipx`,
				`C:\Users\u\.pyenv\pyenv-win\shims\serena.bat | the shims of pyenv`,
				`C:\Users\u\scoop\shims\serena.exe | Scoop`,
				`C:\ProgramData\scoop\shims\serena.exe | Scoop`,
				`C:\Users\u\AppData\Local\Programs\Python\Python312\Scripts\serena.exe | %LOCALAPPDATA%\Programs`,
				`C:\Users\u\AppData\Local\Programs\Python\Python39\Scripts\serena.exe | %LOCALAPPDATA%\Programs`,
				`C:\Users\u\AppData\Roaming\Python\Python312\Scripts\serena.exe | Python's installations of the user`,
				`C:\Users\u\.local\bin\uvx.exe FROM | uvx, found by ~/.local/bin`,
				`C:\Users\u\AppData\Local\Microsoft\WindowsApps\python.exe ENTRY | Python, found by PATH of this process`,
				`C:\Users\u\AppData\Local\Programs\Python\Python312\python.exe ENTRY | Python, found by %LOCALAPPDATA%\Programs`,
				`C:\Py313\python.exe ENTRY | Python, found by the py launcher`,
			},
		},
		{
			name: "a command of Windows with py",
			facts: func() facts {
				f := windows(madeDisk{files: []string{`C:\Windows\py.exe`}}, `C:\Windows`)
				return f
			}(),
			wanted: Wanted{Command: []string{"py", "-m", "serena.mcp"}},
			want: []string{
				`C:\Windows\py.exe -m serena.mcp | the settings, found by PATH of this process`,
				"no serena | PATH of this process",
				"no uvx FROM | uvx",
				"no python3 ENTRY | Python",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			serena := (&Finder{}).serena(test.wanted)
			var got []string
			for c := range candidatesFor(test.facts, test.wanted, serena) {
				got = append(got, short(c))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

func TestWhatWindowsSaysOfAProgramThatIsNotThere(t *testing.T) {
	for goos, want := range map[string]bool{"linux": false, "windows": true} {
		f := facts{goos: goos, disk: madeDisk{}, env: environ{}}
		all := slices.Collect(candidatesFor(f, Wanted{Command: []string{oldProgram}}, true))
		if got := strings.Contains(all[0].note, "[WinError 2]"); got != want || !strings.Contains(all[0].note, oldProgram) {
			t.Errorf("%s: %s", goos, all[0].note)
		}
	}
}

func TestAProjectThatHoldsTheHomeOwnsOnlyItsEnvironments(t *testing.T) {
	for _, project := range []string{"/home/u", "/home", "/"} {
		f := facts{
			goos: "linux", home: "/home/u", project: project, path: []string{"/usr/bin"}, env: environ{},
			disk: madeDisk{files: []string{"/usr/bin/serena", "/home/u/.local/bin/serena", path.Join(project, ".venv/bin/serena")}},
		}
		for c := range candidatesFor(f, Wanted{}, true) {
			if want := strings.Contains(c.Command[0], ".venv"); c.Untrusted != want {
				t.Errorf("project %s: %s is untrusted: %t", project, c.Command[0], c.Untrusted)
			}
		}
	}
}

func TestTheProjectIsKeptOutOfTheEnvironment(t *testing.T) {
	f := facts{
		goos: "linux", home: "/home/u", project: "/home/u/p", disk: madeDisk{files: []string{"/usr/bin/serena", "/home/u/p/.venv/bin/serena"}},
		path: []string{"/home/u/p/.venv/bin", "/usr/bin"}, login: []string{"/opt/bin"},
		env: environ{"PYTHONPATH": "/home/u/p/src:src:/lib/mine"},
	}
	want := []string{"PATH=/usr/bin:/opt/bin:/usr/local/bin:/bin", "PYTHONPATH=/lib/mine"}
	for _, command := range []string{"/usr/bin/serena", "/usr/bin/serena-mcp-server", "serena", "/home/u/p/.venv/bin/serena-mcp-server", ".venv/bin/serena"} {
		for c := range candidatesFor(f, Wanted{Command: []string{command}, Project: f.project}, true) {
			// What is the project's own is run with all of it.
			own := !c.Untrusted && strings.HasPrefix(c.Command[0], f.project)
			if own && c.Env != nil || !own && c.problem == NoProblem && !slices.Equal(c.Env, want) {
				t.Errorf("%s: %s: got %q, want %q", command, short(c), c.Env, want)
			}
		}
	}
}

func TestInterpretersAreNotEndless(t *testing.T) {
	var disk madeDisk
	for i := range 100 {
		disk.files = append(disk.files, fmt.Sprintf("/home/u/.pyenv/versions/3.12.%d/bin/python3", i))
	}
	f := facts{goos: "linux", home: "/home/u", disk: disk, env: environ{}}
	interpreters := 0
	for c := range candidatesFor(f, Wanted{}, true) {
		if slices.Contains(c.Command, entry) {
			interpreters++
		}
	}
	if interpreters != most {
		t.Errorf("%d interpreters would be tried, want %d", interpreters, most)
	}
}
