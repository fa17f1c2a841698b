package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/registry"
)

func TestJudgeRegistry(t *testing.T) {
	well := registry.Health{Path: "/s/instances.json", Lock: "/s/instances.lock", Exists: true, Entries: 2}
	for name, test := range map[string]struct {
		change func(*registry.Health)
		mark   Mark
		want   string
	}{
		"well":          {func(*registry.Health) {}, OK, "can be read: 2 servers"},
		"no place":      {func(h *registry.Health) { *h = registry.Health{} }, OK, "no registry"},
		"none yet":      {func(h *registry.Health) { h.Exists = false }, OK, "there is no registry /s/instances.json yet"},
		"switched off":  {func(h *registry.Health) { h.NotRegular = true }, OK, "switches the registry off"},
		"corrupt":       {func(h *registry.Health) { h.Corrupt = errors.New("not valid JSON") }, Broken, "cannot be used: not valid JSON"},
		"unreadable":    {func(h *registry.Health) { h.Err = errors.New("denied") }, Broken, "cannot be read: denied"},
		"strange":       {func(h *registry.Health) { h.Strange = 1 }, Warn, "1 entry there cannot be understood"},
		"just ended":    {func(h *registry.Health) { h.Dead, h.OldestDead = 1, time.Minute }, OK, "1 server there has ended; "},
		"left over":     {func(h *registry.Health) { h.Dead, h.OldestDead = 3, time.Hour }, Warn, "3 servers there have ended long ago"},
		"held":          {func(h *registry.Health) { h.Held, h.Holder, h.HolderName = true, 9, "python3" }, Broken, "held all the time by python3 (pid 9)"},
		"held, by whom": {func(h *registry.Health) { h.Held = true }, Broken, "is held all the time |"},
		"bad lock":      {func(h *registry.Health) { h.LockErr = errors.New("it is not a regular file") }, Broken, "cannot be taken: it is not a regular file"},
	} {
		h := well
		test.change(&h)
		lines := judgeRegistry(h)
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
}

func TestJudgeUsers(t *testing.T) {
	for name, test := range map[string]struct {
		facts userFacts
		mark  Mark
		want  string
	}{
		"alone":     {userFacts{}, OK, "nobody else"},
		"others":    {userFacts{others: []string{"ann", "bob"}}, Warn, "other users are here: ann, bob"},
		"not known": {userFacts{err: errors.New("no /proc")}, Warn, "not known: no /proc"},
	} {
		lines := judgeUsers(test.facts)
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: %s", name, said(lines))
		}
		if test.mark == Warn && !strings.Contains(said(lines), "no password") {
			t.Errorf("%s does not say what it means", name)
		}
	}
}
