package serena

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// recorded is a state of a Serena as it was recorded, and what is right to say of it.
type recorded struct {
	Recorded struct{ Serena string }
	Settings struct {
		Timeout float64 `json:"tool_timeout_s"`
	}
	Inputs struct {
		SinceLook  *float64 `json:"seconds_since_last_look"`
		Process    struct{ PID int }
		Last       *Task   `json:"last_execution"`
		LastBefore *string `json:"last_execution_at_last_look"`
		Queue      []Task
		Children   []struct {
			PID, Parent int
			State       string
			CPU         int64  `json:"cpu_ms"`
			CPUSince    *int64 `json:"cpu_ms_since_last_look"`
		}
		Records []logged
		Results []logged `json:"result_records"`
		Earlier string   `json:"earlier_verdict"`
		Claimed int      `json:"log_says_starting_dashboard_on"`
		Sockets struct {
			Owned []int
			Owner string `json:"owner_of_claimed"`
		}
	}
	Verdict struct {
		Cause    *string
		Kind     string
		Language *string
		Note     string
		Evidence struct{ Logger, Func, Exception, Key string }
	}
}

type logged struct{ Level, Thread, Logger, Func, Key, Exception string }

// record is what was logged, with the end of its traceback where one was recorded.
func (l logged) record(at time.Time) Record {
	text := l.Key
	if l.Exception != "" {
		text += "\nTraceback (most recent call last):\n" + l.Exception + ": " + l.Key
	}
	return Record{Level: l.Level, At: at, Thread: l.Thread, Where: l.Logger + ":" + l.Func, Text: text}
}

// before are the signs of the look before the one that was recorded, as far as they
// are known: nothing new in the log, and less CPU used.
func (c *recorded) before(at time.Time) Signs {
	s := c.signs(at.Add(-seconds(*c.Inputs.SinceLook)))
	s.Records, s.Queue, s.Last, s.Below = nil, nil, nil, nil
	if c.Inputs.LastBefore != nil {
		s.Last = &Task{Name: *c.Inputs.LastBefore}
	}
	for _, p := range c.Inputs.Children {
		if p.CPUSince != nil {
			s.Below = append(s.Below, process.Stat{Identity: monitor.Identity{PID: p.PID, Start: 1}, CPU: time.Duration(p.CPU-*p.CPUSince) * time.Millisecond})
		}
	}
	return s
}

