package cli

import (
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
)

func TestRunFlags(t *testing.T) {
	for args, want := range map[string]config.Dashboard{
		"":                             {On: true, Port: 25282},
		"--web-dashboard-global=false": {Port: 25282},
		"--web-dashboard-global --web-dashboard-global-open-on-launch --web-dashboard-global-port 1024": {On: true, OpenOnLaunch: true, Port: 1024},
	} {
		for _, verb := range []string{"", "run"} {
			d := newDesktop(t)
			cmd, rest, err := d.root().Find(strings.Fields(verb))
			if err == nil {
				err = cmd.ParseFlags(append(rest, strings.Fields(args)...))
			}
			if got := config.Layers(d.Flags); got != want || err != nil {
				t.Errorf("%s %s: %+v, %v", verb, args, got, err)
			}
			if args == "" && d.Flags != (config.Layer{}) {
				t.Errorf("%s: something is said: %+v", verb, d.Flags)
			}
		}
	}
	d := newDesktop(t)
	d.runs(t, "run", "--help")
	apptest.Contains(t, d.out.String(), "--web-dashboard-global-port PORT", "25282")
}
