package payload

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRead(t *testing.T) {
	const j = "application/json"
	for name, test := range map[string]struct {
		kinds  []string
		body   string
		status int
		err    error
	}{
		"none":           {nil, "", 0, nil},
		"none, a kind":   {[]string{"text/plain"}, "", 0, nil},
		"JSON":           {[]string{j}, "{}", 0, nil},
		"with a charset": {[]string{j + "; charset=utf-8"}, "{}", 0, nil},
		"in capitals":    {[]string{"Application/JSON"}, "{}", 0, nil},
		"no kind":        {nil, "{}", 400, ErrNotJSON},
		"an empty kind":  {[]string{""}, "{}", 400, ErrNotJSON},
		"another kind":   {[]string{"text/plain"}, "{}", 400, ErrNotJSON},
		"one like it":    {[]string{"application/jsonx"}, "{}", 400, ErrNotJSON},
		"two kinds":      {[]string{j, "text/plain"}, "{}", 400, ErrNotJSON},
		"the same twice": {[]string{j, j}, "{}", 400, ErrNotJSON},
		"as long as may": {[]string{j}, strings.Repeat(" ", Max), 0, nil},
		"longer":         {[]string{j}, strings.Repeat(" ", Max+1), 413, ErrTooLarge},
	} {
		req := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
		req.Header["Content-Type"] = test.kinds
		body, status, err := Read(httptest.NewRecorder(), req)
		if status != test.status || !errors.Is(err, test.err) || err == nil && string(body) != test.body || err != nil && body != nil {
			t.Errorf("%s: %d bytes, %d, %v", name, len(body), status, err)
		}
	}
	for _, test := range []struct {
		broken error
		status int
		err    error
	}{{errors.New("reset"), 400, errLost}, {ErrFull, 503, ErrFull}} {
		req := httptest.NewRequest(http.MethodPost, "/", iotest.ErrReader(test.broken))
		if body, status, err := Read(httptest.NewRecorder(), req); body != nil || status != test.status || !errors.Is(err, test.err) {
			t.Errorf("%v: %q, %d, %v", test.broken, body, status, err)
		}
	}
}
