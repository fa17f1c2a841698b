//go:build real && bench && linux

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	gopsnet "github.com/shirou/gopsutil/v3/net"
	gopsutil "github.com/shirou/gopsutil/v3/process"

	"lamplighter/app/e2e"
	facts "lamplighter/monitor/process"
	"lamplighter/tray/traytest"
)

// How much there is to watch.
const (
	servers   = 20 // real ones
	newcomers = 10 // more of them
	standIns  = 100
	strangers = 1000
	starts    = 20
	kills     = 40
)

// settling is what everything gets to come to rest before a window of idleness
// begins: a process is young for 10 s.
const settling = 15 * time.Second

// window is how long each idleness lasts.
func window(t *testing.T) time.Duration {
	t.Helper()
	if os.Getenv("LAMPLIGHTER_TEST_BENCH_LONG") != "" {
		return 5 * time.Minute
	}
	return time.Minute
}

// bench is the desktop on which both programs run: ours, as it is shipped, and
// what people have today.
type bench struct {
	report
	home    *e2e.Home
	ours    string // the program
	display string
	bus     string
	panel   *traytest.Host
}

// TestBench measures what watching costs, everything in one run on one machine.
func TestBench(t *testing.T) {
	b := &bench{report: report{part: "programs"}}
	on := thisMachine(t)
	defer func() { b.write(t, on) }()
	b.home, b.display = e2e.NewHome(t), startDisplay(t)
	b.bus, _ = traytest.StartBus(t)
	b.home.Env = append(b.home.Env, "DBUS_SESSION_BUS_ADDRESS="+b.bus)
	b.panel = traytest.NewHost(t, b.bus)
	b.panel.Appear(t)
	b.build(t)

	for _, part := range []struct {
		name    string
		measure func(*testing.T)
	}{
		{"starts", b.starts},
		{"page", b.page},
		{"registrations", b.registrations},
		{"launch", b.launch},
		{"sharing", b.sharing},
		{"workspaces", b.workspaces},
		{"servers", b.realServers},
		{"stand-ins", b.standIns},
	} {
		whole := t.Run(part.name, func(t *testing.T) {
			b.part = part.name
			part.measure(t)
		})
		if !whole {
			b.failed = append(b.failed, part.name)
		}
	}
}

// floorProgram does nothing with the largest libraries that ours is made with.
const floorProgram = `package main

import (
	"net/http"

	"fyne.io/systray"
	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func main() {
	var settings map[string]any
	_ = yaml.Unmarshal(nil, &settings)
	_ = mcp.NewServer(&mcp.Implementation{}, nil).Run(nil, &mcp.StdioTransport{})
	_ = (&cobra.Command{}).Execute()
	systray.Run(func() { _ = http.ListenAndServe("", nil) }, nil)
}
`

