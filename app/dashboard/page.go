package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed page/*.html page/*.css page/*.js page/*.svg
var embedded embed.FS

const (
	pageRoot   = "/global-dashboard/"
	pageAssets = pageRoot + "assets/"
	pageIndex  = "index.html"
)

// contentTypes are all that the page is made of.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml; charset=utf-8",
}

// pagePolicy forbids whatever the page does not need: scripts and styles from
// elsewhere or inline, markup made from text, forms, and being framed.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// Page serves the embedded page: GET and HEAD of /global-dashboard/,
// /global-dashboard/index.html and /global-dashboard/assets/NAME, by their full
// paths. Browsers keep the files but ask each time, so that a new version is
// taken at once. It may be used by many at a time.
func Page() http.Handler {
	return &page{files: sync.OnceValue(readPage)}
}

type page struct {
	files func() map[string]*pageFile // by the path of the URL
}

// pageFile is one file. Only its compressed form is kept in memory, once it was
// asked for; the plain one is read from the program's image each time.
type pageFile struct {
	path, contentType string
	document          bool   // a browser may show it by itself
	tag               string // of the content, without quotes
	compressed        func() []byte
}

func (p *page) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	header := w.Header()
	file := p.files()[req.URL.Path]
	secure(header, file)
	switch {
	case file == nil || req.URL.RawPath != "": // no name of ours needs escapes
		refuse(w, http.StatusNotFound, "there is nothing at "+req.URL.Path)
		return
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, req.Method+" is not possible here; use GET, HEAD")
		return
	}
	header.Set("Content-Type", file.contentType)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	if !TakesGzip(req.Header.Values("Accept-Encoding")) {
		header.Set("ETag", `"`+file.tag+`"`)
		content := file.open()
		defer content.Close()
		http.ServeContent(w, req, "", time.Time{}, content)
		return
	}
	content := file.compressed()
	header.Set("ETag", `"`+file.tag+`-gzip"`)
	header.Set("Content-Encoding", "gzip")
	header.Set("Content-Length", strconv.Itoa(len(content)))
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(content))
}

// open reads the plain file without a copy of it. Embedded files are there and
// can seek, or the build is broken.
func (f *pageFile) open() io.ReadSeekCloser {
	file, err := embedded.Open(f.path)
	if err != nil {
		panic(fmt.Sprintf("the embedded page cannot be read: %v", err))
	}
	return file.(io.ReadSeekCloser)
}

// secure sets the headers that browsers look at. Those for documents are left
// out with scripts and style sheets, which are many: they would be a tenth of
// what the page transfers.
func secure(header http.Header, file *pageFile) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if file != nil && !file.document {
		header.Set("Content-Security-Policy", "default-src 'none'")
		return
	}
	header.Set("Content-Security-Policy", pagePolicy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
}

func refuse(w http.ResponseWriter, status int, sentence string) {
	body, err := json.Marshal(map[string]string{"error": sentence})
	if err != nil {
		panic(err) // a string always has a form
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // who does not take it has gone
}

func readPage() map[string]*pageFile {
	entries, err := embedded.ReadDir("page")
	if err != nil {
		panic(fmt.Sprintf("the embedded page cannot be read: %v", err)) // the build is broken
	}
	files := make(map[string]*pageFile, len(entries)+1)
	for _, entry := range entries {
		extension := path.Ext(entry.Name())
		file := &pageFile{path: "page/" + entry.Name(), contentType: contentTypes[extension], document: extension == ".html" || extension == ".svg"}
		file.tag = file.sum()
		file.compressed = sync.OnceValue(file.compress)
		if entry.Name() == pageIndex {
			files[pageRoot], files[pageRoot+pageIndex] = file, file
			continue
		}
		files[pageAssets+entry.Name()] = file
	}
	return files
}

func (f *pageFile) sum() string {
	content := f.open()
	defer content.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		panic(fmt.Sprintf("the embedded page cannot be read: %v", err))
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

func (f *pageFile) compress() []byte {
	content := f.open()
	defer content.Close()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.Copy(z, content)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("the embedded page cannot be compressed: %v", err)) // memory takes everything
	}
	return bytes.Clone(b.Bytes()) // without the room it grew into
}

// TakesGzip reports whether a client accepts gzip, from the values of its
// Accept-Encoding (RFC 9110, 12.5.3). A weight of zero means that it does not.
func TakesGzip(accept []string) bool {
	takes := false
	for _, coding := range strings.Split(strings.Join(accept, ","), ",") {
		name, parameters, err := mime.ParseMediaType(strings.TrimSpace(coding))
		if err != nil || name != "gzip" && name != "*" {
			continue
		}
		weight := 1.0
		if q, ok := parameters["q"]; ok {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		if name == "gzip" {
			return weight > 0
		}
		takes = weight > 0
	}
	return takes
}
