package doctor

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"lamplighter/monitor/registry"
)

func TestJudgeRegistry(t *testing.T) {
	well := registryFacts{path: "/s/instances.json", entries: 2, lock: lockFacts{path: "/s/instances.lock"}}
	for name, test := range map[string]struct {
		change func(*registryFacts)
		mark   Mark
		want   string
	}{
		"well":         {func(*registryFacts) {}, OK, "can be read: 2 servers"},
		"no place":     {func(f *registryFacts) { *f = registryFacts{} }, OK, "no registry"},
		"none yet":     {func(f *registryFacts) { f.err = fs.ErrNotExist }, OK, "there is no registry /s/instances.json yet"},
		"switched off": {func(f *registryFacts) { f.err = registry.ErrOff }, OK, "switches the registry off"},
		"broken":       {func(f *registryFacts) { f.err = registry.ErrBroken }, Broken, "cannot be used: it is not a registry"},
		"unreadable":   {func(f *registryFacts) { f.err = errors.New("denied") }, Broken, "cannot be read: denied"},
		"ended":        {func(f *registryFacts) { f.ended = 1 }, OK, "1 server there has ended; "},
		"held":         {func(f *registryFacts) { f.lock.held = true }, Broken, "/s/instances.lock is held all the time"},
		"bad lock":     {func(f *registryFacts) { f.lock.err = errors.New("it is a pipe") }, Broken, "cannot be taken: it is a pipe"},
	} {
		f := well
		test.change(&f)
		lines := judgeRegistry(f)
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
