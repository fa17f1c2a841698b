package cli

import (
	"context"
	"errors"
	"os"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/daemon"
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
	out, onScreen := screenOf(os.Stdout, os.Getenv)
	errOut, errOnScreen := screenOf(os.Stderr, os.Getenv)
	p := &program{
		Program: daemon.Program{
			Version:     version,
			Stdout:      os.Stdout,
			Stderr:      os.Stderr,
			OnScreen:    onScreen,
			ErrOnScreen: errOnScreen,
			Getenv:      os.Getenv,
			Base:        config.SystemBase(),
			Open:        daemon.NewBrowser().Open,
			Pause:       daemon.Pause,
			Limits:      daemon.Limits{}.OrDefault(),
			Exit:        os.Exit,
			Setup:       func(o setup.Options) api.Setup { return setup.New(o) },
			Self:        self,
			Process:     process.Read,
		},
		screen:    out,
		errScreen: errOut,
		logs:      serena.NewClient(),
		alert:     newAlert(),
		become:    become,
		launch:    launchDetached,
		terminate: terminate,
		account:   accountOf,
	}
	if typed(os.Stdin) {
		p.keyboard = os.Stdin
	}
	p.scan = func(ctx context.Context) (*monitor.Snapshot, error) {
		return watch.Once(ctx, p.watching())
	}
	p.ladder = func(record func(monitor.Event)) api.Stopper {
		current, pinned := p.rules(), p.pins()
		return daemon.NewLadder(p.Limits.Stop, nil, record, func() daemon.Matcher { return current }, pinned, pinned.Err)
	}
	p.follow = func(ctx context.Context, each func(*monitor.Snapshot) error) error {
		return followWatch(ctx, p.watching(), each)
	}
	return p
}

// settings are those of our file. What is wrong with them is said once per run,
// and then the defaults have to do.
func (p *program) settings() config.Settings {
	places := p.Places()
	settings, err := config.Load(places.Config, places.ConfigNamed)
	if err != nil && !p.settingsTold {
		p.settingsTold = true
		p.warn(daemon.SettingsFaults("settings", err, "the defaults are used until you correct"))
	}
	return settings
}

// rules are those of the settings.
func (p *program) rules() *rules.Set { return rules.New(p.settings().Servers) }

// policyRules are those of the settings, Serena's among them. What the user has
// said to the policies since, the background process knows.
func (p *program) policyRules() policy.Rules {
	settings := p.settings()
	serenas, _ := config.NewSerenaWatcher(p.Places().SerenaHome, nil).Load() // what is wrong there, the background process says
	return settings.Policies(p.Flags, settings.Layer, serenas)
}

// pins are those that are remembered now.
func (p *program) pins() *pins.Store { return daemon.OpenPins(p.Places().StateDir, nil) }

// watching is how a watch of our own looks.
func (p *program) watching() watch.Options {
	pinned := p.pins()
	o := watch.Options{Rules: p.rules(), Pinned: pinned.Pinned, Settings: p.ClientSettings()}
	if err := pinned.Err(); err != nil {
		o.Warnings = []string{daemon.PinsProblem(err)}
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
