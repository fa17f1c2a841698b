package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// ErrLoginStays says that start at login cannot be switched as things are. The
// errors that wrap it are sentences for people: why, and what to do.
var ErrLoginStays = errors.New("start at login cannot be switched here")

// LoginState is how start at login stands.
type LoginState struct {
	On  bool
	Can bool   // it can be switched
	How string // what does it, in words; "" while it is off
	Why string // it cannot be switched, or what is odd about it: a sentence; "" for nothing
}

// LoginSwitch is start at login of this user. Its methods may be called on any
// goroutine.
type LoginSwitch interface {
	// Login reads how it stands now.
	Login() LoginState
	// SetLogin switches it, and returns how it stands then; by says in words who
	// asked for it. To switch it to what it is already does nothing. The error is
	// a sentence for people, and wraps ErrLoginStays where nothing that we do
	// could switch it.
	SetLogin(ctx context.Context, on bool, by string) (LoginState, error)
}

// Login is the body of GET and the answer to PUT /global-dashboard/login.
type Login struct {
	On  bool    `json:"on"`
	Can bool    `json:"can"`
	How *string `json:"how"` // "systemd user unit"; null while it is off
	Why *string `json:"why"` // a sentence
}

const loginPath = pageRoot + "login"

const noLogin = "start at login cannot be seen from here"

// loginTable are the routes of start at login and of the welcome.
func (r routes) loginTable() []route {
	return []route{
		{http.MethodGet, loginPath, r.login},
		{http.MethodPut, loginPath, r.setLogin},
		{http.MethodGet, welcomePath, r.welcome},
		{http.MethodPut, welcomePath, r.dismissWelcome},
	}
}

// login answers how start at login stands.
func (r routes) login(w http.ResponseWriter, _ *http.Request) {
	if r.parts.Login == nil {
		r.fail(w, http.StatusServiceUnavailable, noLogin)
		return
	}
	r.answer(w, http.StatusOK, encodeLogin(r.parts.Login.Login()))
}

// setLogin switches start at login. Once begun it goes on, also when whoever
// asked goes away.
func (r routes) setLogin(w http.ResponseWriter, req *http.Request) {
	on, ok := bodyOf(r, w, req, parseLogin)
	if !ok {
		return
	}
	if r.parts.Login == nil {
		r.fail(w, http.StatusServiceUnavailable, noLogin)
		return
	}
	state, err := r.parts.Login.SetLogin(context.WithoutCancel(req.Context()), on, orderedBy(req))
	switch {
	case errors.Is(err, ErrLoginStays):
		r.fail(w, http.StatusConflict, monitor.Clean(err.Error()))
	case err != nil:
		r.fail(w, http.StatusInternalServerError, monitor.Clean(err.Error()))
	default:
		r.answer(w, http.StatusOK, encodeLogin(state))
	}
}

// parseLogin reads {"on":true} and nothing else.
func parseLogin(body []byte) (bool, error) {
	const like = `the body is not like {"on":true}`
	var order struct {
		On *bool `json:"on"`
	}
	if err := payload.Decode(body, &order, "on"); err != nil {
		return false, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	if order.On == nil {
		return false, errors.New(like)
	}
	return *order.On, nil
}

func encodeLogin(s LoginState) Login {
	return Login{On: s.On, Can: s.Can, How: view.Known(monitor.Clean(s.How)), Why: view.Known(monitor.Clean(s.Why))}
}
