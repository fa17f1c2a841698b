package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lamplighter/app/config"
	"lamplighter/monitor"
)

// layerFlag is a setting of a layer, as a flag of run and of connect.
type layerFlag struct {
	name  string
	said  func(config.Layer) (value string, ok bool)
	adopt func(into *config.Layer, from config.Layer)
}

// layerFlags are all of them, in the order of the help.
var layerFlags = [...]layerFlag{
	{
		"web-dashboard-global",
		func(l config.Layer) (string, bool) { return said(l.WebDashboardGlobal, strconv.FormatBool) },
		func(into *config.Layer, from config.Layer) { into.WebDashboardGlobal = from.WebDashboardGlobal },
	},
	{
		"web-dashboard-global-open-on-launch",
		func(l config.Layer) (string, bool) { return said(l.WebDashboardGlobalOpenOnLaunch, strconv.FormatBool) },
		func(into *config.Layer, from config.Layer) {
			into.WebDashboardGlobalOpenOnLaunch = from.WebDashboardGlobalOpenOnLaunch
		},
	},
	{
		"web-dashboard-global-port",
		func(l config.Layer) (string, bool) {
			return said(l.WebDashboardGlobalPort, func(p config.Port) string { return strconv.Itoa(int(p)) })
		},
		func(into *config.Layer, from config.Layer) { into.WebDashboardGlobalPort = from.WebDashboardGlobalPort },
	},
	{
		"idle-shutdown-minutes",
		func(l config.Layer) (string, bool) { return said(l.IdleShutdownMinutes, minutesInDigits) },
		func(into *config.Layer, from config.Layer) { into.IdleShutdownMinutes = from.IdleShutdownMinutes },
	},
}

func said[T any](value *T, words func(T) string) (string, bool) {
	if value == nil {
		return "", false
	}
	return words(*value), true
}

// minutesInDigits is how minutes are written in a setting.
func minutesInDigits(m config.Minutes) string {
	if m == 0 {
		return "none"
	}
	return strconv.FormatFloat(time.Duration(m).Minutes(), 'f', -1, 64)
}

// argumentsOf are the flags that say what a layer says.
func argumentsOf(l config.Layer) []string {
	var list []string
	for _, f := range layerFlags {
		if value, ok := f.said(l); ok {
			list = append(list, "--"+f.name+"="+value)
		}
	}
	return list
}

// readClientFlags reads the flags of a connect, which may have reached us from
// anywhere: each as one text, or its value in the next one. What cannot be used
// is told in a sentence each, and the others count.
func readClientFlags(flags []string) (l config.Layer, problems []string) {
	var cmd cobra.Command
	addLayerFlags(&cmd, &l)
	for i := 0; i < len(flags); i++ {
		name, value, hasValue := strings.Cut(flags[i], "=")
		bare, dashed := strings.CutPrefix(name, "--")
		flag := cmd.Flags().Lookup(bare)
		switch {
		case !dashed || flag == nil:
			problems = append(problems, notUsed(flags[i], "there is no such flag"))
			continue
		case hasValue:
		case flag.NoOptDefVal != "":
			value = flag.NoOptDefVal
		case i+1 < len(flags):
			i++
			value = flags[i]
		default:
			problems = append(problems, notUsed(name, "it has no value"))
			continue
		}
		if err := flag.Value.Set(value); err != nil {
			problems = append(problems, notUsed(name+"="+value, err.Error()))
		}
	}
	return l, problems
}

func notUsed(flag, why string) string {
	return monitor.Shorten(monitor.Clean(flag), 80) + " is not used: " + monitor.Clean(why)
}

// join makes what a client said count where neither the command line nor an
// earlier client has said something: the first wins. It returns a sentence for
// each flag that says something else than what holds.
func (l *layers) join(said config.Layer, holds func(held)) (warnings []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := false
	for _, f := range layerFlags {
		value, ok := f.said(said)
		if !ok {
			continue
		}
		runs, taken := f.said(l.flags)
		if !taken {
			runs, taken = f.said(l.clients)
		}
		switch {
		case !taken:
			f.adopt(&l.clients, said)
			changed = true
		case runs != value:
			warnings = append(warnings, fmt.Sprintf("--%s=%s is not used: this lamplighter runs with %s; the first wins", f.name, value, runs))
		}
	}
	if changed {
		l.tell(holds)
	}
	return warnings
}

// clientFlags takes the flags of a client's connect, and returns what its user
// has to know of them.
func (b *background) clientFlags(flags []string) (warnings []string) {
	if len(flags) == 0 {
		return nil
	}
	said, warnings := readClientFlags(flags)
	return append(warnings, b.layers.join(said, b.holds)...)
}
