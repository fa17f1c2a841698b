package daemon

import (
	"context"
	"os"

	"lamplighter/app/config"
)

// handedOver reports whether the user's systemd has been told to start us, or has
// done so before, so that this process is not needed. What the command line says is
// for this process alone: the unit does not have it.
func (p *Program) handedOver(ctx context.Context) bool {
	if p.ConfigFile != "" || p.Flags != (config.Layer{}) {
		return false
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		cgroups = nil // then the variable has to tell
	}
	return p.handOver(ctx, startedAs{pid: os.Getpid(), execPID: p.Getenv("SYSTEMD_EXEC_PID"), cgroups: string(cgroups)}, p.Self)
}

// StopSocket has systemd start us for no client.
func (p *Program) StopSocket(ctx context.Context) error { return p.stopSocketUnit(ctx) }

// listenOurselves takes the share socket over from systemd, which has not passed it.
func (p *Program) listenOurselves(ctx context.Context) error {
	return p.takeSocket(ctx, p.Places().ShareSocket)
}

// takeSocket has the user's systemd listen for clients no more where it does so at a
// path of ours and its service does not run: it would start a second one of us for the
// first client, and nobody would serve that. The socket of another path is not in the
// way.
//
// Source: systemctl(1), and the states of sockets in socket-util of systemd:
// "listening" without the service, "running" with it.
func (p *Program) takeSocket(ctx context.Context, path string) error {
	if path == "" || path != InDir(p.Base.RuntimeDir, "lamplighter", "share.sock") {
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