func (c *recorded) signs(at time.Time) Signs {
	in := &c.Inputs
	s := Signs{At: at, Version: c.Recorded.Serena, Timeout: seconds(c.Settings.Timeout), Last: in.Last, Queue: in.Queue}
	for _, r := range slices.Concat(in.Records, in.Results) {
		s.Records = append(s.Records, r.record(at))
	}
	for _, p := range in.Children {
		st := process.Stat{Identity: monitor.Identity{PID: p.PID, Start: 1}, Parent: p.Parent, CPU: time.Duration(p.CPU) * time.Millisecond}
		switch p.State {
		case "T":
			st.State = process.Stopped
		case "Z":
			st.State = process.Unreaped
		}
		s.Below = append(s.Below, st)
	}
	return s
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// TestRecordedHealth judges recorded states of real Serenas, well and not well, by
// one look and by two. Neither a false alarm nor a fault that is not seen is allowed.
func TestRecordedHealth(t *testing.T) {
	files, err := filepath.Glob("testdata/health/*.json")
	if err != nil || len(files) < 44 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	var well, unwell, falseAlarms, missed int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c recorded
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		looks := map[string]Health{"one look": {}}
		if c.Inputs.SinceLook != nil {
			var h Health
			ReadHealth(&h, c.before(at))
			looks["two looks"] = h
		}
		if cause, kind, found := strings.Cut(c.Inputs.Earlier, "/"); found && cause == string(monitor.CauseLanguageServer) && kind == string(monitor.StartFailed) {
			var h Health
			ReadHealth(&h, Signs{At: at, Version: c.Recorded.Serena, Records: []Record{startFailure("go", at)}})
			looks = map[string]Health{"an earlier verdict": h}
		}
		for how, h := range looks {
			got := ReadHealth(&h, c.signs(at))
			if socket := c.Inputs.Sockets; c.Inputs.Claimed != 0 && socket.Owner != "" && !slices.Contains(socket.Owned, c.Inputs.Claimed) {
				got = append(got, *claimOf(Record{At: at, Where: "serena.dashboard:run_in_thread", Text: fmt.Sprintf("Starting dashboard (port=%d)", c.Inputs.Claimed)}))
			}
			var worst monitor.Problem
			if len(got) > 0 {
				worst = got[0]
			}
			wrong := func(what string) {
				t.Errorf("%s, %s: %s: got %+v, want %+v", filepath.Base(file), how, what, got, c.Verdict)
			}
			if c.Verdict.Cause == nil {
				well++
				if worst.Cause != monitor.CauseNone {
					falseAlarms++
					wrong("false alarm")
				}
				for words, kind := range map[string]monitor.ProblemKind{"starting ": monitor.Starting, "stopped by a signal": monitor.Suspended, "starts it again": monitor.Ended} {
					if strings.Contains(c.Verdict.Note, words) && !slices.ContainsFunc(got, func(p monitor.Problem) bool { return p.Kind == kind }) {
						wrong("not noted")
					}
				}
				continue
			}
			unwell++
			switch {
			case worst.Cause != monitor.Cause(*c.Verdict.Cause):
				missed++
				wrong("missed")
			case c.Verdict.Kind != "" && worst.Kind != monitor.ProblemKind(c.Verdict.Kind):
				wrong("kind")
			case c.Verdict.Language != nil && worst.Language != *c.Verdict.Language:
				wrong("language")
			case !strings.Contains(strings.Join(worst.Evidence, "\n"), c.Verdict.Evidence.Logger+":"+c.Verdict.Evidence.Func) && c.Verdict.Evidence.Logger != "":
				wrong("evidence")
			case !strings.Contains(strings.Join(worst.Evidence, "\n"), c.Verdict.Evidence.Key):
				wrong("evidence")
			}
		}
	}
	t.Logf("%d looks at what is well, %d at what is not: %d false alarms, %d missed", well, unwell, falseAlarms, missed)
}

func startFailure(language string, at time.Time) Record {
	return Record{
		Level: "ERROR", At: at, Thread: "StartLS:" + language, Where: "serena.ls_manager:_start_language_server",
		Text: "Error starting language server " + language + ": gone",
	}
}

// step is one look at a Serena, a minute after the one before unless it says otherwise, and
// what is to be said of it: the kind or cause of the worst, "" when it is well.
type step struct {
	after time.Duration
	last  string // the last execution; "!" at the end: it did not finish well
	queue []string
	below []process.Stat
	log   []string
	want  string
}

func server(cpu time.Duration) []process.Stat {
	return []process.Stat{{Identity: monitor.Identity{PID: 43, Start: 1}, CPU: cpu}}
}

