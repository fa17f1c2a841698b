package serena

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxTrayBody is far more than an instance sends: some 200 bytes.
const maxTrayBody = 64 << 10

// maxProject bounds what is remembered of a project's name, in bytes.
const maxProject = 512

// claim is the body of POST /register before it is checked:
//
//	{"port": 24282, "pid": 7295, "dashboard_url": "http://127.0.0.1:24282/dashboard/index.html",
//	 "project": null, "started_at": "2026-11-20T22:51:52", "open_viewer": false}
type claim struct {
	pid, port  int
	project    string
	startedAt  time.Time
	openViewer bool
}

// parseRegister reads the body of POST /register. What is not needed to find
// the instance may have any type.
func parseRegister(body []byte) (claim, error) {
	var sent struct {
		Port       json.RawMessage `json:"port"`
		PID        json.RawMessage `json:"pid"`
		URL        json.RawMessage `json:"dashboard_url"`
		Project    json.RawMessage `json:"project"`
		StartedAt  json.RawMessage `json:"started_at"`
		OpenViewer json.RawMessage `json:"open_viewer"`
	}
	if err := parseObject(body, &sent); err != nil {
		return claim{}, err
	}
	port, err := parsePort(sent.Port)
	if err != nil {
		return claim{}, err
	}
	pid, err := parseWhole("pid", sent.PID, 1<<31-1)
	if err != nil {
		return claim{}, err
	}
	if err := checkURL(textIn(sent.URL), port); err != nil {
		return claim{}, err
	}
	return claim{
		pid:        pid,
		port:       port,
		project:    projectIn(sent.Project),
		startedAt:  timeIn(sent.StartedAt),
		openViewer: string(sent.OpenViewer) == "true",
	}, nil
}

// parseUpdate reads the body of POST /update_project,
// {"port": 24282, "project": "name"}, and of POST /unregister, {"port": 24282}.
func parseUpdate(body []byte) (port int, project string, err error) {
	var sent struct {
		Port    json.RawMessage `json:"port"`
		Project json.RawMessage `json:"project"`
	}
	if err := parseObject(body, &sent); err != nil {
		return 0, "", err
	}
	port, err = parsePort(sent.Port)
	return port, projectIn(sent.Project), err
}

func parseObject(body []byte, into any) error {
	if trimmed := strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n"); !strings.HasPrefix(trimmed, "{") {
		return errors.New("the body must be one JSON object")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the body must be one JSON object: %w", err)
	}
	return nil
}

func parsePort(raw json.RawMessage) (int, error) { return parseWhole("port", raw, 65535) }

// parseWhole reads a number from 1 to most, written as one.
func parseWhole(name string, raw json.RawMessage, most int) (int, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s must be a whole number from 1 to %d", name, most)
	}
	return n, nil
}

// checkURL wants a page on this machine, on the port that was named. It is
// never opened: what is shown follows from the port.
func checkURL(text string, port int) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || !isLoopback(u.Hostname()) || u.Port() != strconv.Itoa(port) {
		return fmt.Errorf("dashboard_url must be an http address on 127.0.0.1 or localhost with port %d", port)
	}
	return nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// textIn is the text of a JSON string, "" for anything else.
func textIn(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func projectIn(raw json.RawMessage) string {
	name := textIn(raw)
	if len(name) <= maxProject {
		return name
	}
	cut := maxProject
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	// A copy, so that the rest of the body can go.
	return strings.Clone(name[:cut])
}

// timeIn reads datetime.isoformat of Python, which is in local time and, as
// Serena calls it, has neither a zone nor fractions.
func timeIn(raw json.RawMessage) time.Time {
	text := textIn(raw)
	for _, layout := range []string{"2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at
		}
	}
	return time.Time{}
}
