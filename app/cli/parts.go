package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/pins"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/watch"
)

// newProgram connects the command line to the real world.
func newProgram(version string) *program {
	self, err := os.Executable()
	if err != nil {
		self = "" // then only the name tells a lamplighter
	}
	p := &program{
		version:   version,
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		screen:    screenOf(os.Stdout, os.Getenv),
		getenv:    os.Getenv,
		base:      config.SystemBase(),
		errScreen: screenOf(os.Stderr, os.Getenv),
		open:      newBrowser().open,
		logs:      serena.NewClient(),
		pause:     pause,
		rivalTime: rivalTime,
		askTime:   askTime,
		exit:      os.Exit,
		alert:     newAlert(),
		become:    become,
		self:      self,
		process:   process.Read,
		launch:    launchDetached,
		terminate: terminate,
		account:   accountOf,
		setup:     func(o setup.Options) api.Setup { return setup.New(o) },
	}
	if typed(os.Stdin) {
		p.keyboard = os.Stdin
	}
	p.scan = func(ctx context.Context) (*monitor.Snapshot, error) {
		return watch.Once(ctx, p.watching())
	}
	p.ladder = func(record func(monitor.Event)) api.Stopper {
		current, pinned := p.rules(), p.pins()
		return newLadder(nil, record, func() matcher { return current }, pinned, pinned.Err)
	}
	p.follow = func(ctx context.Context, each func(*monitor.Snapshot) error) error {
		return followWatch(ctx, p.watching(), each)
	}
	return p
}

// settings are those of our file. What is wrong with them is said once per run,
// and then the defaults have to do.
func (p *program) settings() config.Settings {
	places := p.places()
	settings, err := config.Load(places.Config, places.ConfigNamed)
	if err != nil && !p.settingsTold {
		p.settingsTold = true
		p.warn(settingsFaults("settings", err, "the defaults are used until you correct"))
	}
	return settings
}

// rules are those of the settings.
func (p *program) rules() *rules.Set { return rules.New(p.settings().Servers) }

// policyRules are those of the settings, Serena's among them. What the user has
// said to the policies since, the background process knows.
func (p *program) policyRules() policy.Rules {
	settings := p.settings()
	serenas, _ := config.NewSerenaWatcher(p.places().SerenaHome, nil).Load() // what is wrong there, the background process says
	return settings.Policies(p.flags, settings.Layer, serenas)
}

// pins are those that are remembered now.
func (p *program) pins() *pins.Store { return openPins(p.places().StateDir, nil) }

// watching is how a watch of our own looks.
func (p *program) watching() watch.Options {
	pinned := p.pins()
	o := watch.Options{Rules: p.rules(), Pins: pinned}
	if err := pinned.Err(); err != nil {
		o.Warnings = []string{pinsProblem(err)}
	}
	return o
}

// followWatch runs a watch of our own.
func followWatch(ctx context.Context, o watch.Options, each func(*monitor.Snapshot) error) error {
	ctx, cancel := context.WithCancel(ctx)
	w := watch.New(o)
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx) }()
	snapshots, unsubscribe := w.Subscribe()
	defer unsubscribe()
	for {
		select {
		case err := <-ended:
			cancel()
			return err
		case s := <-snapshots:
			if err := each(s); err != nil {
				cancel()
				return errors.Join(err, ignoreCancel(<-ended))
			}
		}
	}
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
