package dashboard

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// asker asks one instance through one Proxy.
type asker struct {
	*testing.T
	proxy *Proxy
	in    monitor.Instance
}

// asks is an asker of a Serena.
func asks(t *testing.T, s *serenatest.Replayed) asker {
	in := ours(t, s.Port)
	in.Version = s.Transcript.Version
	return asker{t, trusting(), in}
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

// TestVersions forwards every route of the list to each version.
func TestVersions(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			s := serenatest.Replay(t, version, serenatest.Called)
			a := asks(t, s)
			overview := a.good("GET get_config_overview", "")
			if active, _ := overview["active_project"].(map[string]any); active["name"] != "alpha" {
				t.Errorf("overview %v", overview)
			}
			if stats := a.good("GET get_tool_stats", ""); !strings.Contains(fmt.Sprint(stats), "list_dir") {
				t.Errorf("statistics %v", stats)
			}
			if last := a.good("GET last_execution", ""); !strings.Contains(fmt.Sprint(last), "ExecuteShellCommandTool") {
				t.Errorf("last execution %v", last)
			}
			if names, _ := a.good("GET get_tool_names", "")["tool_names"].([]any); len(names) < 10 {
				t.Errorf("%d tools", len(names))
			}
			log := a.good("POST get_log_messages", `{"start_idx":0}`)
			if messages, _ := log["messages"].([]any); len(messages) == 0 || log["active_project"] != "alpha" {
				t.Errorf("log %.300v", log)
			}
			a.good("GET get_token_count_estimator_name", "")
			a.says("GET queued_task_executions", "", "success")

			s.Enter(serenatest.Changed)
			a.says("POST clear_tool_stats", "", "cleared")
			if stats := a.good("GET get_tool_stats", ""); strings.Contains(fmt.Sprint(stats), "list_dir") {
				t.Errorf("cleared, and still %v", stats)
			}
			if cancelled := a.good("POST cancel_task_execution", `{"task_id":9007199254740991}`); cancelled["was_cancelled"] != false {
				t.Errorf("cancelled %v", cancelled)
			}
			a.says("POST save_memory", `{"memory_name":"first","content":"# é <b>"}`, "success")
			if memory := a.good("POST get_memory", `{"memory_name":"first"}`); memory["content"] != "# é <b>" {
				t.Errorf("memory %v", memory)
			}
			a.says("POST rename_memory", `{"old_name":"first","new_name":"second"}`, "success")
			if memory := a.good("POST get_memory", `{"memory_name":"first"}`); memory["content"] == "# é <b>" {
				t.Errorf("renamed, and still %v", memory)
			}
			a.says("POST delete_memory", `{"memory_name":"second"}`, "success")
			if languages, _ := a.good("GET get_available_languages", "")["languages"].([]any); len(languages) < 10 {
				t.Errorf("%d languages", len(languages))
			}
			a.says("POST add_language", `{"language":"no such"}`, "error")
			a.says("POST remove_language", `{"language":"no such"}`, "error")
			a.says("POST remove_language", `{"language":"go"}`, "success")
			a.says("POST add_language", `{"language":"go"}`, "success")
			a.says("PUT shutdown", "", "shutting down")

			asked := strings.Join(s.Asked(), "\n") + "\n"
			for _, r := range Routes() {
				if !strings.Contains(asked, r.Method+" /"+r.Name) {
					t.Errorf("%v was not asked", r)
				}
			}
		})
	}
}

// TestVersionsAtWork: what waits in Serena's queue waits for the tool, and its
// overview up to 1.5.3 only.
func TestVersionsAtWork(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			s := serenatest.Replay(t, version, serenatest.Busy)
			a := asks(t, s)
			for _, quick := range []string{"GET last_execution", "GET queued_task_executions", "GET get_tool_stats", "GET get_tool_names"} {
				a.good(quick, "")
			}
			waits := []string{`POST get_memory {"memory_name":"none"}`}
			if version == serenatest.Version15 {
				waits = append(waits, "GET get_config_overview ")
			} else {
				a.good("GET get_config_overview", "")
			}
			var asking sync.WaitGroup
			for _, w := range waits {
				name, body := w[:strings.LastIndex(w, " ")], w[strings.LastIndex(w, " ")+1:]
				asking.Go(func() { a.good(name, body) })
			}
			apptest.Eventually(t, "they wait", func() bool { return a.proxy.shelf.waiting() == len(waits) })
			a.good("GET last_execution", "")
			s.Enter(serenatest.Called)
			asking.Wait()
		})
	}
}
