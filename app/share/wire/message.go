package wire

import (
	"strconv"
	"strings"
)

// Kind is what a line is in JSON-RPC 2.0.
type Kind byte

// The kinds.
const (
	Garbage      Kind = iota // no JSON object, or one that is none of the others
	Batch                    // an array
	Request                  // has a method and an id
	Notification             // has a method and no id
	Response                 // has an id and a result or an error
)

// Message is one line, split at its top level. The slices are parts of the line,
// as they stand there; nil is what is not there.
type Message struct {
	Kind   Kind
	ID     []byte // as written: 1, 1.5, "a", null
	Method string // decoded; "" when it is none
	Params []byte
	Result []byte
	Error  []byte
}

// Codes of JSON-RPC errors.
const (
	CodeParse          = -32700
	CodeInvalid        = -32600
	CodeMethodNotFound = -32601
	CodeInternal       = -32603
	CodeUnavailable    = -32000 // nobody can carry it out now
)

// ErrorLine is the answer with an error to the request with that id; nil makes
// it null. The message may hold any text.
func ErrorLine(id []byte, code int, message string) []byte {
	if len(id) == 0 {
		id = []byte("null")
	}
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(line, `,"error":{"code":`...)
	line = strconv.AppendInt(line, int64(code), 10)
	line = append(line, `,"message":`...)
	line = appendString(line, message)
	return append(line, `}}`...)
}

// appendString appends text as a JSON string: what is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}

// Split reads a line. It checks the structure of the top level only, and never
// fails: what it cannot read is Garbage. Of a name that stands there twice the
// last one counts, as with most parsers.
func Split(line []byte) Message {
	s := scanner{text: line}
	s.space()
	switch {
	case s.at('['):
		return Message{Kind: Batch}
	case !s.take('{'):
		return Message{}
	}
	var m Message
	method := false
	s.space()
	for !s.take('}') {
		name, ok := s.str()
		s.space()
		if !ok || !s.take(':') {
			return Message{}
		}
		s.space()
		value, ok := s.value()
		if !ok {
			return Message{}
		}
		text, ok := unquote(name)
		if !ok {
			return Message{}
		}
		switch text {
		case "id":
			m.ID = value
		case "method":
			m.Method, method = unquote(value)
			if !method {
				return Message{}
			}
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
		s.space()
		if s.take(',') {
			s.space()
			if !s.at('"') {
				return Message{}
			}
		} else if !s.at('}') {
			return Message{}
		}
	}
	if s.space(); s.pos != len(s.text) {
		return Message{}
	}
	switch {
	case method && m.ID != nil && isID(m.ID):
		m.Kind = Request
	case method && m.ID == nil:
		m.Kind = Notification
	case !method && m.ID != nil && (m.Result != nil || m.Error != nil):
		m.Kind = Response
	}
	return m
}

// NeedsAnswer reports whether the background process answers a line of this kind:
// a request, and with an error what is no message.
func (k Kind) NeedsAnswer() bool { return k != Notification && k != Response }

// isID reports whether a value can be the id of a request: MCP wants a string or a
// number.
func isID(value []byte) bool {
	return value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9'
}

// scanner walks over JSON without decoding it.
type scanner struct {
	text []byte
	pos  int
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.text) && s.text[s.pos] == c }

func (s *scanner) take(c byte) bool {
	if !s.at(c) {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// str takes a string and returns it with its quotation marks.
func (s *scanner) str() ([]byte, bool) {
	begin := s.pos
	if !s.take('"') {
		return nil, false
	}
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '\\':
			s.pos += 2
		case '"':
			s.pos++
			return s.text[begin:s.pos], true
		default:
			s.pos++
		}
	}
	s.pos = len(s.text)
	return nil, false
}

// value takes any value. Inside objects and arrays only strings and brackets
// are looked at.
func (s *scanner) value() ([]byte, bool) {
	begin := s.pos
	switch {
	case s.at('"'):
		return s.str()
	case s.at('{'), s.at('['):
		depth := 0
		for s.pos < len(s.text) {
			switch s.text[s.pos] {
			case '"':
				if _, ok := s.str(); !ok {
					return nil, false
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			s.pos++
			if depth == 0 {
				return s.text[begin:s.pos], true
			}
		}
		return nil, false
	}
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '+', c == '-', c == '.', c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == 'E':
			s.pos++
			continue
		}
		break
	}
	return s.text[begin:s.pos], s.pos > begin
}

// unquote decodes a string of JSON. Of escapes it knows \/ alone, which some write in
// the names of methods: what has another one in a name is refused, as nobody needs it.
func unquote(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	text := strings.ReplaceAll(string(value[1:len(value)-1]), `\/`, "/")
	return text, strings.IndexByte(text, '\\') < 0
}
