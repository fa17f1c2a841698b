package watch

import (
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor/situation"
	"lamplighter/monitor/situation/machinetest"
)

// Where a server takes its clients is found also when it has run for long, and its
// dashboard is the first of its ports that is asked.
func TestMCPOfOneThatHasRunForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := machinetest.New(&situation.Situation{
			Name: "over HTTP", Origin: situation.Constructed, Platform: "linux", Now: time.Now(), UID: 1000,
			Processes: []situation.Process{{
				PID: 4, Parent: 1, Start: 4, UID: 1000, Name: "python3", Exe: "/usr/bin/python3",
				Args:   []string{"python3", "/usr/bin/serena", "start-mcp-server", "--transport", "streamable-http", "--port", "30000"},
				Ports:  []situation.Port{{Port: 24282}, {Port: 30000}},
				Server: &situation.Server{StartedAt: time.Now().Add(-time.Hour), Dashboard: &situation.Dashboard{Port: 24282}},
			}},
		})
		s, err := Once(t.Context(), Options{System: m, Dashboards: m})
		if err != nil || len(s.Instances) != 1 || s.Instances[0].MCPURL != "http://127.0.0.1:30000/mcp" {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