func TestHealthOverTime(t *testing.T) {
	const (
		startFailed = "ERROR [StartLS:go] serena.ls_manager:_start_language_server:1 - Error starting language server go: gopls is not installed. Install it"
		initFailed  = "ERROR [Task-1:init_project_services] serena.task_executor:run_task:1 - Error during execution of Task-1:init_project_services: Failed"
		exited      = "ERROR [LSP-stdout-reader:go] solidlsp.ls_process:_read_ls_process_stdout:1 - LanguageServerTerminatedException: gone"
		restarting  = "WARNING [Task-3:FindSymbolTool] serena.ls_manager:_ensure_functional_ls:1 - Language server for language go is not running; restarting ..."
		terminated  = "ERROR [Task-3:FindSymbolTool] serena.tools.tools_base:task:1 - Language server terminated while executing tool (gone). Restarting ..."
	)
	failed := func(task, what string) string { return "ERROR [" + task + "] serena.tools.tools_base:task:1 - " + what }
	later := func(record string) string { return "later " + record }
	alive, gone := server(0), []process.Stat(nil)
	stopped := []process.Stat{{Identity: monitor.Identity{PID: 43, Start: 1}, State: process.Stopped}}
	for name, test := range map[string]struct {
		version string
		steps   []step
	}{
		"it starts later": {"2.1.0", []step{
			{log: []string{startFailed, initFailed}, last: "Task-1:init_project_services!", want: "start_failed"},
			{last: "Task-2:ListDirTool", want: "start_failed"},
			{log: []string{"INFO [StartLS:go] sensai.util.logging:stop:1 - Language server startup (ls_id=go) completed in 0.1 seconds"}},
		}},
		"a stale success proves nothing, a later one without a language server neither": {"2.1.0", []step{
			{log: []string{startFailed}, last: "Task-4:FindSymbolTool", below: alive, want: "start_failed"},
			{last: "Task-4:FindSymbolTool", below: alive, want: "start_failed"},
			{last: "Task-5:FindSymbolTool", below: gone, want: "start_failed"},
			{last: "Task-6:FindSymbolTool", below: alive},
		}},
		"it starts again, and something that a tool has started is stopped": {"2.1.0", []step{
			{log: []string{startFailed}, last: "Task-4:FindSymbolTool", below: alive, want: "start_failed"},
			{last: "Task-5:FindSymbolTool", below: slices.Concat(alive, stopped), want: "suspended"},
		}},
		"another project, at a level without INFO": {"2.1.0", []step{
			{log: []string{startFailed, initFailed}, last: "Task-1:init_project_services!", want: "start_failed"},
			{last: "Task-3:init_project_services"},
		}},
		"another project fails as well": {"2.1.0", []step{
			{log: []string{startFailed, initFailed}, want: "start_failed"},
			{log: []string{strings.Replace(initFailed, "Task-1", "Task-3", 2)}, last: "Task-3:init_project_services!", want: "start_failed"},
			{last: "Task-4:init_project_services"},
		}},
		"ended, and starts again": {"1.7.0", []step{
			{last: "Task-2:FindSymbolTool", below: alive},
			{log: []string{exited}, last: "Task-2:FindSymbolTool", want: "ended"},
			{log: []string{restarting}, last: "Task-3:FindSymbolTool", below: alive},
		}},
		"ended, and does not start again, until it does": {"1.7.0", []step{
			{log: []string{exited, restarting, failed("Task-3:FindSymbolTool", "RuntimeError: gopls is not installed")}, last: "Task-3:FindSymbolTool!", want: "restart_failed"},
			{last: "Task-4:FindSymbolTool", below: alive},
		}},
		"ended in a call, and does not start again": {"2.1.0", []step{
			{log: []string{exited, terminated, failed("Task-3:FindSymbolTool", "RuntimeError: gopls is not installed")}, last: "Task-3:FindSymbolTool!", want: "restart_failed"},
			{last: "Task-4:FindSymbolTool", below: alive},
		}},
		"it was killed three times, and does not start again": {"2.1.0", []step{
			{log: []string{exited, exited, exited, restarting, failed("Task-3:FindSymbolTool", "RuntimeError: gopls is not installed")}, last: "Task-3:FindSymbolTool!", want: "restart_failed"},
		}},
		"it crashes in a call, and again in the same": {"2.1.0", []step{
			{log: []string{exited, terminated, exited, failed("Task-3:FindSymbolTool", "SolidLSPException: gone")}, last: "Task-3:FindSymbolTool!", want: "ended"},
			{log: []string{
				strings.Replace(restarting, "Task-3", "Task-4", 1), exited, strings.Replace(terminated, "Task-3", "Task-4", 1), exited,
				failed("Task-4:FindSymbolTool", "SolidLSPException: gone"),
			}, last: "Task-4:FindSymbolTool!", want: "crash_loop"},
		}},
		"a call with code, after which no language server is there": {"2.1.0", []step{
			{last: "Task-2:SerenaReplTool", below: alive},
			{log: []string{exited, strings.Replace(restarting, "FindSymbolTool", "SerenaReplTool", 1)}, last: "Task-3:SerenaReplTool", want: "restart_failed"},
		}},
		"a call with code, after which it was killed again": {"2.1.0", []step{
			{last: "Task-2:SerenaReplTool", below: alive},
			{log: []string{exited, strings.Replace(restarting, "FindSymbolTool", "SerenaReplTool", 1), later(exited)}, last: "Task-3:SerenaReplTool", want: "ended"},
		}},
		"its languages were not started, and then one was": {"2.1.0", []step{
			{log: []string{initFailed}, last: "Task-1:init_project_services!", want: "start_failed"},
			{log: []string{"INFO [StartLS:go] sensai.util.logging:stop:1 - Language server startup (ls_id=go) completed in 0.1 seconds"}, last: "Task-2:RestartLanguageServerTool"},
		}},
		"it was started, and answers one request with an error": {"2.1.0", []step{
			{log: []string{exited, restarting, failed("Task-3:FindSymbolTool", "SolidLSPException: no")}, last: "Task-3:FindSymbolTool!", below: alive},
		}},
		"three crashes, each healed in its call": {"1.7.0", []step{
			{log: []string{exited, exited, exited}, last: "Task-5:FindSymbolTool", below: alive},
			{log: []string{failed("Task-6:FindSymbolTool", "ValueError: no such symbol")}, last: "Task-6:FindSymbolTool!", below: alive},
		}},
		"it crashes again and again": {"1.7.0", []step{
			{log: []string{exited, exited, exited, failed("Task-6:FindSymbolTool", "SolidLSPException: gone")}, last: "Task-6:FindSymbolTool!", below: alive, want: "crash_loop"},
			{last: "Task-7:GetSymbolsOverviewTool", below: alive, want: "crash_loop"},
			{last: "Task-8:FindSymbolTool", below: alive},
		}},
		"it crashes again and again, by clocks that were set": {"1.7.0", []step{
			{last: "Task-2:FindSymbolTool", below: alive},
			{log: []string{"behind " + exited, "ahead " + exited, exited, "ahead " + failed("Task-6:FindSymbolTool", "SolidLSPException: gone")}, last: "Task-6:FindSymbolTool!", below: alive, want: "crash_loop"},
			{after: 11 * time.Minute, last: "Task-6:FindSymbolTool!", below: alive},
		}},
		"a start that failed, by a clock that is ahead": {"2.1.0", []step{
			{log: []string{"ahead " + startFailed, "ahead " + initFailed}, last: "Task-1:init_project_services!", want: "start_failed"},
			{log: []string{"behind INFO [StartLS:go] sensai.util.logging:stop:1 - Language server startup (ls_id=go) completed in 0.1 seconds"}},
		}},
		"it has crashed, and is not asked": {"1.7.0", []step{
			{log: []string{exited, exited, exited, failed("Task-6:FindSymbolTool", "SolidLSPException: gone")}, last: "Task-6:FindSymbolTool!", below: alive, want: "crash_loop"},
			{after: 11 * time.Minute, last: "Task-6:FindSymbolTool!", below: alive},
		}},
		"it hangs, and was not stopped": {"2.1.0", []step{
			{last: "Task-2:FindSymbolTool", below: server(time.Second)},
			{queue: []string{"Task-3:FindSymbolTool"}, last: "Task-2:FindSymbolTool", below: server(2 * time.Second)},
			{log: []string{failed("Task-3:FindSymbolTool", "TimeoutError: Request timed out (timeout=60.0)")}, last: "Task-3:FindSymbolTool!", below: server(2*time.Second + 20*time.Millisecond), want: "hangs"},
			{last: "Task-4:FindSymbolTool", below: server(3 * time.Second)},
		}},
		"it hangs, and is ended": {"2.1.0", []step{
			{last: "Task-2:FindSymbolTool", below: server(time.Second)},
			{queue: []string{"Task-3:FindSymbolTool"}, last: "Task-2:FindSymbolTool", below: server(2 * time.Second)},
			{log: []string{failed("Task-3:FindSymbolTool", "TimeoutError: Request timed out (timeout=60.0)")}, last: "Task-3:FindSymbolTool!", below: server(2*time.Second + 20*time.Millisecond), want: "hangs"},
			{log: []string{exited}, last: "Task-3:FindSymbolTool!", below: gone, want: "ended"},
		}},
		"it computes for longer than the limit": {"2.1.0", []step{
			{queue: []string{"Task-3:FindSymbolTool"}, below: server(2 * time.Second)},
			{log: []string{failed("Task-3:FindSymbolTool", "TimeoutError: Request timed out (timeout=60.0)")}, last: "Task-3:FindSymbolTool!", below: server(4 * time.Second)},
		}},
		"how much it used is not known": {"2.1.0", []step{
			{log: []string{failed("Task-3:FindSymbolTool", "TimeoutError: Request timed out (timeout=60.0)")}, last: "Task-3:FindSymbolTool!", below: alive},
		}},
		"a shell that sleeps cannot be a language server that hangs": {"2.1.0", []step{
			{queue: []string{"Task-3:ExecuteShellCommandTool"}, below: alive},
			{log: []string{"ERROR [AnyIO worker thread] serena.tools.tools_base:apply_ex:1 - Tool execution timed out after 60.0 seconds. "}, last: "Task-3:ExecuteShellCommandTool!", below: alive},
		}},
		"what it has in its cache it answers while it is stopped": {"2.1.0", []step{
			{below: stopped, want: "suspended"},
			{log: []string{"ERROR [AnyIO worker thread] serena.tools.tools_base:apply_ex:1 - Tool execution timed out after 60.0 seconds. "}, last: "Task-3:FindSymbolTool!", below: stopped, want: "hangs"},
			{last: "Task-4:FindSymbolTool", below: stopped, want: "hangs"},
			{last: "Task-5:FindSymbolTool", below: alive},
		}},
		"calls fail one after another": {"2.1.0", []step{
			{log: []string{failed("Task-3:ReadFileTool", "OSError: too many open files")}, last: "Task-3:ReadFileTool!", below: alive},
			{log: []string{failed("Task-4:ReadFileTool", "OSError: too many open files")}, last: "Task-4:ReadFileTool!", below: alive},
			{log: []string{failed("Task-5:ReadFileTool", "OSError: too many open files")}, last: "Task-5:ReadFileTool!", below: alive, want: "failing"},
			{log: []string{failed("Task-6:ReadFileTool", "ValueError: no")}, last: "Task-6:ReadFileTool!", below: alive, want: "failing"},
			{last: "Task-7:ReadFileTool", below: alive},
		}},
		"calls fail, and others between them do not": {"2.1.0", []step{
			{log: []string{failed("Task-3:ReadFileTool", "OSError: a"), failed("Task-5:ReadFileTool", "OSError: b"), failed("Task-7:ReadFileTool", "OSError: c")}, last: "Task-7:ReadFileTool!"},
			{log: []string{failed("Task-8:ReadFileTool", "ValueError: a"), failed("Task-9:ReadFileTool", "OSError: b"), failed("Task-10:ReadFileTool", "OSError: c")}, last: "Task-10:ReadFileTool!"},
		}},
		"a call waits behind another": {"2.1.0", []step{
			{queue: []string{"Task-3:ExecuteShellCommandTool"}},
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}},
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}},
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}, want: "queue"},
			{queue: []string{"Task-4:ListDirTool"}},
		}},
		"one runs for longer than the limit, where who waits cannot be seen": {"1.5.3", []step{
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}},
			{after: 3 * time.Minute, queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}},
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}},
			{queue: []string{"Task-3:ExecuteShellCommandTool", "Task-4:ListDirTool"}, want: "queue"},
			{},
		}},
		"calls wait for the start": {"2.1.0", []step{
			{queue: []string{"Task-1:init_project_services", "Task-2:FindSymbolTool"}, want: "starting"},
			{after: time.Hour, queue: []string{"Task-1:init_project_services", "Task-2:FindSymbolTool"}, want: "starting"},
			{last: "Task-1:init_project_services", queue: []string{"Task-2:FindSymbolTool"}, below: alive},
		}},
		"stopped while nothing is asked, then asked, then continued": {"2.1.0", []step{
			{last: "Task-2:FindSymbolTool", below: stopped, want: "suspended"},
			{last: "Task-2:FindSymbolTool", queue: []string{"Task-3:FindSymbolTool"}, below: stopped},
			{last: "Task-3:FindSymbolTool", below: alive},
		}},
		"a version that nobody knows": {"3.0.0", []step{{log: []string{startFailed, initFailed}}}},
		"one before the first":        {"0.1.4", []step{{log: []string{startFailed, initFailed}}}},
		"none":                        {"", []step{{log: []string{startFailed, initFailed}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var h Health
			at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
			for i, step := range test.steps {
				at = at.Add(max(step.after, time.Minute))
				s := Signs{At: at, Version: test.version, Below: step.below}
				if name, failed := strings.CutSuffix(step.last, "!"); name != "" {
					s.Last = &Task{Name: name, Finished: !failed}
				}
				for k, name := range step.queue {
					s.Queue = append(s.Queue, Task{Name: name, IsRunning: k == 0})
				}
				for _, line := range step.log {
					written := at.Add(-time.Second)
					if record, late := strings.CutPrefix(line, "later "); late {
						line, written = record, at
					} else if record, ahead := strings.CutPrefix(line, "ahead "); ahead {
						line, written = record, at.AddDate(0, 0, 1)
					} else if record, behind := strings.CutPrefix(line, "behind "); behind {
						line, written = record, at.AddDate(0, 0, -1)
					}
					level, rest, _ := strings.Cut(line, " ")
					r, ok := parseRecord(level + " " + written.Format("2006-01-02 15:04:05") + ",000 " + rest)
					if !ok {
						t.Fatalf("%q is no record", line)
					}
					s.Records = append(s.Records, r)
				}
				got := ""
				if list := ReadHealth(&h, s); len(list) > 0 {
					if got = string(list[0].Kind); got == "" {
						got = string(list[0].Cause)
					}
				}
				if got != step.want {
					t.Errorf("look %d: %q, want %q", i+1, got, step.want)
				}
			}
		})
	}
}

