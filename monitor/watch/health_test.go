//go:build unix

package watch

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// said is what a Serena has written into its log a while ago.
func said(level, thread, where, text string) string {
	return fmt.Sprintf("%-5s %s,000 [%s] %s:1 - %s", level, time.Now().Add(-2*endedFor).Format(time.DateTime), thread, where, text)
}

// A Serena whose language server is dead answers as before. It is red until the
// language server is there again.
func TestLanguageServer(t *testing.T) {
	t.Parallel()
	failed := said("ERROR", "StartLS:go", "serena.ls_manager:_start_language_server", "Error starting language server go: gopls is not installed.")
	log := []string{said("INFO", "MainThread", "serena.cli:start_mcp_server", "Initializing Serena MCP server"), failed}
	init := answers{"name": "Task-1:init_project_services", "is_running": false, "finished_successfully": false}
	f := startFake(t, answers{"project": "alpha", "last": init, "log": log})
	w := watching(t)
	in := await(t, w, f.pid, "red", patience, inState(monitor.StateZombie, monitor.CauseLanguageServer))
	if in.Problem == nil || in.Problem.Kind != monitor.StartFailed || in.Problem.Language != "go" || len(in.Problem.Evidence) != 1 ||
		in.Reason != "the language server for go could not start: gopls is not installed" || in.Evidence.RedSince.IsZero() {
		t.Errorf("%+v, %+v", in, in.Problem)
	}
	log = append(log, said("INFO", "StartLS:go", "sensai.util.logging:stop", "Language server startup (ls_id=go) completed in 0.1 seconds"))
	f.say(t, answers{"project": "alpha", "last": init, "log": log, "burn": true})
	in = await(t, w, f.pid, "healed", patience, inState(monitor.StateProject, ""))
	if in.Problem != nil {
		t.Errorf("%+v", in.Problem)
	}
	log = append(log, said("ERROR", "LSP-stdout-reader:go", "solidlsp.ls_process:_read_ls_process_stdout", "LanguageServerTerminatedException: gone"))
	f.say(t, answers{"project": "alpha", "last": init, "log": log, "burn": true})
	in = await(t, w, f.pid, "noted", patience, func(in *monitor.Instance) bool { return in != nil && in.Problem != nil })
	if in.State != monitor.StateProject || in.Problem.Kind != monitor.Ended {
		t.Errorf("%+v, %+v", in, in.Problem)
	}
}

// allListen is a machine on which every process listens on a port.
type allListen struct {
	process.System
	port uint16
}

func (s allListen) Listeners(pids []int) ([]process.Listener, error) {
	return []process.Listener{{PID: pids[0], Addr: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), s.port)}}, nil
}

// The port that a Serena has chosen for its dashboard may go to another one that
// starts at the same time. Nobody can ask it then.
func TestLostDashboard(t *testing.T) {
	t.Parallel()
	f := startFake(t, answers{"project": "winner"})
	d := drive(t)
	d.await(f.pid, "the winner", inState(monitor.StateProject, ""))
	loser := known()
	loser.port, loser.Answered = 0, false
	loser.in.Identity, loser.in.StartedAt = d.loop.self, d.now.Add(-time.Minute)
	d.loop.tracked[loser.in.Identity] = loser
	d.loop.o.SerenaHome = t.TempDir()
	for range claimLooks { // one without a dashboard never claims a port, and its log may be long
		d.loop.findLostDashboards(d.now)
	}
	started := loser.in.StartedAt
	logs := filepath.Join(d.loop.o.SerenaHome, "logs", started.Format(time.DateOnly))
	if err := os.MkdirAll(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	claim := fmt.Sprintf("INFO  %s,000 [MainThread] serena.dashboard:run_in_thread:868 - Starting dashboard (listen_address=127.0.0.1, port=%d)\n", started.Format(time.DateTime), f.port)
	if err := os.WriteFile(filepath.Join(logs, fmt.Sprintf("mcp_%s_%d.txt", started.Format("20060102-150405"), loser.in.Identity.PID)), []byte(claim), 0o600); err != nil {
		t.Fatal(err)
	}
	if d.loop.findLostDashboards(d.now); loser.health.claim != nil {
		t.Error("its log is read for ever")
	}
	loser.health.claimLooks = 0
	system := d.loop.o.System
	d.loop.o.System = allListen{system, uint16(f.port)}
	if d.loop.findLostDashboards(d.now); loser.health.lostDashboard != nil {
		t.Error("it listens there itself")
	}
	d.loop.o.System = system
	chosen := loser.health.claim.Since
	loser.health.claim.Since = d.now.Add(-time.Second)
	if d.loop.findLostDashboards(d.now); loser.health.lostDashboard != nil {
		t.Error("it may come to listen there")
	}
	loser.health.claim.Since = chosen
	d.loop.findLostDashboards(d.now)
	in, _ := loser.instance(d.now)
	if in.Cause != monitor.CauseNoDashboard || in.Problem.Port != f.port || !strings.HasPrefix(in.Problem.Reason, fmt.Sprintf("another Serena (%d - ", f.pid)) {
		t.Errorf("%+v, %+v", in, in.Problem)
	}
	loser.noteAnswer(result{question: question{port: f.port + 1, signOfLife: true}}, d.now)
	if in, _ := loser.instance(d.now); in.Cause != monitor.CauseNone || in.Problem != nil {
		t.Errorf("it answers: %+v", in)
	}
}

func TestBelow(t *testing.T) {
	id := func(pid int) monitor.Identity { return monitor.Identity{PID: pid, Start: uint64(pid)} }
	tree := []process.Stat{{Identity: id(1)}, {Identity: id(2), Parent: 1}, {Identity: id(3), Parent: 1}, {Identity: id(4), Parent: 2}, {Identity: id(5), Parent: 4}}
	list := processesBelow(tree, id(2))
	if len(list) != 2 || list[0].PID != 4 || list[1].PID != 5 {
		t.Errorf("%+v", list)
	}
}
