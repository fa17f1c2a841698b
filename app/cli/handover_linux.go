package cli

import (
	"context"
	"os"

	"lamplighter/app/config"
)

// handedOver tells whether the user's systemd has been told to start us, or has
// done so before, so that this process is not needed. What the command line says is
// for this process alone: the unit does not have it.
func (p *program) handedOver(ctx context.Context) bool {
	if p.configFile != "" || p.flags != (config.Layer{}) {
		return false
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		cgroups = nil // then the variable has to tell
	}
	return p.handOver(ctx, startedAs{pid: os.Getpid(), execPID: p.getenv("SYSTEMD_EXEC_PID"), cgroups: string(cgroups)}, p.self)
}

// notBySocket has systemd start us for no client.
func (p *program) notBySocket(ctx context.Context) error { return p.stopSocketUnit(ctx) }

// listenOurselves takes the share socket over from systemd, which has not passed it.
func (p *program) listenOurselves(ctx context.Context) error {
	return p.takeSocket(ctx, p.places().ShareSocket)
}

// takeSocket has the user's systemd listen for clients no more where it does so at a
// path of ours and its service does not run: it would start a second one of us for the
// first client, and nobody would serve that. The socket of another path is not in the
// way.
//
// Source: systemctl(1), and the states of sockets in socket-util of systemd:
// "listening" without the service, "running" with it.
func (p *program) takeSocket(ctx context.Context, path string) error {
	if path == "" || path != inDir(p.base.RuntimeDir, "lamplighter", "share.sock") {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	state, err := p.asked(ctx, managerTime, "systemctl", "--user", "show", "--property=SubState", "--value", socketUnit)
	if err != nil || state != "listening" {
		return nil // there is no systemd, or nothing in the way
	}
	_, err = p.asked(ctx, managerTime, "systemctl", "--user", "stop", socketUnit)
	return err
}
