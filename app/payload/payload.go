// Package payload reads what a request carries: JSON, not much of it, and soon.
// The routes of app/api and what app/dashboard forwards share it, so that a
// body is judged alike wherever it is meant for.
package payload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// Max bounds a body, in bytes.
const Max = 1 << 20

// usualTime is how long a body may take.
const usualTime = 5 * time.Second

// What may be wrong with a body, in sentences for people.
var (
	ErrTooLarge = fmt.Errorf("the body is longer than %d bytes", Max)
	ErrNotJSON  = errors.New("the body has to be application/json")
	errLost     = errors.New("the body did not arrive")
)

// Expect gives the body of a request its time, if it has one, zero for the usual
// one: a body that never comes must not keep the connection. It is for every
// request, because a body that no route reads is read by the server at the end.
func Expect(w http.ResponseWriter, req *http.Request, within time.Duration) {
	if req.ContentLength != 0 {
		// Where there is no deadline (a recorder in a test) there is no
		// connection either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(cmp.Or(within, usualTime)))
	}
}

// Read reads the body of a request, which may be missing, in the time that
// Expect has given it. The error is one of the above or another sentence, and
// belongs to the status; the connection ends with that answer.
func Read(w http.ResponseWriter, req *http.Request) (body []byte, status int, err error) {
	body, status, err = read(w, req, Max, false)
	switch {
	case status == http.StatusRequestEntityTooLarge:
		err = ErrTooLarge
	case len(body) > 0 && !IsJSON(req):
		return nil, http.StatusBadRequest, ErrNotJSON
	}
	return body, status, err
}

// ReadLong is Read for a body of any type and of up to that many bytes, which has to
// come steadily: the next part in the usual time.
func ReadLong(w http.ResponseWriter, req *http.Request, most int64) (body []byte, status int, err error) {
	return read(w, req, most, true)
}

// part is what of a long body has to come within usualTime, in bytes.
const part = 1 << 20

// read reads a body part by part, each of which gets a time of its own if it has to
// come steadily.
func read(w http.ResponseWriter, req *http.Request, most int64, isSteady bool) (body []byte, status int, err error) {
	control := http.NewResponseController(w)
	from := http.MaxBytesReader(w, req.Body, most)
	var text bytes.Buffer
	for {
		if isSteady {
			// Where there is no deadline (a recorder in a test) there is no connection.
			_ = control.SetReadDeadline(time.Now().Add(usualTime))
		}
		if _, err = io.CopyN(&text, from, part); err != nil {
			break
		}
		// Of a known length there is room for all of it: growing takes twice as much.
		text.Grow(max(int(min(req.ContentLength, most))-text.Len(), 0) + bytes.MinRead)
	}
	if errors.Is(err, io.EOF) {
		_ = control.SetReadDeadline(time.Time{})
		return text.Bytes(), 0, nil
	}
	// Of a connection that goes on, the server reads the rest of the body before it
	// answers. What it reads otherwise has the same deadline.
	w.Header().Set("Connection", "close")
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the message is longer than the limit of %d MiB", most>>20)
	case errors.Is(err, ErrFull):
		return nil, http.StatusServiceUnavailable, ErrFull
	}
	return nil, http.StatusBadRequest, errLost
}

// IsJSON reports whether a request says once, and nothing else, that its body is
// JSON.
func IsJSON(req *http.Request) bool {
	said := req.Header.Values("Content-Type")
	if len(said) != 1 {
		return false
	}
	kind, _, err := mime.ParseMediaType(said[0])
	return err == nil && kind == "application/json"
}
