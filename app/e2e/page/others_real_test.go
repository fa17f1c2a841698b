//go:build real && linux

package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/browsertest"
	"lamplighter/app/e2e"
)

// elsewhere is a page of another origin on this machine, with what such pages try.
const elsewhere = `<!doctype html><meta charset="utf-8"><title>elsewhere</title><body><script>
async function tries(at) {
  const out = {}, all = [];
  const page = at + "global-dashboard/";
  const one = async (name, what) => { try { out[name] = await Promise.race([what(), new Promise(d => setTimeout(() => d("nothing"), 4000))]); } catch (e) { out[name] = "refused"; } };
  const got = (name, what) => { all.push(one(name, what)); };
  got("read", async () => "READ " + await (await fetch(page + "instances")).text());
  got("no-cors", async () => { const r = await fetch(page + "instances", {mode: "no-cors"}); return r.type + r.status + (await r.text()).length; });
  got("put", async () => "DONE " + (await fetch(page + "policy", {method: "PUT", headers: {"Content-Type": "application/json"}, body: '{"paused":true,"minutes":60}'})).status);
  got("text", async () => { await fetch(at + "workspaces", {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: '{"kind":"temp","job":"x"}'}); return "sent"; });
  got("blob", async () => { await fetch(at + "mcp?project=/tmp", {method: "POST", mode: "no-cors", body: new Blob(['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'])}); return "sent"; });
  got("beacon", async () => { navigator.sendBeacon(at + "quit", '{"restart":false}'); navigator.sendBeacon(page + "instance/1/kill"); return "sent"; });
  got("socket", () => new Promise(d => { const s = new WebSocket(at.replace("http", "ws") + "global-dashboard/stream"); s.onopen = () => d("OPEN"); s.onerror = () => d("refused"); }));
  got("stream", () => new Promise(d => { const s = new EventSource(page + "stream"); s.onmessage = () => d("READ"); s.onerror = () => { s.close(); d("refused"); }; }));
  got("script", () => new Promise(d => { const s = document.createElement("script"); s.src = page + "instances"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.body.append(s); }));
  got("module", () => new Promise(d => { const s = document.createElement("script"); s.src = page + "assets/http.js"; s.type = "module"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.body.append(s); }));
  got("image", () => new Promise(d => { const s = new Image(); s.src = page + "assets/lantern.svg"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); }));
  got("style", () => new Promise(d => { const s = document.createElement("link"); s.rel = "stylesheet"; s.href = page + "assets/base.css"; s.onload = () => d("LOADED"); s.onerror = () => d("refused"); document.head.append(s); }));
  got("worker", async () => { await navigator.serviceWorker.register(page + "assets/http.js"); return "REGISTERED"; });
  got("frame", () => new Promise(d => { const s = document.createElement("iframe"); s.src = page; s.name = "f"; s.onload = () => { let n; try { n = s.contentDocument ? "BLANK" : "closed"; n += s.contentWindow.length; } catch (e) { n = "closed"; } d(n); }; document.body.append(s); }));
  got("form", () => new Promise(d => { const s = document.createElement("iframe"); s.name = "t" + at; document.body.append(s); s.onload = () => d("sent"); const f = document.createElement("form"); f.method = "post"; f.target = s.name; f.enctype = "text/plain"; f.action = at + "workspaces"; const i = document.createElement("input"); i.name = '{"kind":"temp","job":"x'; i.value = '"}'; f.append(i); document.body.append(f); f.submit(); }));
  await Promise.all(all);
  return out;
}
</script>`

// attempts is how many tries there are.
var attempts = strings.Count(elsewhere, "  got(\"")

// A page of another origin can neither read nor do anything, also when it is on
// this machine, or has a name that leads here.
func (s *street) pagesOfOthers(t *testing.T) {
	root := strings.TrimSuffix(s.address, "global-dashboard/")
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, elsewhere)
	}))
	t.Cleanup(other.Close)
	as := func(address, host string) string { return strings.Replace(address, "127.0.0.1", host, 1) }
	before := s.trees(t)
	for _, host := range []string{"127.0.0.1", "localhost", "evil.localhost"} {
		page := s.browser.Open(t, as(other.URL, host), browsertest.Options{})
		page.Forgive("") // the browser says of each try that it failed
		var addresses []string
		for _, to := range []string{"127.0.0.1", "localhost", "[::1]", "evil.localhost", "0.0.0.0"} {
			addresses = append(addresses, as(root, to))
		}
		list, err := json.Marshal(addresses)
		if err != nil {
			t.Fatal(err)
		}
		tried := browsertest.Eval[map[string]map[string]string](t, page, fmt.Sprintf("Promise.all(%s.map(async at => [at, await tries(at)])).then(Object.fromEntries)", list))
		for _, to := range addresses {
			t.Logf("%s -> %s: %v", host, to, tried[to])
			if len(tried[to]) != attempts {
				t.Errorf("a page at %s asks %s: %d tries, want %d", host, to, len(tried[to]), attempts)
			}
			for name, came := range tried[to] {
				if strings.ToLower(came) != came || strings.HasPrefix(came, "opaque200") {
					t.Errorf("a page at %s asks %s: %s: %s", host, to, name, came)
				}
			}
		}
	}
	// One whose name was pointed at us shows nothing of ours.
	page := s.browser.Open(t, as(s.address, "evil.localhost"), browsertest.Options{})
	page.Forgive("")
	if text := browsertest.Eval[string](t, page, "document.documentElement.innerText"); !strings.Contains(text, "another host") {
		t.Errorf("under another name it shows %q", text)
	}
	if _, _, body := e2e.Fetch(t, s.address+"policy"); !strings.Contains(body, `"paused":false`) {
		t.Errorf("the policies are %s", body)
	}
	if _, _, body := e2e.Fetch(t, root+"workspaces"); strings.Contains(body, `"job":"x`) {
		t.Errorf("a workspace was made: %s", body)
	}
	if after := s.trees(t); after != before {
		t.Errorf("workspaces were %s, and are %s", before, after)
	}
	if !s.run.Running() {
		t.Error("it was ended")
	}
}

// trees are the directories of all workspaces.
func (s *street) trees(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.State(), "workspaces", "trees", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%q", found)
}
