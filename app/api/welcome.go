package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/payload"
	"lamplighter/app/setup"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Welcomer welcomes a user once after installing. Its methods may be called on
// any goroutine.
type Welcomer interface {
	// Welcome reports whether the page is to do so, and how the program was
	// installed: "deb", "rpm", "setup", "app", "hand", or "" when it was not.
	Welcome() (show bool, installed string)
	// Dismiss has it not done again. The error is a sentence for people.
	Dismiss() error
}

// Welcome is the body of GET and the answer to PUT /global-dashboard/welcome.
type Welcome struct {
	Show      bool    `json:"show"`
	Version   string  `json:"version"`
	Installed *string `json:"installed"` // null: it runs from where it was built or unpacked
	Login     *Login  `json:"login"`     // null: it cannot be seen
	Servers   int     `json:"servers"`   // that run
	// Clients are those in whose settings setup would change something; null
	// while the welcome is not shown, and where they cannot be read.
	Clients *int    `json:"clients"`
	PageURL *string `json:"page_url"` // null while the page is not served
}

const welcomePath = pageRoot + "welcome"

const noWelcome = "nobody is welcomed here"

// welcome answers what the page says to a user who has just installed us.
func (r routes) welcome(w http.ResponseWriter, req *http.Request) {
	if r.parts.Welcome == nil {
		r.fail(w, http.StatusServiceUnavailable, noWelcome)
		return
	}
	if s := r.snapshot(w, req); s != nil {
		r.answer(w, http.StatusOK, r.welcomeNow(req.Context(), s))
	}
}

// dismissWelcome has the welcome not shown again.
func (r routes) dismissWelcome(w http.ResponseWriter, req *http.Request) {
	if _, ok := bodyOf(r, w, req, parseDismissed); !ok {
		return
	}
	if r.parts.Welcome == nil {
		r.fail(w, http.StatusServiceUnavailable, noWelcome)
		return
	}
	if err := r.parts.Welcome.Dismiss(); err != nil {
		r.fail(w, http.StatusInternalServerError, monitor.Clean(err.Error()))
		return
	}
	if s := r.snapshot(w, req); s != nil {
		r.answer(w, http.StatusOK, r.welcomeNow(req.Context(), s))
	}
}

// welcomeNow is the welcome as things are.
func (r routes) welcomeNow(ctx context.Context, s *monitor.Snapshot) Welcome {
	show, installed := r.parts.Welcome.Welcome()
	answer := Welcome{Show: show, Version: r.parts.Version, Installed: view.Known(installed), Servers: s.Totals().Instances}
	if r.parts.Login != nil {
		login := encodeLogin(r.parts.Login.Login())
		answer.Login = &login
	}
	if show && r.parts.Setup != nil {
		list, err := r.parts.Setup.List(ctx, setup.Wanted{})
		if err != nil {
			r.parts.Log.Info("the settings of clients cannot be read for the welcome", "error", err)
		} else {
			n := couldChange(list)
			answer.Clients = &n
		}
	}
	if r.parts.Address != nil {
		answer.PageURL = view.Known(r.parts.Address())
	}
	return answer
}

// couldChange counts the clients in whose settings setup would change something.
func couldChange(list []setup.Client) int {
	n := 0
	for _, client := range list {
		if wouldChange(client) {
			n++
		}
	}
	return n
}

func wouldChange(client setup.Client) bool {
	for _, file := range client.Files {
		for _, entry := range file.Entries {
			if entry.Becomes != "" {
				return true
			}
		}
	}
	return false
}

// parseDismissed reads {"dismissed":true} and nothing else: a welcome is not
// taken back.
func parseDismissed(body []byte) (bool, error) {
	const like = `the body is not like {"dismissed":true}`
	var order struct {
		Dismissed *bool `json:"dismissed"`
	}
	if err := payload.Decode(body, &order, "dismissed"); err != nil {
		return false, fmt.Errorf(like+": %s", monitor.Clean(err.Error()))
	}
	if order.Dismissed == nil || !*order.Dismissed {
		return false, errors.New(like)
	}
	return true, nil
}
