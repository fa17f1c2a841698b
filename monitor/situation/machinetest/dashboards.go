package machinetest

import (
	"context"
	"fmt"

	"lamplighter/monitor/serena"
	"lamplighter/monitor/situation"
)

// dashboard is the server whose dashboard answers on a port; the error is what somebody
// gets who asks there.
func (m *Machine) dashboard(port int) (*situation.Server, error) {
	for _, p := range m.table() {
		if p.Server == nil || p.Server.Dashboard == nil || p.Server.Dashboard.Port != port {
			continue
		}
		if !p.Server.Proof.FailingSince.IsZero() || p.State == situation.Stopped {
			return nil, fmt.Errorf("asking port %d: %w", port, context.DeadlineExceeded)
		}
		return p.Server, nil
	}
	return nil, fmt.Errorf("asking port %d: %w", port, serena.ErrNotDashboard)
}

// Heartbeat is nil when a dashboard answers.
func (m *Machine) Heartbeat(_ context.Context, port int) error {
	_, err := m.dashboard(port)
	return err
}

// LastExecution is the execution that ended last, which has ended well.
func (m *Machine) LastExecution(_ context.Context, port int) (*serena.Task, error) {
	server, err := m.dashboard(port)
	if err != nil || server.Proof.LastTask == "" {
		return nil, err
	}
	return &serena.Task{Name: server.Proof.LastTask, Finished: true}, nil
}

// Queue are the executions that run or wait.
func (m *Machine) Queue(_ context.Context, port int) ([]serena.Task, error) {
	server, err := m.dashboard(port)
	if err != nil {
		return nil, err
	}
	var tasks []serena.Task
	for i, name := range server.Dashboard.Queue {
		tasks = append(tasks, serena.Task{Name: name, IsRunning: i == 0})
	}
	return tasks, nil
}

// Overview is the part of the configuration that is recorded.
func (m *Machine) Overview(_ context.Context, port int) (*serena.Overview, error) {
	server, err := m.dashboard(port)
	if err != nil {
		return nil, err
	}
	board := server.Dashboard
	o := &serena.Overview{Version: board.Version, AgentInterface: "not recorded"}
	if keeps := board.KeepsState; keeps != nil {
		o.AgentInterface = map[bool]string{true: "REPL", false: "tools"}[*keeps]
	}
	if board.Project != "" {
		o.Project = &struct {
			Name string `json:"name"`
			Path string `json:"path"`
		}{board.Project, board.Root}
	}
	return o, nil
}

// ToolCalls is how many calls there were.
func (m *Machine) ToolCalls(_ context.Context, port int) (int64, error) {
	server, err := m.dashboard(port)
	switch {
	case err != nil:
		return 0, err
	case server.Proof.Calls == nil:
		return 0, fmt.Errorf("the calls on port %d: %w", port, errUnrecorded)
	}
	return *server.Proof.Calls, nil
}

// Records tell when a tool was at work last. What else a log says is not recorded.
func (m *Machine) Records(_ context.Context, port, _ int) ([]serena.Record, int, error) {
	server, err := m.dashboard(port)
	if err != nil || server.Dashboard.LastActivity.IsZero() {
		return nil, 0, err
	}
	return []serena.Record{{At: server.Dashboard.LastActivity, Thread: "Task-0:NotRecordedTool"}}, 0, nil
}

// Shutdown is heard, and not followed: signals have to end the server.
func (m *Machine) Shutdown(_ context.Context, port int) error {
	_, err := m.dashboard(port)
	return err
}
