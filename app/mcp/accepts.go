package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"lamplighter/app/share/wire"
)

// Hello is the line of an initialize request of ours. Every server that speaks
// HTTP knows this version of the protocol, or answers with its own.
const Hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":` +
	`{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"lamplighter","version":"1"}}}`

// leaveLimit is how long a server may take to let the session of Accepts go.
const leaveLimit = 500 * time.Millisecond

// Accepts sends Hello and returns the path at which the server consented, which is
// another than that of the URL when it has redirected us. The session that this
// made is ended.
func Accepts(ctx context.Context, o Options) (path string, err error) {
	to, err := o.parse()
	if err != nil {
		return "", err
	}
	for range 2 { // a server may add or want a slash
		o.URL = to.String()
		s, answer, err := Open(ctx, o, []byte(Hello))
		var refused *Refused
		if errors.As(err, &refused) && refused.Location != "" {
			if to, err = sameServer(to, refused.Location); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if s != nil {
			leaving, cancel := context.WithTimeout(ctx, leaveLimit)
			defer cancel()
			s.Close(leaving)
		}
		return to.RequestURI(), consent(answer)
	}
	return "", errors.New("it redirects again and again")
}

// AcceptsSSE asks a server of the older transport, whose stream begins with where to send
// messages. None is sent: who tells that is ready for them. The session ends with the stream.
func AcceptsSSE(ctx context.Context, o Options) error {
	s, err := newServer(o)
	if err != nil {
		return err
	}
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	stream, err := s.openStream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	told := errors.New("it closed the stream without an endpoint")
	heard := false
	err = ReadEvents(stream, func(kind string, data []byte) {
		switch {
		case heard:
			return
		case kind == "endpoint":
			_, told = sameServer(s.url, string(data))
		default:
			told = fmt.Errorf("its stream begins with %.40q instead of an endpoint", kind)
		}
		heard = true
		hangUp()
	})
	if !heard && err != nil {
		return failed(ctx, true, err)
	}
	return told
}

// consent reads an answer to Hello: nil when the server is willing.
func consent(answer []byte) error {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	var told struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	}
	m := wire.Split(answer)
	switch {
	case json.Unmarshal(m.Result, &result) == nil && result.Version != "":
		return nil
	case m.Result == nil && json.Unmarshal(m.Error, &told) == nil:
		return fmt.Errorf("it refused initialize with %s: %s", told.Code, told.Message)
	}
	return errors.New("its answer to initialize names no version of the protocol")
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
