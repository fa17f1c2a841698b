package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/daemon"
	"lamplighter/installer"
	"lamplighter/monitor"
)

// startTime is what a background process gets to answer after its start.
const startTime = 10 * time.Second

// launchDetached starts a program that outlives us, with no output, and tells when
// it has ended.
func launchDetached(path string, args ...string) (<-chan error, error) {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

// startInstalled starts the background process as a login does, and returns when it
// answers.
func (p *program) startInstalled(ctx context.Context, path string) (api.Health, error) {
	var ended <-chan error
	if !p.startedBySystem(ctx, path) {
		var err error
		if ended, err = p.launch(path, "run", "--at-login"); err != nil {
			return api.Health{}, fmt.Errorf("lamplighter did not start: %w", err)
		}
	}
	deadline := time.Now().Add(startTime)
	for {
		client, health, err := api.Dial(ctx, p.Places().ControlSocket)
		if err == nil {
			client.Close()
			return health, nil
		}
		select {
		case failed := <-ended:
			if failed != nil {
				return api.Health{}, fmt.Errorf("lamplighter did not start (%w); lamplighter run says why", failed)
			}
			ended = nil // it has handed over
		default:
		}
		if time.Now().After(deadline) {
			return api.Health{}, fmt.Errorf("lamplighter has been started and does not answer (%w); lamplighter doctor says more", err)
		}
		if err := p.Pause(ctx, endPoll); err != nil {
			return api.Health{}, err
		}
	}
}

// startedBySystem starts what the system starts at login, where it has that.
func (p *program) startedBySystem(ctx context.Context, program string) bool {
	switch runtime.GOOS {
	case "linux":
		return p.StartAsService(ctx, program)
	case "darwin":
		return p.kickstart(ctx) == nil
	}
	return false
}

// replacedUnits are the units of others that changes put aside.
func replacedUnits(changes []installer.Change) []string {
	var units []string
	for _, c := range changes {
		if name := filepath.Base(c.Path); c.Op == installer.OpWrite && c.Backup && (name == daemon.ServiceUnit || name == daemon.SocketUnit) {
			units = append(units, name)
		}
	}
	return units
}

// activeUnits are those of some units that the user's systemd runs now.
func (p *program) activeUnits(ctx context.Context, units []string) []string {
	var active []string
	for _, unit := range units {
		state, err := p.Asked(ctx, daemon.ManagerTime, "systemctl", "--user", "show", "--property=ActiveState", "--value", unit)
		if err == nil && state != "inactive" && state != "failed" {
			active = append(active, unit)
		}
	}
	return active
}

// stopForeign stops units of others, where ours are started: systemd takes one that is
// active for started, whatever its file says by then.
func (r *installRun) stopForeign(ctx context.Context) error {
	if len(r.foreign) == 0 || r.step() == stepNone {
		return nil
	}
	if _, err := r.Asked(ctx, daemon.UnitTime, "systemctl", append([]string{"--user", "stop"}, r.foreign...)...); err != nil {
		return fmt.Errorf("%s, which is to be put aside, does not stop, and nothing was changed: %w", strings.Join(r.foreign, " and "), err)
	}
	return nil
}

// startForeign starts them again, since their files are back; also when we are
// interrupted.
func (r *installRun) startForeign(ctx context.Context) error {
	if len(r.foreign) == 0 || r.step() == stepNone {
		return nil
	}
	if _, err := r.Asked(context.WithoutCancel(ctx), daemon.UnitTime, "systemctl", append([]string{"--user", "start"}, r.foreign...)...); err != nil {
		return fmt.Errorf("%s was stopped for it, and does not start: %w", strings.Join(r.foreign, " and "), err)
	}
	return nil
}

// kickstart has launchd run our agent.
//
// Source: launchctl(1).
func (p *program) kickstart(ctx context.Context) error {
	_, err := p.Asked(ctx, daemon.UnitTime, "launchctl", "kickstart", fmt.Sprintf("gui/%d/lamplighter", p.account(p.Base.Home).uid))
	return err
}

// otherVersion says that it is another program which has been started, "" when it is
// the one that was installed.
func otherVersion(health api.Health, version string) string {
	if health.Version == version {
		return ""
	}
	return fmt.Sprintf("What runs now%s is Lamplighter %s, and not %s; lamplighter doctor says more.", daemon.PIDInWords(health.PID), monitor.Clean(health.Version), version)
}
