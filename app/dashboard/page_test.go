package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the page may cost on the wire: when it is opened, and with all that is
// loaded once somebody wants to see it.
const (
	transferLimit = 150 << 10
	wholeLimit    = 180 << 10
)

func ask(t *testing.T, h http.Handler, method, target string, header ...string) *http.Response {
	t.Helper()
	req := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPageIsServedUnderItsNames(t *testing.T) {
	h := Page()
	for _, tt := range []struct {
		target, kind, policy string
	}{
		{"/global-dashboard/", "text/html; charset=utf-8", pagePolicy},
		{"/global-dashboard/index.html", "text/html; charset=utf-8", pagePolicy},
		{"/global-dashboard/assets/lantern.svg", "image/svg+xml; charset=utf-8", pagePolicy},
		{"/global-dashboard/assets/logs.js", "text/javascript; charset=utf-8", "default-src 'none'"},
		{"/global-dashboard/assets/views.css", "text/css; charset=utf-8", "default-src 'none'"},
	} {
		resp := ask(t, h, http.MethodGet, tt.target)
		if resp.StatusCode != http.StatusOK || len(body(t, resp)) == 0 {
			t.Errorf("%s: %s", tt.target, resp.Status)
		}
		for name, want := range map[string]string{
			"Content-Type":                 tt.kind,
			"Content-Security-Policy":      tt.policy,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-cache",
			"Vary":                         "Accept-Encoding",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.target, name, got, want)
			}
		}
		if document := tt.policy == pagePolicy; document != (resp.Header.Get("Cross-Origin-Opener-Policy") == "same-origin") {
			t.Errorf("%s: Cross-Origin-Opener-Policy is %q", tt.target, resp.Header.Get("Cross-Origin-Opener-Policy"))
		}
	}
}

func TestPageServesNothingElse(t *testing.T) {
	h := Page()
	for _, target := range []string{
		"/", "/global-dashboard", "/global-dashboard//", "//global-dashboard/", "/global-dashboard/assets", "/global-dashboard/assets/",
		"/global-dashboard/assets/index.html", "/global-dashboard/assets/../index.html", "/global-dashboard/assets/%2e%2e/index.html",
		"/global-dashboard/assets/..%2findex.html", "/global-dashboard/assets%2flogs.js",
		"/global-dashboard/assets//logs.js", "/global-dashboard/assets/logs.js/", "/global-dashboard/assets/LOGS.JS",
		"/global-dashboard/assets/logs.js%00", "/global-dashboard/logs.js", "/global-dashboard/assets/..%5cpage.go", "/page/logs.js",
	} {
		resp := ask(t, h, http.MethodGet, target)
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", target, resp.Status)
		}
		if resp.Header.Get("Content-Security-Policy") == "" || !strings.HasPrefix(string(body(t, resp)), `{"error":"`) {
			t.Errorf("%s: the answer is not one of ours", target)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "TRACE"} {
		resp := ask(t, h, method, "/global-dashboard/")
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s, Allow %q", method, resp.Status, resp.Header.Get("Allow"))
		}
	}
}

func TestPageIsCompressedForThoseWhoTakeIt(t *testing.T) {
	h := Page()
	const target = "/global-dashboard/assets/uPlot.esm.js"
	plain := ask(t, h, http.MethodGet, target)
	packed := ask(t, h, http.MethodGet, target, "Accept-Encoding", "br, gzip")
	if plain.Header.Get("Content-Encoding") != "" || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encodings %q and %q", plain.Header.Get("Content-Encoding"), packed.Header.Get("Content-Encoding"))
	}
	if plain.Header.Get("ETag") == packed.Header.Get("ETag") {
		t.Error("both forms have the same strong tag")
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, body(t, plain)) {
		t.Error("the compressed form is another file")
	}
}

func TestPageAnswersWhatIsKnownShortly(t *testing.T) {
	h := Page()
	for _, accept := range []string{"", "gzip"} {
		first := ask(t, h, http.MethodGet, "/global-dashboard/", "Accept-Encoding", accept)
		tag := first.Header.Get("ETag")
		if tag == "" || strings.HasPrefix(tag, "W/") {
			t.Fatalf("tag %q", tag)
		}
		size := len(body(t, first))
		again := ask(t, h, http.MethodGet, "/global-dashboard/", "Accept-Encoding", accept, "If-None-Match", tag)
		if again.StatusCode != http.StatusNotModified || len(body(t, again)) != 0 || again.Header.Get("ETag") != tag {
			t.Errorf("with its tag: %s", again.Status)
		}
		other := ask(t, h, http.MethodGet, "/global-dashboard/", "Accept-Encoding", accept, "If-None-Match", `"old"`)
		if other.StatusCode != http.StatusOK {
			t.Errorf("with another tag: %s", other.Status)
		}
		head := ask(t, h, http.MethodHead, "/global-dashboard/", "Accept-Encoding", accept)
		if head.StatusCode != http.StatusOK || len(body(t, head)) != 0 || head.ContentLength != int64(size) {
			t.Errorf("HEAD: %s, length %d, want %d", head.Status, head.ContentLength, size)
		}
	}
}

func TestTakesGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip;q=0.0, *": false, "*": true, "*;q=0": false,
		"identity": false, "x-gzip": false, "gzip;q=much": false, ",,gzip": true, "*;q=0, gzip": true,
	} {
		if got := TakesGzip([]string{accept}); got != want {
			t.Errorf("%q: %v, want %v", accept, got, want)
		}
	}
}

