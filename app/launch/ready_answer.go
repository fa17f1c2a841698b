package launch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"lamplighter/monitor"
)

// maxAnswer is how much of an answer is read. The longest real ones are those
// of servers with long instructions: some 20 kB.
const maxAnswer = 1 << 20

// initializeID is the id of the one request that is ever sent.
const initializeID = 1

// initialize is that request. Every server that speaks HTTP knows this version,
// or answers with its own.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` +
	`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"lamplighter","version":"1"}}}`

// errOtherMessage says that a message is no answer to our request.
var errOtherMessage = errors.New("it is no answer to the request")

// parseInitialized reads one message of a server: nil when it is its consent to
// initialize, errOtherMessage when it is about something else.
func parseInitialized(message []byte) error {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  *struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
		Error *struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return fmt.Errorf("it is no message of MCP: %w", err)
	}
	var id int
	if m.Version != "2.0" || json.Unmarshal(m.ID, &id) != nil || id != initializeID {
		return errOtherMessage
	}
	switch {
	case m.Error != nil:
		return fmt.Errorf("it refused initialize with %s: %s", m.Error.Code, shorten(monitor.Clean(m.Error.Message), shownLength))
	case m.Result == nil || m.Result.Version == "":
		return errors.New("its answer to initialize names no version of the protocol")
	}
	return nil
}

// sseEvent is one server-sent event.
type sseEvent struct {
	name string // "message" unless it says otherwise
	data []byte
}

// sseReader reads server-sent events, as the HTML standard describes them, out
// of at most maxAnswer bytes.
type sseReader struct{ lines *bufio.Reader }

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{bufio.NewReader(&lineEnds{r: io.LimitReader(r, maxAnswer)})}
}

// next returns the next event that has data; io.EOF means that there is none.
func (s *sseReader) next() (sseEvent, error) {
	e := sseEvent{name: "message"}
	has := false
	for {
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			return sseEvent{}, err // an event that is not closed does not count
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			if has {
				return e, nil
			}
			e = sseEvent{name: "message"}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			if e.name = string(value); e.name == "" {
				e.name = "message"
			}
		case "data":
			if has {
				e.data = append(e.data, '\n')
			}
			e.data, has = append(e.data, value...), true
		}
	}
}

// lineEnds makes every end of a line (CR LF, CR, LF) a single LF.
type lineEnds struct {
	r  io.Reader
	cr bool // the last byte was a CR
}

// Read implements io.Reader. It may return no bytes and no error.
func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	kept := p[:0]
	for _, c := range p[:n] {
		after := l.cr
		l.cr = c == '\r'
		switch {
		case c == '\n' && after:
		case c == '\r':
			kept = append(kept, '\n')
		default:
			kept = append(kept, c)
		}
	}
	return len(kept), err
}

// readInitialized reads the body of an answer to initialize, JSON or an event
// stream, until it is clear what the server says.
func readInitialized(contentType string, body io.Reader) error {
	if !strings.HasPrefix(contentType, "text/event-stream") {
		text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
		if err != nil {
			return err
		}
		return parseInitialized(text)
	}
	return awaitInitialized(newSSEReader(body))
}

// awaitInitialized reads events until one answers initialize.
func awaitInitialized(events *sseReader) error {
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			return errors.New("it closed the stream without an answer to initialize")
		}
		if err != nil {
			return err
		}
		if e.name != "message" {
			continue
		}
		if err := parseInitialized(e.data); !errors.Is(err, errOtherMessage) {
			return err
		}
	}
}

// endpoint finds in the first event of an SSE stream where messages are to be
// sent: on the same server, whatever the event says.
func endpoint(base *url.URL, e sseEvent) (*url.URL, error) {
	if e.name != "endpoint" {
		return nil, fmt.Errorf("its stream begins with %.40q instead of an endpoint", e.name)
	}
	return sameServer(base, string(e.data))
}

// sameServer resolves a reference that a server gives, and refuses one that
// leads elsewhere.
func sameServer(base *url.URL, reference string) (*url.URL, error) {
	to, err := base.Parse(reference)
	if err != nil {
		return nil, errors.New("it names an address that cannot be read")
	}
	if to.Scheme != base.Scheme || to.Host != base.Host || to.User != nil {
		return nil, errors.New("it names an address on another server")
	}
	return to, nil
}

// shorten cuts a text to at most limit bytes, at the end of a character.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
