package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"lamplighter/app/payload"
)

// The bounds of what is asked.
const (
	maxName  = 4096 // bytes of the name of a memory, which is a path
	maxWhole = 1<<53 - 1
)

// field is one of the JSON object that a route takes. All are needed.
type field struct {
	name string
	kind kind
}

// kind is what the value of a field has to be.
type kind int

const (
	number kind = iota // a whole one from 0 on that a page can hold exactly
	word               // a string that is not empty, nor longer than maxName
	prose              // any string
)

// readBody reads what a request carries and writes it anew: an instance gets
// nothing that was not understood here. It is nil for a route that takes none.
func readBody(w http.ResponseWriter, req *http.Request, fields []field) ([]byte, *failure) {
	body, status, err := payload.Read(w, req)
	switch {
	case err != nil:
		return nil, &failure{status, err.Error()}
	case len(body) == 0 && len(fields) == 0:
		return nil, nil
	}
	values, err := parseBody(body, fields)
	if err != nil {
		return nil, &failure{http.StatusBadRequest, err.Error()}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	anew, err := json.Marshal(values) // sorted by name, so that equal questions are equal bytes
	if err != nil {
		return nil, &failure{http.StatusBadRequest, "the body cannot be passed on"}
	}
	return anew, nil
}

// parseBody reads a JSON object that has each field once and no other. The
// error is a sentence that names the field.
func parseBody(body []byte, fields []field) (map[string]any, error) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	given, err := payload.Object(body, names...)
	if err != nil {
		return nil, fmt.Errorf("the body cannot be used: %w%s", err, wanted(fields))
	}
	values := make(map[string]any, len(fields))
	for _, f := range fields {
		raw, found := given[f.name]
		if !found {
			return nil, fmt.Errorf("%s is missing%s", f.name, wanted(fields))
		}
		if values[f.name], err = f.kind.parse(raw); err != nil {
			return nil, fmt.Errorf("%s %w", f.name, err)
		}
	}
	return values, nil
}

// parse reads a value that is valid JSON. The error continues the field's name.
func (k kind) parse(raw json.RawMessage) (any, error) {
	if k == number {
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil || n < 0 || n > maxWhole {
			return nil, fmt.Errorf("has to be a whole number from 0 to %d", maxWhole)
		}
		return n, nil
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return nil, errors.New("has to be a string")
	}
	switch {
	case k == word && *s == "":
		return nil, errors.New("is empty")
	case k == word && len(*s) > maxName:
		return nil, fmt.Errorf("is longer than %d bytes", maxName)
	}
	return *s, nil
}

// wanted tells what the body should be, to be added to what is wrong with it.
func wanted(fields []field) string {
	if len(fields) == 0 {
		return "; no body is needed"
	}
	like := "; it should be like {"
	for i, f := range fields {
		if i > 0 {
			like += ","
		}
		like += strconv.Quote(f.name) + ":" + map[kind]string{number: "0", word: `"…"`, prose: `"…"`}[f.kind]
	}
	return like + "}"
}
