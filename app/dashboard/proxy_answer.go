package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"lamplighter/monitor"
)

// failure is an answer that is not a success: a status and a sentence.
type failure struct {
	status int
	text   string
}

// answer is what the one who asked gets: the JSON object of the instance, or a
// failure.
type answer struct {
	body    []byte
	failure *failure
	free    func() // gives back the place of a large body; nil where there is none
}

// release gives back what the body holds, after its last use.
func (a answer) release() {
	if a.free != nil {
		a.free()
	}
}

func failed(status int, format string, args ...any) answer {
	return answer{failure: &failure{status, fmt.Sprintf(format, args...)}}
}

// named is what a sentence calls an instance: its label, however long the name
// of the project is.
func named(in *monitor.Instance) string { return monitor.Shorten(in.Label(), 80) }

// judge decides about an answer that arrived whole. Only a JSON object with
// status 200 is passed on; its meaning is for the page.
func judge(r rule, in *monitor.Instance, status int, body []byte) answer {
	switch {
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		version := "this version of Serena"
		if in.Version != "" {
			version += " (" + monitor.Shorten(monitor.Clean(in.Version), 40) + ")"
		}
		return failed(http.StatusNotFound, "%s does not offer %s", version, r.Name)
	case status == http.StatusInternalServerError && r.Name == overviewName && in.Version == "":
		// Its version is in the overview: so far it has given none to anybody.
		return failed(http.StatusConflict, "%s is starting: its configuration is not yet available; ask again in a moment", named(in))
	case status != http.StatusOK:
		return failed(http.StatusBadGateway, "%s answered %s with status %d; its log may say why", named(in), r.Name, status)
	case len(bytes.TrimSpace(body)) == 0:
		return failed(http.StatusBadGateway, "%s answered %s with nothing", named(in), r.Name)
	case !isObject(body):
		return failed(http.StatusBadGateway, "%s answered %s with something that is not a JSON object", named(in), r.Name)
	}
	return answer{body: body}
}

// isObject reports whether body is one JSON object and nothing else, in UTF-8.
func isObject(body []byte) bool {
	const space = " \t\r\n"
	return bytes.HasPrefix(bytes.TrimLeft(body, space), []byte("{")) && utf8.Valid(body) && json.Valid(body)
}

// writeTime is what the one who asked has to take the answer: its bytes are
// held until then.
const writeTime = 30 * time.Second

// write sends the answer. All headers are ours. An error is the other side's.
func (a answer) write(w http.ResponseWriter) {
	status, body := http.StatusOK, a.body
	if a.failure != nil {
		status = a.failure.status
		body, _ = json.Marshal(map[string]string{"error": a.failure.text}) // strings can always be encoded
		body = append(body, '\n')
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	deadline := http.NewResponseController(w)
	_ = deadline.SetWriteDeadline(time.Now().Add(writeTime)) // not in a recorder
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_ = deadline.SetWriteDeadline(time.Time{})
}