func TestToolTimeout(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "language_backend: LSP\n# tool_timeout: 9\ntool_timeout: 600 # seconds\n": 10 * time.Minute, "tool_timeout: 12.5": 12500 * time.Millisecond,
		"tool_timeout: null\n": 0, "tool_timeout: -1": 0, "other:\n  tool_timeout: 5\n": 0,
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "serena_config.yml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ToolTimeout(home); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if got := ToolTimeout(t.TempDir()); got != 0 {
		t.Errorf("no settings: %v", got)
	}
}

func TestReadClaim(t *testing.T) {
	home, started := t.TempDir(), time.Date(2026, 11, 25, 12, 0, 0, 0, time.Local)
	logs := filepath.Join(home, "logs", "2026-11-25")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"mcp_20261125-120001_77.txt": "INFO  2026-11-25 12:00:01,000 [MainThread] serena.cli:start_mcp_server:1 - Initializing Serena MCP server\n" +
			"INFO  2026-11-25 12:00:02,000 [MainThread] serena.dashboard:run_in_thread:868 - Starting dashboard (listen_address=127.0.0.1, port=24283)\n",
		"mcp_20261125-080000_77.txt": "INFO  2026-11-25 08:00:02,000 [MainThread] serena.dashboard:run_in_thread:868 - Starting dashboard (listen_address=127.0.0.1, port=24282)\n",
		"mcp_20261125-120001_81.txt": "I\x00N\x00F\x00O\x00 \x002\x000\x002\x006\x00\xff\xfe port=24283)\n", // another encoding
		"mcp_20261125-120001_82.txt": strings.Repeat("x", 1<<20) + "\nINFO  2026-11-25 12:00:02,000 [MainThread] serena.dashboard:run_in_thread:868 - Starting dashboard (port=24283)\n",
		"mcp_20261125-120001_83.txt": "INFO  2026-11-25 12:00:02,000 [MainThread] serena.dashboard:run_in_thread:868 - Starting dashboard (listen_address=127.0.0.1, port=none)\n",
		"mcp_20261125-120001_84.txt": "",
		"mcp_20261125-120001_78.txt": "INFO  2026-11-25 12:00:02,000 [Task-2:ReadFileTool] serena.tools.tools_base:task:1 - Result: Starting dashboard (port=1)\n",
	} {
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pid, want := range map[int]int{77: 24283, 78: 0, 79: 0, 81: 0, 82: 0, 83: 0, 84: 0} {
		claim := ReadClaim(home, pid, started)
		if (claim != nil) != (want != 0) || claim != nil && (claim.Port != want || claim.Cause != monitor.CauseNoDashboard || !claim.Since.Equal(started.Add(2*time.Second)) || len(claim.Evidence) != 1) {
			t.Errorf("%d: %+v", pid, claim)
		}
	}
}

