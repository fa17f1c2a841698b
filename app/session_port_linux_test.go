package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// The port that R1 names, while another program has it and afterwards.
func TestSessionPortIsTaken(t *testing.T) {
	m := managerHome(t)
	m.port, m.page = 8888, 25282
	other, err := net.Listen("tcp4", "127.0.0.1:8888")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	m.settings(t, acmeSettings(t))
	m.run = m.background(t, "run")
	apptest.Eventually(t, "status says so", func() bool {
		_, _, said := m.does(t, "status")
		return strings.Contains(said, "8888") && strings.Contains(said, fmt.Sprintf("(pid %d)", os.Getpid()))
	})
	serves(t, pageAt(m.page))
	apptest.Eventually(t, "the log has it", func() bool { return strings.Contains(m.log(t), "8888") })
	status, answer, err := post(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/request-session", m.page), requestBody(projectDir(t, "alpha")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := given(status, answer)
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	m.ready(t)
	apptest.Eventually(t, "nothing is said any more", func() bool { _, _, said := m.does(t, "status"); return said == "" })
	m.release(t, s)
}

// Where the global dashboard has the port that sessions have by default, it
// serves them, and there is nothing to say.
func TestSessionPortIsThePages(t *testing.T) {
	m := managerHome(t)
	m.port, m.page = 8888, 8888
	m.settings(t, portSetting(m.page)+acmeSettings(t))
	m.begin(t)
	serves(t, pageAt(m.page))
	m.release(t, m.request(t, projectDir(t, "alpha")))
	if _, _, said := m.does(t, "status"); said != "" || strings.Contains(m.log(t), "was taken") {
		t.Errorf("status says %q", said)
	}
	m.port = freePort(t)
	m.set(t, acmeSettings(t))
	m.ready(t)
	serves(t, pageAt(m.page))
}

// Each of the settings counts at once; what is wrong changes nothing.
func TestSessionSettingsAtRunTime(t *testing.T) {
	t.Parallel()
	m := newManager(t, "session_limit: 1\n"+acmeSettings(t))
	project := projectDir(t, "alpha")
	first := m.request(t, project)
	refused := func(limit int) bool {
		status, answer, err := post(t.Context(), m.at("/request-session"), requestBody(project))
		if s, why := given(status, answer); why == nil {
			m.release(t, s) // the settings are not read yet
		}
		return err == nil && status == http.StatusTooManyRequests && strings.Contains(answer, fmt.Sprint(limit))
	}
	if !refused(1) {
		t.Error("a second session was not refused")
	}
	m.set(t, "session_limit: 2\n"+acmeSettings(t))
	var second asked
	apptest.Eventually(t, "the limit is 2", func() bool {
		var err error
		second, err = m.tries(t.Context(), project)
		return err == nil
	})
	// A lower one ends nothing.
	m.set(t, "session_limit: 1\n"+acmeSettings(t))
	m.release(t, second)
	apptest.Eventually(t, "the limit is 1", func() bool { return refused(1) })

	// Another port; sessions stay.
	old := m.at("/health")
	m.port = freePort(t)
	m.set(t, acmeSettings(t))
	m.ready(t)
	apptest.Eventually(t, "the old port is shut", func() bool { status, _, _ := fetch(t, old); return status == 0 })
	if list := m.sessions(t); len(list) != 1 || *list[0].SessionID != first.ID {
		t.Errorf("%+v", list)
	}
	m.settings(t, fmt.Sprintf("session_port: %d\nsession_limit: 0\n%s", freePort(t), portSetting(m.page)))
	apptest.Eventually(t, "it is said", func() bool {
		_, _, said := m.does(t, "status")
		return strings.Contains(said, "config.yaml:2: session_limit:")
	})
	m.release(t, first)

	// Off: the global dashboard's port serves sessions all the same.
	shut := m.at("/health")
	m.settings(t, "session_port: 0\n"+portSetting(m.page)+acmeSettings(t))
	apptest.Eventually(t, "the port is shut", func() bool { status, _, _ := fetch(t, shut); return status == 0 })
	m.port = m.page
	m.release(t, m.request(t, project))
}
