package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
)

// stateVersion is another one for each State that an older process cannot read.
const stateVersion = 1

// State is what the next process needs to go on with a conversation. It is never
// changed in place: its slices are shared.
type State struct {
	Version       int
	Initialize    []byte   // the client's line
	Initialized   []byte   // the client's notifications/initialized; nil before it came
	Protocol      string   // the version that was negotiated
	Session       string   // id of the MCP session; "" when there was none
	Server        string   // Options.ServerID of the server that it is with
	Subscriptions [][]byte // params of resources/subscribe
	Level         []byte   // params of logging/setLevel; nil when it was not set
	REPL          []string // sessions of serena_repl
	Asked         [][]byte `json:",omitempty"` // ids of requests of the server that the client has not answered
}

// Limits of what is kept.
const (
	maxVersion   = 64   // bytes of State.Protocol
	maxSession   = 1024 // bytes of State.Session
	maxKeptAsks  = 64   // ids in State.Asked; the client's answers to more are lost with this process
	maxKeptAskID = 256  // bytes of each
)

// with is the state after a request was answered.
func (s State) with(method string, params []byte) State {
	if len(params) == 0 {
		return s
	}
	params = bytes.Clone(params)
	same := func(old []byte) bool { return uriOf(old) == uriOf(params) }
	switch method {
	case "logging/setLevel":
		s.Level = params
	case "resources/subscribe":
		s.Subscriptions = append(slices.DeleteFunc(slices.Clone(s.Subscriptions), same), params)
	case "resources/unsubscribe":
		s.Subscriptions = slices.DeleteFunc(slices.Clone(s.Subscriptions), same)
	}
	return s
}

func uriOf(params []byte) string {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(params, &p) != nil {
		return string(params)
	}
	return p.URI
}

// encode returns nil when there is nothing to go on with, or too much.
func (s State) encode() []byte {
	if s.Initialize == nil {
		return nil
	}
	s.Version = stateVersion
	b, err := json.Marshal(s)
	if err != nil || len(b) > wire.MaxKept {
		return nil
	}
	return b
}

var errState = errors.New("the kept conversation cannot be read")

// parseState reads what encode wrote. It came from the client's side, so that
// nothing in it is trusted.
func parseState(b []byte) (State, error) {
	var s State
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("%w: %w", errState, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return State{}, fmt.Errorf("%w: something follows it", errState)
	}
	switch {
	case s.Version != stateVersion:
		return State{}, fmt.Errorf("%w: its version is %d", errState, s.Version)
	case !isLine(s.Initialize, wire.Request, "initialize"):
		return State{}, fmt.Errorf("%w: it has no initialize", errState)
	case s.Initialized != nil && !isLine(s.Initialized, wire.Notification, "notifications/initialized"):
		return State{}, fmt.Errorf("%w: its notifications/initialized is another message", errState)
	case !mcp.IsToken(s.Protocol, maxVersion) || s.Session != "" && !mcp.IsToken(s.Session, maxSession):
		return State{}, fmt.Errorf("%w: its MCP session cannot be one", errState)
	case s.Level != nil && !isObject(s.Level):
		return State{}, fmt.Errorf("%w: its log level is no object", errState)
	case slices.ContainsFunc(s.Subscriptions, func(p []byte) bool { return !isObject(p) }):
		return State{}, fmt.Errorf("%w: a subscription is no object", errState)
	case len(s.Asked) > maxKeptAsks || slices.ContainsFunc(s.Asked, func(id []byte) bool { return !isID(id) }):
		return State{}, fmt.Errorf("%w: what the server asked has no id", errState)
	}
	return s, nil
}

// isID reports whether b is an id of a request that is kept.
func isID(b []byte) bool {
	return len(b) > 0 && len(b) <= maxKeptAskID && (b[0] == '"' || b[0] == '-' || b[0] >= '0' && b[0] <= '9') && json.Valid(b)
}

func isLine(line []byte, kind wire.Kind, method string) bool {
	m := wire.Split(line)
	return m.Kind == kind && m.Method == method && json.Valid(line)
}

func isObject(b []byte) bool {
	return len(b) > 0 && b[0] == '{' && json.Valid(b)
}
