package monitor

import (
	"testing"
	"time"
)

func TestPinEvent(t *testing.T) {
	in := Instance{Identity: Identity{PID: 41, Start: 7}, Kind: KindSerena, Port: 24284, ProjectName: "alpha"}
	at := time.Unix(100, 0)
	want := Event{At: at, Kind: EventPinned, ID: "41-7", PID: 41, Label: "41 - alpha", Detail: "by the page"}
	if got := PinEvent(&in, true, "the\n page", at); got != want {
		t.Errorf("%+v", got)
	}
	want.Kind, want.Detail = EventUnpinned, ""
	if got := PinEvent(&in, false, "", at); got != want {
		t.Errorf("%+v", got)
	}
}
