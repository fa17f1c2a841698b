package serena

import (
	"strings"
	"testing"
	"time"
)

func TestParseRegister(t *testing.T) {
	url := `"dashboard_url":"http://127.0.0.1:24282/dashboard/index.html"`
	ok := func(more string) string { return `{"port":24282,"pid":7,` + url + more + `}` }
	started := time.Date(2026, 11, 20, 22, 51, 52, 0, time.Local)
	for _, c := range []struct {
		name, body string
		want       claim
	}{
		{"as Serena sends it", ` {"port": 24282, "pid": 7, "dashboard_url": "http://127.0.0.1:24282/dashboard/index.html", "project": "alpha", "started_at": "2026-11-20T22:51:52", "open_viewer": true}`,
			claim{7, 24282, "alpha", started, true}},
		{"no project", ok(`,"project":null`), claim{pid: 7, port: 24282}},
		{"least", ok(``), claim{pid: 7, port: 24282}},
		{"more than we know", ok(`,"colour":"red"`), claim{pid: 7, port: 24282}},
		{"project of another type", ok(`,"project":["a"]`), claim{pid: 7, port: 24282}},
		{"endless project", ok(`,"project":"` + strings.Repeat("ä", maxProject) + `"`), claim{pid: 7, port: 24282, project: strings.Repeat("ä", maxProject/2)}},
		{"odd time and wish", ok(`,"started_at":17,"open_viewer":"yes"`), claim{pid: 7, port: 24282}},
		{"time with fraction", ok(`,"started_at":"2026-11-20T22:51:52.5"`), claim{pid: 7, port: 24282, startedAt: started.Add(500 * time.Millisecond)}},
		{"time with zone", ok(`,"started_at":"` + started.Format(time.RFC3339) + `"`), claim{pid: 7, port: 24282, startedAt: started}},
	} {
		got, err := parseRegister([]byte(c.body))
		at := got.startedAt.Equal(c.want.startedAt)
		got.startedAt, c.want.startedAt = time.Time{}, time.Time{}
		if err != nil || got != c.want || !at {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for _, host := range []string{"localhost", "LocalHost", "[::1]", "127.0.0.9"} {
		if _, err := parseRegister([]byte(strings.Replace(ok(``), "127.0.0.1", host, 1))); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for name, body := range map[string]string{
		"nothing":            ``,
		"null":               `null`,
		"array":              `[` + ok(``) + `]`,
		"two objects":        ok(``) + ok(``),
		"cut off":            ok(``)[:30],
		"binary":             "\x00\xff",
		"no port":            `{"pid":7,` + url + `}`,
		"port 0":             `{"port":0,"pid":7,` + url + `}`,
		"port 65536":         `{"port":65536,"pid":7,` + url + `}`,
		"port with fraction": `{"port":24282.5,"pid":7,` + url + `}`,
		"port in words":      `{"port":"24282","pid":7,` + url + `}`,
		"huge port":          `{"port":1e999,"pid":7,` + url + `}`,
		"no pid":             `{"port":24282,` + url + `}`,
		"pid 0":              `{"port":24282,"pid":0,` + url + `}`,
		"negative pid":       `{"port":24282,"pid":-1,` + url + `}`,
		"huge pid":           `{"port":24282,"pid":4294967303,` + url + `}`,
		"pid is true":        `{"port":24282,"pid":true,` + url + `}`,
		"no url":             `{"port":24282,"pid":7}`,
		"url of a number":    `{"port":24282,"pid":7,"dashboard_url":5}`,
		"https":              strings.Replace(ok(``), "http:", "https:", 1),
		"file":               strings.Replace(ok(``), "http:", "file:", 1),
		"other machine":      strings.Replace(ok(``), "127.0.0.1", "192.168.1.5", 1),
		"other name":         strings.Replace(ok(``), "127.0.0.1", "localhost.example", 1),
		"name before at":     strings.Replace(ok(``), "127.0.0.1:24282", "127.0.0.1:24282@evil.example:24282", 1),
		"user":               strings.Replace(ok(``), "127.0.0.1", "me@127.0.0.1", 1),
		"other port":         strings.Replace(ok(``), ":24282/", ":24283/", 1),
		"port with zero":     strings.Replace(ok(``), ":24282/", ":024282/", 1),
		"no port in url":     strings.Replace(ok(``), ":24282/", "/", 1),
	} {
		if got, err := parseRegister([]byte(body)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzTrayBody(f *testing.F) {
	f.Add([]byte(`{"port": 24282, "pid": 7295, "dashboard_url": "http://127.0.0.1:24282/dashboard/index.html", "project": null, "started_at": "2026-11-20T22:51:52", "open_viewer": false}`))
	f.Add([]byte(`{"port": 24282, "project": "name"}`))
	f.Add([]byte(`{"port": 24282}`))
	f.Add([]byte("{\"project\": \"\\ud800\xff\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if c, err := parseRegister(body); err == nil && (c.port < 1 || c.port > 65535 || c.pid < 1 || len(c.project) > maxProject) {
			t.Fatalf("%+v", c)
		}
		if port, project, err := parseUpdate(body); err == nil && (port < 1 || port > 65535 || len(project) > maxProject) {
			t.Fatalf("%d %q", port, project)
		}
	})
}
