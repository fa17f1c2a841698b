package daemon

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/thejerf/suture/v4"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

// sessions are the parts that start servers for clients that ask for one: what
// starts them, who manages them, and the port where they are asked for.
type sessions struct {
	settings func() config.Sessions // that hold now
	finder   *launch.Finder
	launcher *launch.Launcher
	manager  *session.Manager
	web      *api.Web
}

// startSessions makes the parts. Where nothing can be started, that is said, and
// the routes answer with the reason.
func (b *background) startSessions(ctx context.Context) {
	s := &sessions{
		settings: func() config.Sessions { return b.layers.now.Load().sessions },
		finder:   launch.NewFinder(launch.FinderOptions{Home: b.Base.Home, StateDir: b.places.StateDir, Log: b.log, Limits: b.Limits.Launch}),
	}
	b.sessions = s
	s.launcher = launch.New(launch.Options{
		StateDir: b.places.StateDir, SerenaHome: b.places.SerenaHome, Finder: s.finder, Log: b.log, Limits: b.Limits.Launch,
		Tell: b.model.Launched, Record: b.model.Record,
		Warn: func(sentences ...string) { b.current(aboutSessions, sentences...) },
	})
	_ = s.launcher.Open(ctx) // which warns
	s.manager = session.New(session.Options{
		Start: session.With(s.launcher), Limit: func() int { return s.settings().Limit }, Spec: s.spec, Log: b.log,
	})
}

// serveSessions adds the port of their own.
func (b *background) serveSessions(handler http.Handler) {
	b.sessions.web = api.NewWeb(api.WebOptions{
		Handler: handler, Log: b.log, Like: b.web, Limits: b.Limits.API,
		Warn:   func(sentences ...string) { b.notices.set(aboutSessionPort, sentences...) },
		Serves: "the session manager", Root: "/",
		Instead: func() string { return askedAt(b.web.URL()) },
	})
	b.add("session manager", b.sessions.web.Serve)
}

// askedAt says where sessions are asked for while they have no port of their own.
// page is the address of the global dashboard, "" when that has none either.
func askedAt(page string) string {
	const another = "; another port can be set with session_port"
	u, err := url.Parse(page)
	if page == "" || err != nil {
		return "sessions are asked for on the control socket alone" + another
	}
	return "sessions are asked for at the global dashboard's port alone, http://" + u.Host + "/request-session" + another
}

// spec says how the server of that name is started; "" is the usual one.
func (s *sessions) spec(project, server string) (launch.Spec, error) {
	holds := s.settings()
	if server == "" {
		server = holds.Server
	}
	spec := launch.Spec{Project: project, Lifetime: launch.Session, Limit: holds.StartLimit}
	if server == monitor.KindSerena {
		spec.Template = s.usualSerena()
		return spec, nil
	}
	t, found := holds.Template(server)
	if !found {
		return launch.Spec{}, fmt.Errorf("%w: %q; templates: in the settings has those besides %s", session.ErrNoServer, monitor.Clean(server), monitor.KindSerena)
	}
	spec.Template = launch.Template{
		Name: t.Name, Command: t.Command, Transport: string(t.Transport), Path: t.Path, Directory: t.Directory, Env: t.Env,
	}
	return spec, nil
}

// usualSerena is how the settings have Serena started.
func (s *sessions) usualSerena() launch.Template {
	serena := s.settings().Serena
	return launch.Template{
		Name: monitor.KindSerena, Command: serena.Command, Arguments: serena.Arguments, Transport: string(serena.Transport),
	}
}

// addTo adds the parts that start servers.
func (s *sessions) addTo(supervisor *suture.Supervisor) {
	supervisor.Add(service{"launcher", s.launcher.Serve})
	supervisor.Add(service{"sessions", s.manager.Serve})
}

// live reports whether something was started that ends with us, which takes its
// time.
func (s *sessions) live() bool { return len(s.manager.List()) > 0 }