// Whatever a log says, in whatever order: nothing that is well written turns a Serena red,
// each problem has what it rests on, and a start of all language servers ends those of
// language servers.
func TestHealthProperties(t *testing.T) {
	threads := []string{"StartLS:go", "StartLS:python", "LSP-stdout-reader:go", "LSP-stderr-reader:go", "MainThread", "AnyIO worker thread"}
	for _, task := range []string{"init_project_services", "FindSymbolTool", "SerenaReplTool", "ListDirTool"} {
		for n := range 6 {
			threads = append(threads, fmt.Sprintf("Task-%d:%s", n, task))
		}
	}
	where := []string{
		"serena.dashboard:run_in_thread", "serena.ls_manager:_start_language_server", "solidlsp.ls_process:_read_ls_process_stdout",
		"serena.ls_manager:_ensure_functional_ls", "solidlsp.language_servers.typescript_language_server:window_log_message",
		"serena.tools.tools_base:task", "serena.tools.tools_base:apply_ex", "serena.task_executor:run_task", "serena.task_executor:stop",
	}
	texts := []string{
		"", "TimeoutError: Request timed out (timeout=10.0)", "RuntimeError: x", "SolidLSPException: x", "OSError: x", "ValueError: x", crashedInside + ": x",
		"Error executing tool: x\nOSError: y", "LanguageServerTerminatedException: x", "tsserver reported an abnormal exit", "Task completed in 1 s", "timeout=",
		"Language server for language go is not running; restarting ...", "Language server terminated while executing tool", "Result: TimeoutError: x", "timed out after -1",
	}
	rapid.Check(t, func(t *rapid.T) {
		var h Health
		at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
		version := rapid.SampledFrom([]string{"1.5.3", "1.6.1", "1.7.0", "2.1.0", "2.9.9"}).Draw(t, "version")
		levels := []string{"ERROR", "WARNING", "INFO"}
		well := rapid.Bool().Draw(t, "well")
		if well {
			levels = []string{"INFO"}
		}
		task := func(what string) Task {
			return Task{Name: rapid.SampledFrom(threads[6:]).Draw(t, what), IsRunning: rapid.Bool().Draw(t, what), Finished: well || rapid.Bool().Draw(t, what)}
		}
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			at = at.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "seconds")) * time.Second)
			s := Signs{At: at, Version: version, Below: server(time.Duration(rapid.IntRange(0, 50).Draw(t, "cpu")) * time.Millisecond)}
			if rapid.Bool().Draw(t, "gone") {
				s.Below = nil
			}
			last := task("last")
			s.Last = &last
			for range rapid.IntRange(0, 8).Draw(t, "records") {
				r := Record{
					Level: rapid.SampledFrom(levels).Draw(t, "level"), At: at, Thread: rapid.SampledFrom(threads).Draw(t, "thread"),
					Where: rapid.SampledFrom(where).Draw(t, "where"), Text: rapid.SampledFrom(texts).Draw(t, "text"),
				}
				if !well || !strings.HasPrefix(r.Text, "Result: ") {
					s.Records = append(s.Records, r)
				}
			}
			for _, p := range ReadHealth(&h, s) {
				if well && p.Cause != monitor.CauseNone {
					t.Fatalf("red: %+v", p)
				}
				if len(p.Evidence) == 0 || p.Since.IsZero() || p.Sentence() == "" || (p.Cause == monitor.CauseLanguageServer) != (p.Kind != "" && p.Kind != monitor.Ended) {
					t.Fatalf("incomplete: %+v", p)
				}
			}
		}
		init := Task{Name: "Task-99:init_project_services", Finished: true}
		if version == "1.5.3" {
			init.Name = "Task-99:init_language_server_manager"
		}
		for _, p := range ReadHealth(&h, Signs{At: at.Add(time.Second), Version: version, Last: &init}) {
			if p.Kind != "" {
				t.Fatalf("still there: %+v", p)
			}
		}
	})
}

func TestStartingNote(t *testing.T) {
	at := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	s := Signs{At: at, Version: "2.1.0", Queue: []Task{{Name: "Task-1:init_project_services", IsRunning: true}}, Records: []Record{{Level: "INFO", At: at, Thread: "StartLS:java"}}}
	var h Health
	for i, c := range []struct {
		below []process.Stat
		want  string
	}{
		{nil, "the language server for java is starting (no process of it runs yet)"},
		{server(time.Second), "the language server for java is starting (it uses the CPU)"},
		{server(time.Second), "the language server for java is starting (it uses no CPU)"},
	} {
		s.At, s.Below = at.Add(time.Duration(i)*time.Minute), c.below
		got := ReadHealth(&h, s)
		if len(got) != 1 || got[0].Sentence() != c.want || !got[0].Since.Equal(at) || got[0].Cause != monitor.CauseNone {
			t.Errorf("look %d: %+v", i+1, got)
		}
		s.Records = nil
	}
}
