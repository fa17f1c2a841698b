package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/notify"
	"lamplighter/installer"
	"lamplighter/monitor"
)

const (
	// loginFresh is how long the menu believes what was read: somebody else may
	// switch start at login, as the Task Manager of Windows does.
	loginFresh = 10 * time.Second
	// loginTime is how long switching may take. Whatever is run for it is told of a
	// unit, and waited for.
	loginTime = 30 * time.Second
)

// loginInstaller switches start at login: installer.Installer.
type loginInstaller interface {
	Login() installer.Login
	PlanLogin(ctx context.Context, on bool) (installer.Plan, error)
	Do(ctx context.Context, p installer.Plan, tell func(installer.Change, error)) error
}

// atLogin is start at login as the menu and the page show and switch it. Make it
// with startLogin.
type atLogin struct {
	installer loginInstaller
	now       func() time.Time
	changed   func()            // the menu is to be drawn again
	failed    func(text string) // tells the user that an order of the menu failed, or with "" that this no longer matters
	log       *slog.Logger

	switching sync.Mutex // held while it is switched

	mu      sync.Mutex
	state   api.LoginState // as it was last read
	readAt  time.Time      // zero: never
	reading bool           // somebody does
}

// startLogin makes the part. The menu exists once it is served.
func (b *background) startLogin(announce func(n notify.Notification, chosen func(key string)) bool) *atLogin {
	return &atLogin{
		installer: b.Installer(), now: time.Now, changed: func() { b.icon.Redraw() }, log: b.log,
		failed: func(text string) {
			if text == "" {
				b.notices.set(aboutLogin)
				return
			}
			b.notices.set(aboutLogin, text)
			announce(notify.Notification{ID: "start at login", Summary: "Start at login", Body: text}, nil)
		},
	}
}

// Login reads how start at login stands now, for the menu too.
func (a *atLogin) Login() api.LoginState {
	l := a.installer.Login()
	state := api.LoginState{On: l.On, Can: l.Can, How: l.How, Why: l.Why}
	a.mu.Lock()
	before := a.state
	a.state, a.readAt = state, a.now()
	a.mu.Unlock()
	if before.On != state.On || before.Can != state.Can {
		a.changed()
	}
	return state
}

// AtLogin is how it stood when it was last read. What is older than loginFresh is
// read again, beside the caller.
func (a *atLogin) AtLogin() (on, can bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.now(); !a.reading && (a.readAt.IsZero() || now.Sub(a.readAt) >= loginFresh) {
		a.reading = true
		go func() {
			a.Login()
			a.mu.Lock()
			a.reading = false
			a.mu.Unlock()
		}()
	}
	return a.state.On, a.state.Can
}

// SetAtLogin switches it on the word of the user at the menu, who has no answer to
// read: what fails is shown.
func (a *atLogin) SetAtLogin(on bool) {
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if _, err := a.SetLogin(ctx, on, byMenu); err != nil {
		a.failed(monitor.Clean(err.Error()))
		return
	}
	a.failed("")
}

// SetLogin switches start at login; by says who asked for it.
func (a *atLogin) SetLogin(ctx context.Context, on bool, by string) (api.LoginState, error) {
	a.switching.Lock()
	defer a.switching.Unlock()
	state, err := a.set(ctx, on)
	if err != nil {
		a.log.Warn("start at login was not switched", "on", on, "by", by, "error", err)
		return state, fmt.Errorf("start at login was not switched %s: %w", onOff(on), err)
	}
	a.log.Info("start at login", "on", on, "by", by, "how", state.How)
	return state, nil
}

// set does it. Whatever came of it is read again, so that the menu shows what is.
func (a *atLogin) set(ctx context.Context, on bool) (api.LoginState, error) {
	before := a.Login()
	switch {
	case before.On == on:
		return before, nil
	case !before.Can:
		return before, loginStays(before.Why)
	}
	plan, err := a.installer.PlanLogin(ctx, on)
	if err != nil {
		return before, staysFor(err)
	}
	for _, note := range plan.Notes {
		a.log.Info("start at login", "note", note)
	}
	err = a.installer.Do(ctx, plan, func(c installer.Change, err error) {
		if err != nil {
			a.log.Warn("start at login", "change", c.String(), "error", err)
		}
	})
	after := a.Login()
	switch {
	case err != nil:
		return after, staysFor(err)
	case after.On != on:
		return after, errors.New(strings.TrimSuffix("it is still "+onOff(after.On)+": "+after.Why, ": "))
	}
	return after, nil
}

// loginStays is why start at login cannot be switched: an api.ErrLoginStays.
type loginStays string

func (why loginStays) Error() string {
	if why == "" {
		return api.ErrLoginStays.Error()
	}
	return string(why)
}

func (why loginStays) Is(target error) bool { return target == api.ErrLoginStays }

// staysFor makes a loginStays of the errors that nothing we do could mend.
func staysFor(err error) error {
	for _, stays := range []error{installer.ErrForeign, installer.ErrNoPrograms, installer.ErrNoHome} {
		if errors.Is(err, stays) {
			return loginStays(err.Error())
		}
	}
	return err
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
