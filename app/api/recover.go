package api

import (
	"errors"
	"net/http"
	"runtime/debug"
)

// recovered turns a panic of a route into an answer, so that one broken route
// costs no more than its own request.
func (r routes) recovered(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		watched := &begun{ResponseWriter: w}
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
			r.parts.Log.Error("panic in a route", "method", req.Method, "path", req.URL.Path, "panic", cause, "stack", string(debug.Stack()))
			if watched.answered {
				panic(http.ErrAbortHandler) // what was sent must not pass for the whole
			}
			r.fail(w, http.StatusInternalServerError, "lamplighter failed at this; its log says why")
		}()
		serve(watched, req)
	}
}

// begun notes whether an answer has begun.
type begun struct {
	http.ResponseWriter
	answered bool
}

// WriteHeader notes the beginning. Answers of information alone do not count.
func (b *begun) WriteHeader(status int) {
	b.answered = b.answered || status >= http.StatusOK
	b.ResponseWriter.WriteHeader(status)
}

// Write notes the beginning.
func (b *begun) Write(p []byte) (int, error) {
	b.answered = true
	return b.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }
