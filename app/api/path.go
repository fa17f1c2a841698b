package api

import (
	"errors"
	"net/http"
	"strings"
)

// maxTarget is more than any path of ours has, in bytes.
const maxTarget = 1024

// plainPath reports whether the path of a request is written in the one way that
// our paths are: no escapes, no empty or dotted steps, only letters, digits and
// "-._~". What is written otherwise is nothing of ours, whatever it would mean.
// The error says what is wrong with a target that is no path, or too long.
func plainPath(req *http.Request) (bool, error) {
	path := req.URL.Path
	switch {
	case req.URL.Scheme != "" || req.URL.Host != "" || req.URL.Opaque != "" || !strings.HasPrefix(path, "/"):
		return false, errors.New("the request has to name a path, beginning with /")
	case len(path) > maxTarget || len(req.URL.RawPath) > maxTarget:
		return false, errors.New("the path is too long")
	case req.URL.RawPath != "" || strings.ContainsFunc(path, unusual):
		return false, nil
	}
	steps := strings.Split(path[1:], "/")
	for i, step := range steps {
		if step == "" && i < len(steps)-1 || step == "." || step == ".." {
			return false, nil
		}
	}
	return true, nil
}

// unusual tells a character that no path of ours has.
func unusual(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("/-._~", r)
}
