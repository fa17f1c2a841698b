package view

import (
	"slices"
	"testing"

	"lamplighter/monitor"
)

func TestSteps(t *testing.T) {
	e := func(kind monitor.EventKind, id, order string) monitor.Event {
		return monitor.Event{Kind: kind, ID: id, Order: order}
	}
	for name, test := range map[string]struct {
		list []monitor.Event
		want []bool
	}{
		"one that ended": {[]monitor.Event{
			e(monitor.EventStopOrdered, "1-1", "a"), e(monitor.EventAsked, "1-1", "a"), e(monitor.EventStarted, "2-1", ""), e(monitor.EventForceKilled, "1-1", "a"), e(monitor.EventEnded, "1-1", "a"), e(monitor.EventStopped, "1-1", ""),
		}, []bool{true, true, false, false, false, true}},
		"one that is being ended": {[]monitor.Event{e(monitor.EventStopOrdered, "1-1", "a"), e(monitor.EventAsked, "1-1", "a")}, []bool{true, false}},
		"the order before":        {[]monitor.Event{e(monitor.EventStopOrdered, "1-1", "a"), e(monitor.EventStopRefused, "1-1", "b")}, []bool{false, false}},
		"of another":              {[]monitor.Event{e(monitor.EventStopOrdered, "1-1", "a"), e(monitor.EventEnded, "2-1", "a")}, []bool{false, false}},
		"of an older version":     {[]monitor.Event{e(monitor.EventStopOrdered, "1-1", ""), e(monitor.EventEnded, "1-1", "")}, []bool{false, false}},
		"parked":                  {[]monitor.Event{e(monitor.EventStopOrdered, "1-1", "a"), e(monitor.EventEnded, "1-1", "a"), e(monitor.EventParked, "1-1", "")}, []bool{true, true, false}},
		"it ended by itself":      {[]monitor.Event{e(monitor.EventStopped, "1-1", "")}, []bool{false}},
	} {
		if got := steps(test.list); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
