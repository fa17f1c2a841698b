package serenatest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// request asks a replayed server and returns status and body.
func request(t *testing.T, method, url, body string, header ...string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// TestReplay: the recorded answers in turn, those of the state before where there
// are none, and none before what they wait for is over.
func TestReplay(t *testing.T) {
	for _, version := range Versions {
		p := Replay(t, version, Changed)
		url := strings.TrimSuffix(p.MCPURL, mcpPath)
		for _, want := range []string{"# é <b>", "", ""} {
			if _, text, _ := request(t, "POST", url+"/get_memory", `{ "memory_name": "first" }`); strings.Contains(text, "# é <b>") != (want != "") {
				t.Errorf("%s: %s, want %q", version, text, want)
			}
		}
		if status, text, header := request(t, "GET", url+"/get_config_overview", ""); status != 200 || !strings.Contains(text, `"name":"alpha"`) || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", version, status, text)
		}
		p.Enter(Busy)
		answered := make(chan string)
		go func() {
			_, text, _ := request(t, "POST", url+"/get_memory", `{"memory_name":"none"}`)
			answered <- text
		}()
		for !slices.Contains(p.Asked(), `POST /get_memory {"memory_name":"none"}`) {
			request(t, "GET", url+"/heartbeat", "")
		}
		select {
		case text := <-answered:
			t.Errorf("%s: while a tool runs: %s", version, text)
		default:
		}
		p.Enter(Called)
		if text := <-answered; !strings.Contains(text, "none") {
			t.Errorf("%s: %s", version, text)
		}
	}
}

// TestReplaySessions: each has an id of its own, is known until it is deleted, and
// gets answers with the ids of its requests.
func TestReplaySessions(t *testing.T) {
	for _, version := range Versions {
		p := Replay(t, version, NoProject)
		begin := `{"jsonrpc":"2.0","id":6,"method":"initialize","params":{}}`
		_, _, first := request(t, "POST", p.MCPURL, begin)
		_, answer, second := request(t, "POST", p.MCPURL, strings.Replace(begin, `"id":6`, `"id":"a"`, 1))
		id := second.Get(sessionHeader)
		if id == "" || id == first.Get(sessionHeader) || !strings.Contains(answer, `"id":"a"`) {
			t.Errorf("%s: %q, %q, %s", version, first.Get(sessionHeader), id, answer)
		}
		ping := func() int {
			status, _, _ := request(t, "POST", p.MCPURL, `{"jsonrpc":"2.0","id":9,"method":"ping"}`, sessionHeader, id)
			return status
		}
		if status := ping(); status != 200 {
			t.Errorf("%s: %d", version, status)
		}
		p.Enter(Changed)
		request(t, "DELETE", p.MCPURL, "", sessionHeader, id)
		if status := ping(); status != 404 {
			t.Errorf("%s: an ended session is answered with %d", version, status)
		}
	}
}
