package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
	"lamplighter/monitor/events"
	"lamplighter/monitor/registry"
	"lamplighter/monitor/rules"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
	"lamplighter/monitor/watch"
	"lamplighter/tray"
)

// serve composes the parts and runs them until ordered ends, or the user quits. The
// tray has the calling goroutine, which must be the main one: macOS allows its
// windows nothing else.
func (b *background) serve(ordered context.Context, lockHeld bool) error {
	ctx, quit := context.WithCancel(context.WithoutCancel(ordered))
	defer quit()
	b.supervisor = newSupervisor(b.log, b.Limits.Parts)

	log := lifecycle{dir: b.places.StateDir}
	record := func(monitor.Event) {}
	flush := func() error { return nil }
	var givenBack func() (uint64, time.Time)
	if b.places.StateDir != "" {
		writer := events.New(b.places.StateDir, b.log)
		record, flush, givenBack = writer.Append, writer.Flush, writer.GivenBack
		b.add("lifecycle log", writer.Serve)
	}

	store := OpenPins(b.places.StateDir, b.log)
	b.model = watch.New(watch.Options{
		Log: b.log, Rules: rules.New(b.settings.Servers), Pinned: store.Pinned, Settings: b.ClientSettings(), Plan: func(s *monitor.Snapshot) time.Time { return b.engine.Plan(s) }, SerenaHome: b.places.SerenaHome,
		Record: func(e monitor.Event) { record(e); b.recorder.Note(e); b.opener.happened(e) },
	})
	if seen := openProofs(b.places.StateDir, b.log); seen != nil {
		seen.restore(b.model.Restore)
		b.add("proofs", eachSnapshot(b.model, seen.note))
	}
	pins := pinner{store, b.model, &b.notices}
	if err := pins.unknown(); err != nil {
		b.Say("%s", PinsProblem(err)) // the store has logged it
	}
	b.notices.show(b.model.SetWarnings)

	orders := newOrders(ctx, NewLadder(b.Limits.Stop, b.log, b.record, func() Matcher { return b.model.Rules() }, store, pins.unknown))
	languages := &languageServers{stop.New(stop.Options{Log: b.log, Limits: b.Limits.Stop}), b.record}
	b.startPolicies(orders, lockHeld)
	b.startSessions(ctx)
	b.startSharing(ctx, pins.unknown, orders)
	b.add("servers that hang", eachSnapshot(b.model, func(s *monitor.Snapshot) { b.broker.Hung(hungIn(s)) }))
	// Looked at while the clients are there still, and said when all else is done:
	// whoever does not read, or has gone, must not hold the end up or cut it short.
	last := make(chan string, 1)
	defer context.AfterFunc(ordered, func() {
		words := make(chan string, 1)
		go func() { words <- endingWords(b.broker.Shared(), len(b.sessions.List())) }()
		select {
		case text := <-words:
			last <- text
		case <-time.After(b.Limits.LastLook): // the end does not wait for it
		}
		quit()
	})()
	again := restarter{b.broker, b.record}
	desk := &desk{open: b.Open, ask: b.announce, quit: func() { b.quitByUser(ctx, quit) }}
	rows := new(view.Rows)
	parts := api.Parts{
		Source: b.model, Rows: rows, Show: desk, SetIdle: b.setIdle, AddRule: b.addRule, RestartLanguageServer: languages.Restart, Stop: orders, Restarter: again, Events: log, Pins: pins, Policies: b.engine, Record: b.record, GivenBack: givenBack,
		Version: b.Version, Log: b.log, Sessions: b.sessions, Setup: b.setupPart(), Quit: b.ending(ctx, quit), Limits: b.Limits.API,
	}
	desk.parts = parts
	atLogin, welcome := b.startLogin(b.announce), b.startWelcome(func() { desk.Do(view.Order{Verb: view.OpenPage}) })
	parts.Login, parts.Welcome = atLogin, welcome
	desk.login = atLogin.SetAtLogin
	b.add("welcome", welcome.Serve)
	if spaces := b.startWorkspaces(orders, workspace.Chronicle{Flush: flush, Written: log.Events}); spaces != nil {
		parts.Workspaces = spaces
		b.add("workspaces", b.serveWorkspaces(spaces))
	}
	b.add("MCP over HTTP", b.shareServer.ServeWeb)
	parts.MCP = b.shareServer
	handler := b.dashboard(parts)
	desk.web = b.web
	b.add("watch", b.model.Serve)
	b.addSources(parts)
	b.add("settings", b.watchSettings(b.ours.Serve))
	b.add("settings of Serena", b.watchSettings(b.serenas.Serve))

	control := api.NewServer(api.Options{Path: b.places.ControlSocket, LockHeld: lockHeld, Handler: handler, Log: b.log, Limits: b.Limits.API})
	if err := control.Open(); err != nil {
		b.warn(aboutControl, "%v; going on without it, so that status and open look for themselves", err)
	} else {
		b.add("control socket", control.Serve)
	}

	b.add("share socket", b.serveShare(lockHeld))
	unseen := make(chan struct{})
	isUnseen := sync.OnceFunc(func() { close(unseen) })
	if b.passed != nil {
		b.add("ending when unused", b.endUnused(unseen, quit))
		if !DesktopIn(runtime.GOOS, b.Getenv) {
			isUnseen() // the tray may have a bus, and nobody who looks
		}
	}

	stopped := make(chan struct{})
	defer close(stopped)
	go b.exitInTime(ctx, stopped)

	b.style.Store(string(b.settings.TrayIcon))
	b.icon = tray.New(tray.Options{
		Source: b.model,
		Rows:   rows,
		Orders: desk,
		Extras: func() tray.Extras {
			extras := tray.Extras{Version: b.Version, Style: b.style.Load().(string), Workspaces: b.menuWorkspaces()}
			extras.AtLogin, extras.CanSwitch = atLogin.AtLogin()
			if givenBack != nil {
				extras.GivenBack, extras.GivenSince = givenBack()
			}
			return extras
		},
		Tell: func(text string) { b.tell("%s", text) },
	})
	starting := newSupervisor(b.log, b.Limits.Parts)
	starting.Add(service{"launcher", b.launcher.Serve})
	starting.Add(service{"sessions", b.sessions.Serve})
	starting.Add(service{"shared servers", b.broker.Serve})
	launching := starting.ServeBackground(ctx)
	ended := b.supervisor.ServeBackground(ctx)
	err := b.serveTray(ctx)
	isUnseen()
	if errors.Is(err, tray.ErrBusLost) {
		b.untilDesktopEnds(ctx)
	}
	if errors.Is(err, tray.ErrBusLost) || errors.Is(err, tray.ErrClosed) {
		// The session has ended, and its successor starts a lamplighter that
		// can show an icon: this one never could again.
		b.log.Info("ending with the desktop session", "why", err)
		quit()
	}
	<-ctx.Done()
	words := ""
	select {
	case words = <-last:
	default:
	}
	if words != "" && b.logged {
		b.log.Warn(words)
	}
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		b.log.Warn("the parts did not all stop", "error", err)
	}
	if err := <-launching; err != nil && !errors.Is(err, context.Canceled) {
		b.log.Warn("the servers that were started did not all end; their keepers see to it", "error", err)
	}
	orders.close()
	if err := flush(); err != nil { // what the others said as they ended
		b.log.Warn("the last events were not written", "error", err)
	}
	if words != "" {
		b.Say("%s", words)
	}
	return nil
}

