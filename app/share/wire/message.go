package wire

import (
	"bytes"
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
// fails: what it cannot read is Garbage, of which it has at most an id that stands before
// the fault. Of a name that stands there twice the last one counts, as with most parsers.
func Split(line []byte) Message {
	line = bytes.Trim(line, space)
	switch {
	case bytes.HasPrefix(line, []byte("[")):
		return Message{Kind: Batch}
	case !bytes.HasPrefix(line, []byte("{")):
		return Message{}
	}
	m, isMethod, ok := readMembers(line[1:])
	switch {
	case !ok && isID(m.ID):
		return Message{ID: m.ID}
	case !ok:
		return Message{}
	case isMethod && isID(m.ID):
		m.Kind = Request
	case isMethod && m.ID == nil:
		m.Kind = Notification
	case !isMethod && m.ID != nil && (m.Result != nil || m.Error != nil):
		m.Kind = Response
	}
	return m
}

// readMembers reads what follows the { of an object, which is to end with its }.
func readMembers(rest []byte) (m Message, isMethod, ok bool) {
	if string(bytes.TrimLeft(rest, space)) == "}" {
		return m, false, true
	}
	for {
		var quoted, colon, value, separator []byte
		quoted, rest = cut(rest)
		colon, rest = cut(rest)
		value, rest = cut(rest)
		separator, rest = cut(rest)
		isLast := string(separator) == "}"
		name, ok := unquote(quoted)
		isValue := len(value) > 0 && (isPlain(value[0]) || strings.IndexByte(`"{[`, value[0]) >= 0)
		if !ok || string(colon) != ":" || !isValue || !isLast && string(separator) != "," {
			return m, isMethod, false
		}
		switch name {
		case "id":
			m.ID = value
		case "method":
			m.Method, isMethod = unquote(value)
			if !isMethod {
				return m, false, false
			}
		case "params":
			m.Params = value
		case "result":
			m.Result = value
		case "error":
			m.Error = value
		}
		if isLast {
			return m, isMethod, len(rest) == 0
		}
	}
}

// NeedsAnswer reports whether the background process answers a line of this kind:
// a request, and with an error what is no message.
func (k Kind) NeedsAnswer() bool { return k != Notification && k != Response }

// isID reports whether a value can be the id of a request: MCP wants a string or a
// number.
func isID(value []byte) bool {
	return len(value) > 0 && strings.IndexByte(`"-0123456789`, value[0]) >= 0
}

// space is what may stand between the tokens of JSON.
const space = " \t\r\n"

// cut takes the first token off a text of JSON: a string, a number, a word, an object or an
// array as a whole, or one byte of what stands between them. It is nil when there is none
// that ends. Inside objects and arrays only strings and brackets are looked at.
func cut(text []byte) (token, rest []byte) {
	text = bytes.TrimLeft(text, space)
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return nil, nil
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		default:
			if depth == 0 && isPlain(text[i]) && i+1 < len(text) && isPlain(text[i+1]) {
				continue
			}
		}
		if depth <= 0 {
			return text[:i+1], text[i+1:]
		}
	}
	return nil, nil
}

// isPlain reports whether a byte can be one of a number or a word.
func isPlain(c byte) bool {
	return c == '+' || c == '-' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E'
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