// build makes the programs as ./build.sh build does, and tells their sizes.
func (b *bench) build(t *testing.T) {
	t.Helper()
	b.ours = filepath.Join(t.TempDir(), "lamplighter")
	b.compile(t, "lamplighter/app", b.ours)
	floor := filepath.Join(t.TempDir(), "floor.go")
	if err := os.WriteFile(floor, []byte(floorProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	b.compile(t, floor, strings.TrimSuffix(floor, ".go"))
	b.add(row{
		what:   "size of the program (today: a trivial one with the same libraries)",
		theirs: sizeOf(t, strings.TrimSuffix(floor, ".go")), ours: sizeOf(t, b.ours), unit: "MB", target: 14,
	})
	connect := filepath.Join(filepath.Dir(b.ours), "lamplighter-connect")
	b.compile(t, "lamplighter/app/connect", connect)
	b.add(row{what: "size of the program above each server", theirs: unknown, ours: sizeOf(t, connect), unit: "MB", target: 2.6})
}

func (b *bench) compile(t *testing.T, pkg, program string) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// sizeOf is the size of a file in MB.
func sizeOf(t *testing.T, path string) float64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return float64(info.Size()) / 1e6
}

// run starts our program and returns when its icon is registered.
func (b *bench) run(t *testing.T) (p *e2e.Process, sender string, after time.Duration) {
	t.Helper()
	began := time.Now()
	p = b.home.StartAs(t, b.ours, "run")
	sender = b.panel.AwaitItem(t)
	return p, sender, time.Since(began)
}

// starts measures how soon the icon is there. Today's figure is the time until
// the tray manager's port answers: its icon has no protocol that would tell.
func (b *bench) starts(t *testing.T) {
	var theirs, ours []float64
	for range starts {
		p, _, after := b.run(t)
		ours = append(ours, inMilliseconds(after))
		p.Signal(t, syscall.SIGTERM)
		p.Status(t)
		m, after := startTrayManager(t, b.display, b.bus)
		theirs = append(theirs, inMilliseconds(after))
		m.end()
	}
	b.add(spread("start to tray icon (today: Serena's tray manager, to an answer)", theirs, ours, 60)...)
}

// standIns measures what grows with the number of processes.
func (b *bench) standIns(t *testing.T) {
	all := startStandIns(t, standIns)
	m, _ := startTrayManager(t, b.display, b.bus)
	m.register(t, 1, os.Getpid())
	pids := make([]int, 0, len(all))
	for _, s := range all {
		m.register(t, s.port, s.cmd.Process.Pid)
		pids = append(pids, s.cmd.Process.Pid)
	}
	p, sender, _ := b.run(t)
	watching, stop := stream(t, b.home)
	watching.awaitCount(t, len(all))
	stop()
	<-time.After(settling)

	// One after the other: to be asked by one of them is activity to the other.
	idle := idleFor(t, window(t), p.Cmd.Process.Pid)
	p.Signal(t, syscall.SIGSTOP)
	naive := probeSimply(t, time.Minute, all)
	p.Signal(t, syscall.SIGCONT)
	b.add(row{what: "CPU of watching, 100 servers (today: a heartbeat each 3 s)", theirs: naive, ours: idle[0].percent, unit: "%", target: 0.5})

	startCrowd(t, strangers)
	<-time.After(settling)
	idle = idleFor(t, window(t), m.cmd.Process.Pid, p.Cmd.Process.Pid)
	b.add(
		row{what: "CPU when idle, 100 servers, 1,000 others", theirs: idle[0].percent, ours: idle[1].percent, unit: "%", target: 0.5},
		row{
			what:   "VmRSS, 100 servers, 1,000 others",
			theirs: megabytes(t, m.cmd.Process.Pid, "status", "VmRSS"), ours: megabytes(t, p.Cmd.Process.Pid, "status", "VmRSS"),
			unit: "MB", target: unknown,
		},
	)
	b.passes(t)
	b.ports(t, pids)
	b.deaths(t, m, sender, all)
	p.Signal(t, syscall.SIGTERM)
	p.Status(t)
}

// passes measures one look at the process table beside the ways in which one
// would do it without thinking.
func (b *bench) passes(t *testing.T) {
	table := facts.NewTable()
	pass := func() {
		if _, err := table.Pass(); err != nil {
			t.Fatal(err)
		}
	}
	nothing, fork := func() {}, func() {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		pass()
	}
	naive := threadCPU(t, 5, nothing, func() {
		all, err := gopsutil.Processes()
		if err != nil || len(all) < strangers {
			t.Fatal(len(all), err)
		}
		for _, p := range all {
			// Errors mean that it has ended.
			_, _ = p.Cmdline()
			_, _ = p.Ppid()
			_, _ = p.CreateTime()
		}
	})
	var ps time.Duration
	const times = 5
	for range times {
		cmd := exec.Command("ps", "-ef")
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		ps += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / times
	}
	busy := threadCPU(t, 100, fork, pass)
	<-time.After(2 * time.Second) // for a while after a fork everything is listed
	quiet := threadCPU(t, 100, nothing, pass)
	const what = "CPU of a pass over 1,100 processes"
	b.add(
		row{what: what + ", something was forked (today: gopsutil)", theirs: inMilliseconds(naive), ours: inMilliseconds(busy), unit: "ms", target: 2},
		row{what: what + ", something was forked (today: ps -ef)", theirs: inMilliseconds(ps), ours: inMilliseconds(busy), unit: "ms", target: 2},
		row{what: what + ", nothing was forked (today: gopsutil)", theirs: inMilliseconds(naive), ours: inMilliseconds(quiet), unit: "ms", target: 2},
	)
}

// ports measures how it is found out who listens where.
func (b *bench) ports(t *testing.T, pids []int) {
	look := func() {
		if found, err := facts.Listeners(pids); err != nil || len(found) != len(pids) {
			t.Fatal(len(found), err)
		}
	}
	nothing := func() {}
	ours := threadCPU(t, 50, nothing, look)
	naive := threadCPU(t, 2, nothing, func() {
		for _, pid := range pids {
			if _, err := gopsnet.ConnectionsPid("tcp", int32(pid)); err != nil {
				t.Fatal(err)
			}
		}
	})
	b.add(
		row{what: "CPU of who listens where, 100 servers (today: gopsutil)", theirs: inMilliseconds(naive), ours: inMilliseconds(ours), unit: "ms", target: 5},
	)
}

// deaths measures how soon it is known that a server was killed: in the model,
// by its stream, and in the menu, by reading that as a panel does whenever the
// item says that it has changed.
func (b *bench) deaths(t *testing.T, m *trayManager, sender string, all []*stand) {
	watching, stop := stream(t, b.home)
	defer stop()
	said := listen(t, b.panel, sender)
	watching.awaitCount(t, len(all))
	killed := make([]time.Time, kills)
	var model, menu, theirs []float64
	for i := range kills {
		victim := all[i]
		label := strconv.Itoa(victim.cmd.Process.Pid) + " - "
		select {
		case <-said.heard: // of the one before
		default:
		}
		killed[i] = time.Now()
		victim.end()
		for strings.Contains(b.panel.Labels(t, sender), label) {
			select {
			case <-said.heard:
			case <-time.After(e2e.Patience):
				t.Fatal("a killed server stays in the menu")
			}
		}
		menu = append(menu, inMilliseconds(time.Since(killed[i])))
		model = append(model, inMilliseconds(watching.awaitGone(t, victim.port).Sub(killed[i])))
		<-time.After(time.Duration(50+13*i) * time.Millisecond) // anywhere between two ticks
	}
	for i := range kills {
		theirs = append(theirs, inMilliseconds(m.awaitGone(t, all[i].port).Sub(killed[i])))
	}
	b.add(spread("death to model", theirs, model, 20)...)
	b.add(spread("death to menu", theirs, menu, 150)...)
}
