package serena

import "testing"

func TestTaskNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"Task-22:FindSymbolTool": 22, "Task-1:init_project_services": 1, "Task-3": 3,
		"": 0, "Task-:x": 0, "Task--1:x": 0, "FindSymbolTool": 0, "Task-99999999999999999999:x": 0,
	} {
		if got := TaskNumber(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}
