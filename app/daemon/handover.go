package daemon

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
)

// The units that start us at login, and for the first client.
const (
	ServiceUnit = "lamplighter.service"
	SocketUnit  = "lamplighter.socket"
)

// ManagerTime is what the user's systemd gets to answer, and UnitTime to start a
// unit: one that is ordered behind others waits for them.
const (
	ManagerTime = 3 * time.Second
	UnitTime    = 10 * time.Second
)

// startedAs is what tells who has started this process.
type startedAs struct {
	pid     int
	execPID string // SYSTEMD_EXEC_PID
	cgroups string // what /proc/self/cgroup holds, "" when it cannot be read
}

// asService reports whether systemd has started us as our unit. Its own variable is
// younger (248) than systems that are in use; our control group is the unit's on
// all of them.
//
// Source: systemd.exec(5), SYSTEMD_EXEC_PID; cgroups(7), /proc/PID/cgroup.
func (s startedAs) asService() bool {
	if s.execPID != "" && s.execPID == strconv.Itoa(s.pid) {
		return true
	}
	for line := range strings.Lines(s.cgroups) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 && path.Base(parts[2]) == ServiceUnit {
			return true
		}
	}
	return false
}

// ownBus reports whether the desktop's bus is not the one that the user's systemd
// knows: what that starts could show no icon on the desktop.
func ownBus(address, runtimeDir string) bool {
	if address == "" || runtimeDir == "" {
		return false
	}
	for each := range strings.SplitSeq(address, ";") {
		if each, _, _ = strings.Cut(each, ","); each == "unix:path="+filepath.ToSlash(filepath.Join(runtimeDir, "bus")) {
			return false
		}
	}
	return true
}

// sessionVariables are those of the desktop that a program needs to show something
// on it.
func sessionVariables() []string {
	return []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"}
}

// handedOver reports whether the user's systemd, which only Linux has, has been told to
// start us, or has done so before, so that this process is not needed. What the command
// line says is for this process alone: the unit does not have it.
func (p *Program) handedOver(ctx context.Context) bool {
	if runtime.GOOS != "linux" || p.ConfigFile != "" || p.Flags != (config.Layer{}) {
		return false
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		cgroups = nil // then the variable has to tell
	}
	return p.handOver(ctx, startedAs{pid: os.Getpid(), execPID: p.Getenv("SYSTEMD_EXEC_PID"), cgroups: string(cgroups)}, p.Self)
}

// handOver has the user's systemd start program, which is ours, in this desktop,
// where it can and has not done so itself. True means that there is nothing left to
// do here.
func (p *Program) handOver(ctx context.Context, as startedAs, program string) bool {
	if as.asService() {
		return false
	}
	if client, _, err := api.Dial(ctx, p.Places().ControlSocket); err == nil {
		client.Close()
		return true
	}
	if ownBus(p.Getenv("DBUS_SESSION_BUS_ADDRESS"), p.Base.RuntimeDir) || !p.serviceOf(ctx, program) {
		return false
	}
	return p.startService(ctx) == nil && p.serviceGoesOn(ctx)
}

// StartAsService has the user's systemd start program, whoever has started us; true
// means that it runs, or will.
func (p *Program) StartAsService(ctx context.Context, program string) bool {
	return p.handOver(ctx, startedAs{}, program)
}

// serviceOf reports whether the user's systemd answers and has a service of our name
// that starts this program: somebody else may have written it, or its program may be
// gone.
func (p *Program) serviceOf(ctx context.Context, program string) bool {
	answer, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "show", "--property=LoadState", "--property=ExecStart", ServiceUnit)
	if err != nil || program == "" {
		return false
	}
	loaded, command := false, ""
	for line := range strings.Lines(answer) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "LoadState":
			loaded = value == "loaded"
		case "ExecStart":
			command = value
		}
	}
	return loaded && startsProgram(command, program)
}

// IsService reports whether that process is the one of the service.
func (p *Program) IsService(ctx context.Context, pid int) bool {
	answer, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "show", "--property=MainPID", "--value", ServiceUnit)
	return err == nil && pid > 0 && answer == strconv.Itoa(pid)
}

// startsProgram reports whether a command, as systemctl show has it, starts that program:
// itself, or as an argument, as where its path is one that systemd does not take.
//
// Source: print_exec_status_info of systemctl; it parts words by spaces and quotes none.
func startsProgram(command, program string) bool {
	path, rest, found := strings.Cut(strings.TrimPrefix(command, "{ path="), " ; argv[]=")
	if !found {
		return false
	}
	if SameFile(path, program) {
		return true
	}
	words, _, _ := strings.Cut(rest, " ; ignore_errors=")
	return strings.Contains(words+" ", " "+program+" run ")
}

// serviceGoesOn reports whether the service runs after it was started, or is about to.
func (p *Program) serviceGoesOn(ctx context.Context) bool {
	state, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "show", "--property=ActiveState", "--value", ServiceUnit)
	return err == nil && (state == "active" || state == "activating" || state == "reloading")
}

// unitKnown reports whether the user's systemd answers, and has a unit of this name,
// whoever has written it.
func (p *Program) unitKnown(ctx context.Context, unit string) bool {
	state, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "show", "--property=LoadState", "--value", unit)
	return err == nil && state == "loaded"
}

// startService starts the unit in this desktop. That it takes long is no failure:
// systemd goes on with it.
func (p *Program) startService(ctx context.Context) error {
	var set []string
	for _, name := range sessionVariables() {
		if p.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) > 0 {
		if _, err := p.Asked(ctx, ManagerTime, "systemctl", append([]string{"--user", "import-environment"}, set...)...); err != nil {
			return err
		}
	}
	_, err := p.Asked(ctx, UnitTime, "systemctl", "--user", "start", ServiceUnit)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// StopSocket keeps the next client from starting us again, before the next login or a
// start by hand. Starting the service starts the socket again.
func (p *Program) StopSocket(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ManagerTime)
	defer cancel()
	if runtime.GOOS != "linux" || !p.unitKnown(ctx, SocketUnit) {
		return nil
	}
	_, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "stop", SocketUnit)
	return err
}

// takeSocket has the user's systemd listen for clients no more where it does so at our
// share socket, which it has not passed, and its service does not run: it would start a
// second one of us for the first client, and nobody would serve that. The socket of
// another path is not in the way.
//
// Source: systemctl(1), and the states of sockets in socket-util of systemd:
// "listening" without the service, "running" with it.
func (p *Program) takeSocket(ctx context.Context) error {
	path := p.Places().ShareSocket
	if runtime.GOOS != "linux" || path == "" || path != InDir(p.Base.RuntimeDir, "lamplighter", "share.sock") {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	state, err := p.Asked(ctx, ManagerTime, "systemctl", "--user", "show", "--property=SubState", "--value", SocketUnit)
	if err != nil || state != "listening" {
		return nil // there is no systemd, or nothing in the way
	}
	_, err = p.Asked(ctx, ManagerTime, "systemctl", "--user", "stop", SocketUnit)
	return err
}

// SameFile reports whether two paths lead to one file or directory: homes are often behind
// links.
func SameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
