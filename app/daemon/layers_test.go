package daemon

import (
	"testing"

	"lamplighter/app/config"
)

// While nobody knows what the settings spare, nothing is ended.
func TestLostSettingsEndNothing(t *testing.T) {
	l := layers{ours: config.Default(), lost: true}
	var got held
	take := func(h held) { got = h }
	l.change(func(*layers) {}, take)
	if r := got.policies; r.OrphanGrace != 0 || r.IdleAfter != 0 || r.MemoryEnd || r.ZombieAfter == 0 {
		t.Errorf("%+v", r)
	}
	l.change(func(l *layers) { l.lost = false }, take)
	if r := got.policies; r.OrphanGrace != config.DefaultOrphanGrace {
		t.Errorf("%+v", r)
	}
}
