package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
)

// state is what the client had set up, which is repeated to the next server. It is
// never changed in place: its slices are shared.
type state struct {
	initialize    []byte   // the client's line
	initialized   []byte   // the client's notifications/initialized; nil before it came
	protocol      string   // the version that was negotiated; "" when an earlier process did that
	subscriptions [][]byte // params of resources/subscribe
	level         []byte   // params of logging/setLevel; nil when it was not set
}

// with is the state after a request was answered.
func (s state) with(method string, params []byte) state {
	if len(params) == 0 {
		return s
	}
	params = bytes.Clone(params)
	same := func(old []byte) bool { return uriOf(old) == uriOf(params) }
	switch method {
	case "logging/setLevel":
		s.level = params
	case "resources/subscribe":
		s.subscriptions = append(slices.DeleteFunc(slices.Clone(s.subscriptions), same), params)
	case "resources/unsubscribe":
		s.subscriptions = slices.DeleteFunc(slices.Clone(s.subscriptions), same)
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