var (
	inHTML = regexp.MustCompile(`(?:src|href)="([^"]*)"`)
	inJS   = regexp.MustCompile(`(?m)(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|new URL\(\s*)['"]([^'"]+)['"]`)
	later  = regexp.MustCompile(`\bimport\(\s*['"]([^'"]+)['"]`)
	inCSS  = regexp.MustCompile(`(?:url\(\s*["']?|@import\s+["'])([^"')]+)`)

	comments = regexp.MustCompile(`(?s)/\*.*?\*/|(?m:^\s*//.*$)`)
	schemes  = regexp.MustCompile(`(?i)\b(?:https?|wss?|ftp):/*[^\s"'<>)` + "`" + `]*|["'(]//[\w.-]+`)
)

// references are the names of the files that a file of the page asks for.
func references(name, text string) []string {
	find := inJS
	switch path.Ext(name) {
	case ".html":
		find = inHTML
	case ".css":
		find = inCSS
	}
	var names []string
	for _, m := range find.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "data:") || strings.HasPrefix(m[1], "#") {
			continue
		}
		file := strings.TrimPrefix(strings.TrimPrefix(m[1], pageRoot), "./")
		if path.Ext(name) == ".html" {
			file = strings.TrimPrefix(file, "assets/")
		}
		names = append(names, file)
	}
	return names
}

func embeddedFile(t *testing.T, name string) string {
	t.Helper()
	b, err := embedded.ReadFile("page/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// used are all files that the page asks for, sooner or later.
func used(t *testing.T) []string {
	t.Helper()
	names := []string{pageIndex}
	for i := 0; i < len(names); i++ {
		for _, name := range references(names[i], embeddedFile(t, names[i])) {
			if _, err := embedded.Open("page/" + name); err != nil {
				t.Errorf("%s asks for %s, which is not there", names[i], name)
				continue
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func TestPageHasWhatItAsksForAndNoMore(t *testing.T) {
	names := used(t)
	entries, err := embedded.ReadDir("page")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains(names, entry.Name()) {
			t.Errorf("%s is embedded, but nothing asks for it", entry.Name())
		}
	}
}

// first are those of the files that are loaded when the page is opened.
func first(t *testing.T) []string {
	t.Helper()
	names := []string{pageIndex}
	for i := 0; i < len(names); i++ {
		text := embeddedFile(t, names[i])
		if path.Ext(names[i]) == ".js" {
			text = later.ReplaceAllString(text, "")
		}
		for _, name := range references(names[i], text) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func TestPageIsSmall(t *testing.T) {
	h := Page()
	opened, whole := 0, 0
	begins := first(t)
	for _, name := range used(t) {
		target := pageAssets + name
		if name == pageIndex {
			target = pageRoot
		}
		resp := ask(t, h, http.MethodGet, target, "Accept-Encoding", "gzip")
		wire, err := httputil.DumpResponse(resp, true)
		if err != nil {
			t.Fatal(err)
		}
		whole += len(wire)
		if slices.Contains(begins, name) {
			opened += len(wire)
		}
		t.Logf("%7d %s", len(wire), name)
	}
	t.Logf("%7d when it is opened, %d in all", opened, whole)
	if opened > transferLimit || whole > wholeLimit {
		t.Errorf("the page takes %d bytes on the wire when it is opened and %d in all, more than %d and %d", opened, whole, transferLimit, wholeLimit)
	}
	if slices.Contains(begins, "uPlot.esm.js") || !slices.Contains(begins, "app.js") {
		t.Errorf("when it is opened it takes %q", begins)
	}
}

func TestPageNamesNoOtherHost(t *testing.T) {
	allowed := []string{"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "http://www.w3.org/1998/Math/MathML"} // namespaces, never fetched
	for _, name := range used(t) {
		text := comments.ReplaceAllString(embeddedFile(t, name), "") // they name sources
		for _, found := range schemes.FindAllString(text, -1) {
			if !slices.Contains(allowed, found) {
				t.Errorf("%s names %s", name, found)
			}
		}
	}
}

func TestPageHasNothingInline(t *testing.T) {
	html := embeddedFile(t, pageIndex)
	for what, pattern := range map[string]string{
		"a script":          `(?is)<script\b[^>]*>\s*[^\s<]`,
		"a style element":   `(?i)<style\b`,
		"a style attribute": `(?i)<[^>]*\sstyle\s*=`,
		"an event handler":  `(?i)<[^>]*\son[a-z]+\s*=`,
		"a javascript: URL": `(?i)javascript:`,
	} {
		if found := regexp.MustCompile(pattern).FindString(html); found != "" {
			t.Errorf("index.html has %s inline: %q", what, found)
		}
	}
	for _, name := range used(t) {
		if path.Ext(name) != ".js" || name == "preact.js" { // which has them for what we do not use
			continue
		}
		for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "dangerouslySetInnerHTML"} {
			if strings.Contains(embeddedFile(t, name), sink) {
				t.Errorf("%s uses %s, which the policy forbids", name, sink)
			}
		}
	}
}

// TestVendored compares the code of others with what VENDOR.md says it is.
func TestVendored(t *testing.T) {
	note, err := os.ReadFile("VENDOR.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (page/\S+) \|.*\| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(string(note), -1)
	if len(rows) != 3 {
		t.Fatalf("VENDOR.md has %d rows, want 3", len(rows))
	}
	for _, row := range rows {
		content, err := embedded.ReadFile(row[1])
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != row[2] {
			t.Errorf("%s is not what VENDOR.md says", row[1])
		}
	}
}
