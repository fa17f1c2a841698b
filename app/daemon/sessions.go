package daemon

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"lamplighter/app/api"
	"lamplighter/app/launch"
	"lamplighter/app/session"
	"lamplighter/monitor"
)

// startSessions makes the parts that start servers for clients that ask for one. Where
// nothing can be started, that is said, and the routes answer with the reason.
func (b *background) startSessions(ctx context.Context) {
	b.finder = launch.NewFinder(launch.FinderOptions{Home: b.Base.Home, StateDir: b.places.StateDir, Log: b.log, Limits: b.Limits.Launch})
	b.launcher = launch.New(launch.Options{
		StateDir: b.places.StateDir, SerenaHome: b.places.SerenaHome, Finder: b.finder, Log: b.log, Limits: b.Limits.Launch,
		Tell: b.model.Launched, Record: b.model.Record, Adopted: func(s *launch.Server) { b.broker.Adopt(s) },
		Warn: func(sentences ...string) { b.current(aboutSessions, sentences...) },
	})
	_ = b.launcher.Open(ctx) // which warns
	b.sessions = session.New(session.Options{
		Start: session.With(b.launcher), Limit: func() int { return b.layers.now.Load().sessions.Limit }, Spec: b.sessionSpec, Log: b.log,
	})
}

// serveSessions adds the port of their own.
func (b *background) serveSessions(handler http.Handler) {
	b.sessionWeb = api.NewWeb(api.WebOptions{
		Handler: handler, Log: b.log, Like: b.web, Limits: b.Limits.API,
		Warn:   func(sentences ...string) { b.notices.set(aboutSessionPort, sentences...) },
		Serves: "the session manager", Root: "/",
		Instead: func() string { return askedAt(b.web.URL()) },
	})
	b.add("session manager", b.sessionWeb.Serve)
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

// sessionSpec says how the server of that name is started; "" is the usual one.
func (b *background) sessionSpec(project, server string) (launch.Spec, error) {
	holds := b.layers.now.Load().sessions
	if server == "" {
		server = holds.Server
	}
	spec := launch.Spec{Project: project, Lifetime: launch.Session, Limit: holds.StartLimit}
	if server == monitor.KindSerena {
		spec.Template = b.usualSerena()
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
func (b *background) usualSerena() launch.Template {
	serena := b.layers.now.Load().sessions.Serena
	return launch.Template{
		Name: monitor.KindSerena, Command: serena.Command, Arguments: serena.Arguments, Transport: string(serena.Transport),
	}
}
