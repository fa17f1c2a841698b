//go:build real

package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// instanceOf is what the model says of a server that is ready.
func instanceOf(t *testing.T, s *serenatest.Server, name, version string) monitor.Instance {
	t.Helper()
	port := s.WaitReady(t)
	stat, err := process.ReadStat(s.ServerPID)
	if err != nil {
		t.Fatal(err)
	}
	return monitor.Instance{
		Identity: stat.Identity, Kind: monitor.KindSerena, Recognised: true, Port: port, DashboardURL: serena.DashboardURL(port),
		ProjectName: name, Version: version, State: monitor.StateProject,
	}
}

// asker asks one real instance through one Proxy.
type asker struct {
	*testing.T
	proxy *Proxy
	in    monitor.Instance
}

// patientProxy is for real instances, which may be slow on a machine that is busy.
func patientProxy() *Proxy {
	p := NewProxy(ProxyOptions{})
	p.quick = time.Minute
	return p
}

// good asks and wants an answer.
func (a asker) good(route, body string) map[string]any {
	a.Helper()
	w := forward(a, a.proxy, a.in, route, body)
	var answer map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		a.Errorf("%s: %d %.300s", route, w.Code, w.Body)
	}
	return answer
}

// says asks and wants Serena's own word on it.
func (a asker) says(route, body, status string) {
	a.Helper()
	if answer := a.good(route, body); answer["status"] != status {
		a.Errorf("%s %s: %v, want %s", route, body, answer, status)
	}
}

// TestRealVersions forwards every route of the list to each version.
func TestRealVersions(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) {
			project := serenatest.GoProject(t, "alpha")
			s := serenatest.Start(t, serenatest.Options{Version: version, Project: project, Context: "desktop-app"})
			a := asker{t, patientProxy(), instanceOf(t, s, "alpha", version)}
			used := map[string]bool{}
			good := func(route, body string) map[string]any { used[route] = true; return a.good(route, body) }
			says := func(route, body, status string) { used[route] = true; a.says(route, body, status) }
			s.Initialize(t)
			apptest.Eventually(t, "the overview comes", func() bool { return forward(t, a.proxy, a.in, "GET get_config_overview", "").Code == 200 })

			overview := good("GET get_config_overview", "")
			if active, _ := overview["active_project"].(map[string]any); active["name"] != "alpha" {
				t.Errorf("overview %v", overview)
			}
			s.Call(t, "list_dir", map[string]any{"relative_path": ".", "recursive": false, "session": "test"})
			apptest.Eventually(t, "the call is counted", func() bool { return strings.Contains(fmt.Sprint(good("GET get_tool_stats", "")), "list_dir") })
			apptest.Eventually(t, "the call is the last execution", func() bool {
				return strings.Contains(fmt.Sprint(good("GET last_execution", "")), "ListDirTool")
			})
			if names, _ := good("GET get_tool_names", "")["tool_names"].([]any); len(names) < 10 {
				t.Errorf("%d tools", len(names))
			}
			log := good("POST get_log_messages", `{"start_idx":0}`)
			if messages, _ := log["messages"].([]any); len(messages) == 0 || log["active_project"] != "alpha" {
				t.Errorf("log %.300v", log)
			}
			good("GET get_token_count_estimator_name", "")
			says("GET queued_task_executions", "", "success")
			says("POST clear_tool_stats", "", "cleared")
			if stats := good("GET get_tool_stats", ""); strings.Contains(fmt.Sprint(stats), "list_dir") {
				t.Errorf("cleared, and still %v", stats)
			}
			cancelled := good("POST cancel_task_execution", `{"task_id":9007199254740991}`)
			if cancelled["was_cancelled"] != false {
				t.Errorf("cancelled %v", cancelled)
			}

			says("POST save_memory", `{"memory_name":"first","content":"# é <b>"}`, "success")
			if memory := good("POST get_memory", `{"memory_name":"first"}`); memory["content"] != "# é <b>" {
				t.Errorf("memory %v", memory)
			}
			says("POST rename_memory", `{"old_name":"first","new_name":"second"}`, "success")
			if memory := good("POST get_memory", `{"memory_name":"first"}`); memory["content"] == "# é <b>" {
				t.Errorf("renamed, and still %v", memory)
			}
			says("POST delete_memory", `{"memory_name":"second"}`, "success")
			if _, err := os.Stat(filepath.Join(project, ".serena", "memories", "second.md")); err == nil {
				t.Error("the memory is still there")
			}

			if languages, _ := good("GET get_available_languages", "")["languages"].([]any); len(languages) < 10 {
				t.Errorf("%d languages", len(languages))
			}
			says("POST add_language", `{"language":"no such"}`, "error")
			says("POST remove_language", `{"language":"no such"}`, "error")
			says("POST remove_language", `{"language":"go"}`, "success")
			apptest.Eventually(t, "the language can be added", func() bool {
				return strings.Contains(fmt.Sprint(good("GET get_available_languages", "")), " go ")
			})
			says("POST add_language", `{"language":"go"}`, "success")

			says("PUT shutdown", "", "shutting down")
			<-s.Done()
			if w := forward(t, a.proxy, a.in, "GET last_execution", ""); w.Code != 404 {
				t.Errorf("after its end: %d %s", w.Code, w.Body)
			}
			for _, r := range Routes() {
				if !used[r.Method+" "+r.Name] {
					t.Errorf("%v was not asked", r)
				}
			}
		})
	}
}