// add adds a part under a name for the log.
func (b *background) add(name string, serve func(context.Context) error) {
	b.supervisor.Add(service{name, serve})
}

// addSources adds what tells the model of servers besides its own looking.
func (b *background) addSources(parts api.Parts) {
	limits := b.Limits.API
	limits.Retry = cmp.Or(limits.Retry, time.Minute) // servers that find nobody there are found by looking
	registrations := api.NewWeb(api.WebOptions{
		Handler: api.TrayHandler(parts, b.model.Hint, b.opener.viewer),
		Log:     b.log, Limits: limits,
		Warn:   func(...string) {}, // the log says it, and nothing is lost
		Serves: "the port for Serena servers", Root: "/",
		Instead: func() string { return "Serena servers cannot register there, and are found by looking" },
	})
	registrations.Set(true, serena.TrayPort)
	b.add("tray protocol", registrations.Serve)

	if b.places.SerenaHome == "" {
		return
	}
	b.add("registry", registry.NewMirror(registry.Options{
		Dir:       b.places.SerenaHome,
		Subscribe: b.model.Subscribe,
		Found:     b.model.Hint,
		Event:     b.model.Record,
		Warn:      func(sentences ...string) { b.current(aboutRegistry, sentences...) },
	}).Serve)
}

// exitInTime ends the process when a part hangs after the order to end.
func (b *background) exitInTime(ctx context.Context, stopped <-chan struct{}) {
	<-ctx.Done()
	select {
	case <-stopped:
	case <-time.After(b.Limits.Exit):
		b.log.Error("some part did not stop in time")
		b.Exit(0)
	}
}

// serveTray shows the tray icon until ctx ends. It returns early when there
// can be none, after saying so, and when the desktop session ends, with an
// error that Is tray.ErrBusLost or tray.ErrClosed.
func (b *background) serveTray(ctx context.Context) error {
	if b.settings.TrayIcon == config.TrayIconHidden {
		b.tell("headless: the settings hide the tray icon; everything else works")
		return nil
	}
	err := b.tray(ctx)
	switch {
	case ctx.Err() != nil, errors.Is(err, tray.ErrBusLost), errors.Is(err, tray.ErrClosed):
	case errors.Is(err, tray.ErrNoBus):
		b.tell("headless: %v", err)
	default:
		b.tell("the tray icon has ended (%v); everything else works", err)
	}
	return err
}

// tray runs the tray. It cannot run twice in a process, so a panic in it ends
// the icon and nothing else.
func (b *background) tray(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			b.log.Error("panic in the tray", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return b.icon.Serve(ctx)
}

// lifecycle is the lifecycle log in a state directory, for the routes.
type lifecycle struct{ dir string }

// Events reads what happened since then, the newest eventsAnswered at most.
func (l lifecycle) Events(since time.Time) ([]monitor.Event, error) {
	if l.dir == "" {
		return nil, ErrNoStateDir
	}
	list, err := events.Read(l.dir, events.Query{Since: since, Last: eventsAnswered})
	return list.Events, err
}

// eventsAnswered bounds an answer: some 3 MB.
const eventsAnswered = 10_000
