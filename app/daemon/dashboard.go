package daemon

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/dashboard"
	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
)

// dashboard adds the parts of the global dashboard, and returns the routes that
// its port and the control socket share.
func (b *background) dashboard(parts api.Parts) http.Handler {
	b.recorder = dashboard.NewRecorder(dashboard.RecorderOptions{Source: parts.Source})
	b.add("history", b.recorder.Serve)
	parts.Page = dashboard.Page()
	parts.Proxy = dashboard.NewProxy(dashboard.ProxyOptions{Log: b.log, Limits: b.Limits.Dashboard})
	parts.Recorder = b.recorder
	// Whoever may read the answer with the address may have the token in it, too.
	parts.Address = func() string { return b.web.OpenURL("") }
	bodies := payload.NewBudget(b.Limits.Bodies)
	handler := bodies.Handler(api.Handler(parts))

	b.web = api.NewWeb(api.WebOptions{
		Handler: handler,
		Log:     b.log,
		Limits:  b.Limits.API,
		Warn:    func(sentences ...string) { b.notices.set(aboutDashboard, sentences...) },
	})
	b.add("global dashboard", b.web.Serve)
	settings := func() config.Dashboard { return b.layers.now.Load().dashboard }
	b.opener = newOpener(b.web, settings, b.Open, newLoginMark(b.Base.RuntimeDir, b.places.StateDir), b.Pause, b.log)
	b.add("opening the global dashboard", b.opener.Serve)
	b.add("greeting", b.greet)
	b.serveSessions(bodies.Handler(api.SessionHandler(parts)))
	b.layers.change(func(*layers) {}, b.holds)
	return handler
}

// layers are what each place says of the settings, some of which may stand in
// several.
type layers struct {
	mu             sync.Mutex
	flags, serenas config.Layer
	clients        config.Layer // of the first ones that said something, with connect
	ours           config.Settings
	// lost says that at the start our file could not be used, so that nobody knows
	// what the user wants to be spared.
	lost bool
	over time.Duration        // replaces the time until a server is parked; 0: nothing does
	now  atomic.Pointer[held] // what holds, for whoever asks when it is needed
}

// held is what holds of what the layers say.
type held struct {
	dashboard     config.Dashboard
	sessions      config.Sessions
	sharing       config.Sharing
	policies      policy.Rules
	notifications bool
}

// change changes what is said, and tells what holds then, one change after the
// other.
func (l *layers) change(how func(*layers), holds func(held)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how(l)
	l.tell(holds)
}

// tell tells what holds from now on; l.mu is held.
func (l *layers) tell(holds func(held)) held {
	now := l.held()
	l.now.Store(&now)
	holds(now)
	return now
}

// held is what holds; l.mu is held.
func (l *layers) held() held {
	said := []config.Layer{l.flags, l.clients, l.ours.Layer, l.serenas}
	rules := l.ours.Policies(said...)
	if l.lost {
		rules = sparing(rules)
	}
	return held{
		dashboard: config.Layers(said...), sessions: l.ours.Sessions(), sharing: l.ours.Sharing(l.over), policies: rules, notifications: l.ours.Notifications(),
	}
}

// sparing are the same rules when they end nothing.
func sparing(r policy.Rules) policy.Rules {
	r.OrphanGrace, r.IdleAfter, r.MemoryEnd, r.Overrides = 0, 0, false, nil
	return r
}

// holds makes what holds count with the parts that do not ask for it.
func (b *background) holds(h held) {
	b.broker.Reconsider()
	b.sharingChanged.Ring()
	port := h.sessions.PortBeside(h.dashboard)
	b.web.Set(h.dashboard.On, h.dashboard.Port) // first: the other one tells where it is
	b.sessionWeb.Set(port != 0, port)
	b.engine.SetRules(h.policies)
}

// setIdle writes the idle rule into our settings file, and has it count at once.
func (b *background) setIdle(after time.Duration, attached bool) error {
	b.layers.mu.Lock()
	given := b.layers.flags.IdleShutdownMinutes != nil || b.layers.clients.IdleShutdownMinutes != nil
	b.layers.mu.Unlock()
	if given {
		return errors.New("idle_shutdown_minutes was given when Lamplighter was started, which counts more than its settings; start it without that")
	}
	if err := config.SetIdle(b.places.Config, after, attached); err != nil {
		return err
	}
	b.ours.Look()
	return nil
}

// addRule writes a rule for a process on a client's pipes into our settings file, and
// has it count at once.
func (b *background) addRule(in *monitor.Instance, name string) error {
	info, err := process.Read(in.Identity.PID)
	if err != nil {
		return err
	}
	rule, err := rules.ForChild(in, info, name)
	if err != nil {
		return err
	}
	if err := config.AddServer(b.places.Config, rule); err != nil {
		return err
	}
	b.ours.Look()
	return nil
}

// watchSettings is a part that notices changed settings. Where the system
// cannot tell of changes that is said once, and not tried again.
func (b *background) watchSettings(serve func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := serve(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.log.Warn("changed settings count from the next start", "error", err)
		<-ctx.Done()
		return ctx.Err()
	}
}

// reloaded takes changed settings over; with an error the last good ones stay.
func (b *background) reloaded(s config.Settings, err error) {
	if err != nil {
		b.log.Warn("the settings cannot be used", "error", err)
		b.notices.set(aboutSettings, SettingsFaults("settings", err, "the last good settings stay until you correct")...)
		return
	}
	b.log.Info("settings changed")
	b.level.Set(s.LogLevel.Level())
	b.model.SetRules(rules.New(s.Servers))
	b.configureWorkspaces(s)
	b.layers.change(func(l *layers) { l.ours, l.lost = s, false }, b.holds)
	hidden := b.settings.TrayIcon == config.TrayIconHidden
	switch {
	case hidden != (s.TrayIcon == config.TrayIconHidden):
		b.notices.set(aboutSettings, "settings: tray_icon counts from the next start of lamplighter")
	default:
		b.notices.set(aboutSettings)
		if !hidden {
			b.style.Store(string(s.TrayIcon))
			b.icon.Redraw()
		}
	}
}

// serenaReloaded takes over what Serena's own file says now; of what is wrong in
// it the last good settings stay.
func (b *background) serenaReloaded(l config.Layer, err error) {
	if err != nil {
		b.log.Warn("settings in Serena's file cannot be used", "error", err)
		b.notices.set(aboutSerenaSettings, SettingsFaults(serenasFile, err, "the last good settings stay until you correct")...)
	} else {
		b.log.Info("settings in Serena's file changed")
		b.notices.set(aboutSerenaSettings)
	}
	b.layers.change(func(said *layers) { said.serenas = l }, b.holds)
}

// serenasFile is what Serena's own file is called where something is wrong in it.
const serenasFile = "settings in Serena's file"

// SettingsFaults say what is wrong with settings, a sentence each, and in the last
// one what holds until that is corrected.
func SettingsFaults(whose string, err error, holds string) []string {
	faults := []string{err.Error()}
	var file *config.FileError
	if errors.As(err, &file) {
		faults = file.Lines()
	}
	object := "it"
	if len(faults) > 1 {
		object = "them"
	}
	for i, fault := range faults {
		faults[i] = monitor.Clean(whose + ": " + fault)
	}
	faults[len(faults)-1] += "; " + holds + " " + object
	return faults
}
