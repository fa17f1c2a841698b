//go:build unix

package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// Of many servers that leave at once each keeps the reason, although a snapshot
// carries only the last few events.
func TestManyLeaveAtOnce(t *testing.T) {
	h := newHome(t)
	port := freePort(t)
	h.settings(t, "servers:\n  - name: sleeper\n    program: sleep\n    arguments: ['4713']\n"+portSetting(port))
	h.background(t)
	page := pageAt(port)
	serves(t, page)
	const many = 4 * monitor.RecentEvents
	for range many {
		s := exec.Command("sleep", "4713")
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Process.Kill(); s.Wait() })
	}
	apptest.Eventually(t, "all are known", func() bool {
		_, _, body := fetch(t, page+"instances")
		return strings.Count(body, `"label":"pid `) == many
	})
	h.settings(t, portSetting(port)) // by these rules none of them is a server
	var status struct {
		Ended []struct {
			Why      string
			Instance struct{ Label string }
		}
	}
	apptest.Eventually(t, "all have left", func() bool {
		_, _, body := fetch(t, page+"status")
		return json.Unmarshal([]byte(body), &status) == nil && len(status.Ended) == many
	})
	for _, e := range status.Ended {
		if strings.Contains(e.Why, "exited") {
			t.Errorf("%s: %s", e.Instance.Label, e.Why)
		}
	}
}