// TestRealToolRuns: what waits in Serena's queue waits for the tool, and its
// overview up to 1.5.3 only.
func TestRealToolRuns(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Version: version, Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app"})
			a := asker{t, patientProxy(), instanceOf(t, s, "alpha", version)}
			s.Initialize(t)
			apptest.Eventually(t, "the overview comes", func() bool { return forward(t, a.proxy, a.in, "GET get_config_overview", "").Code == 200 })
			a.says("POST save_memory", `{"memory_name":"m","content":"text"}`, "success") // drops the kept overview

			goOn, began := filepath.Join(t.TempDir(), "go on"), filepath.Join(t.TempDir(), "began")
			answer := s.Begin(t, "execute_shell_command", map[string]any{
				"command": fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn),
				"session": "test",
			})
			apptest.Eventually(t, "the tool is at work", func() bool { _, err := os.Stat(began); return err == nil })
			for _, quick := range []string{"GET last_execution", "GET queued_task_executions", "GET get_tool_stats", "GET get_tool_names"} {
				a.good(quick, "")
			}
			want := 200
			if version == serenatest.Version15 {
				want = 504
			}
			if w := forward(t, a.proxy, a.in, "GET get_config_overview", ""); w.Code != want {
				t.Errorf("the overview while a tool runs: %d %.300s", w.Code, w.Body)
			}
			var memory map[string]any
			var asking sync.WaitGroup
			asking.Go(func() { memory = a.good("POST get_memory", `{"memory_name":"m"}`) })
			apptest.Eventually(t, "the memory is asked for", func() bool { return a.proxy.shelf.waiting() == 1 })
			if err := os.WriteFile(goOn, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			asking.Wait()
			if memory["content"] != "text" {
				t.Errorf("memory %v", memory)
			}
			answer(t)
		})
	}
}

// TestRealREPLAndEnd: a server whose client has the other interface, until that
// client hangs up.
func TestRealREPLAndEnd(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", "REPL"}})
	a := asker{t, patientProxy(), instanceOf(t, s, "alpha", "2.1.0")}
	apptest.Eventually(t, "the overview comes", func() bool { return forward(t, a.proxy, a.in, "GET get_config_overview", "").Code == 200 })
	for _, r := range rules {
		if len(r.fields) == 0 && r.Method == "GET" {
			a.good(r.Method+" "+r.Name, "")
		}
	}
	if overview := a.good("GET get_config_overview", ""); overview["agent_interface"] != "REPL" {
		t.Errorf("it is %v", overview["agent_interface"])
	}
	s.Stdin.Close()
	<-s.Done()
	if w := forward(t, a.proxy, a.in, "GET get_tool_names", ""); w.Code != 404 {
		t.Errorf("after its end: %d %s", w.Code, w.Body)
	}
}

// TestRealClientGoesAway: what was asked of a busy instance by somebody who has
// gone does not keep a place.
func TestRealClientGoesAway(t *testing.T) {
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app"})
	a := asker{t, patientProxy(), instanceOf(t, s, "alpha", serenatest.Version)}
	s.Initialize(t)
	goOn, began := filepath.Join(t.TempDir(), "go on"), filepath.Join(t.TempDir(), "began")
	answer := s.Begin(t, "execute_shell_command", map[string]any{
		"command": fmt.Sprintf("touch '%s'; while ! test -e '%s'; do sleep 0.05; done; echo done", began, goOn),
		"session": "test",
	})
	apptest.Eventually(t, "the tool is at work", func() bool { _, err := os.Stat(began); return err == nil })
	for range 3 * maxQueued {
		ctx, goAway := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() {
			a.proxy.Forward(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil), &a.in, Route{"GET", "get_available_languages"}, nil)
		})
		apptest.Eventually(t, "it waits", func() bool { return a.proxy.shelf.waiting() == 1 })
		goAway()
		asking.Wait()
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answer(t)
	a.good("GET get_available_languages", "")
}
