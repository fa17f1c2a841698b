package cli

import (
	"fmt"
	"slices"
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
	holds func(held) any             // what is done of it
	means func(held) (change string) // what that is from now on, a part of a sentence
}

// layerFlags are all of them, in the order of the help.
var layerFlags = [...]layerFlag{
	{
		"web-dashboard-global",
		func(l config.Layer) (string, bool) { return said(l.WebDashboardGlobal, strconv.FormatBool) },
		func(into *config.Layer, from config.Layer) { into.WebDashboardGlobal = from.WebDashboardGlobal },
		func(h held) any { return h.dashboard.On },
		func(h held) string {
			if h.dashboard.On {
				return "the global dashboard is served now"
			}
			return "the global dashboard is not served any more"
		},
	},
	{
		"web-dashboard-global-open-on-launch",
		func(l config.Layer) (string, bool) { return said(l.WebDashboardGlobalOpenOnLaunch, strconv.FormatBool) },
		func(into *config.Layer, from config.Layer) {
			into.WebDashboardGlobalOpenOnLaunch = from.WebDashboardGlobalOpenOnLaunch
		},
		func(h held) any { return h.dashboard.OpenOnLaunch },
		func(h held) string {
			if h.dashboard.OpenOnLaunch {
				return "the global dashboard opens by itself now"
			}
			return "the global dashboard does not open by itself any more"
		},
	},
	{
		"web-dashboard-global-port",
		func(l config.Layer) (string, bool) {
			return said(l.WebDashboardGlobalPort, func(p config.Port) string { return strconv.Itoa(int(p)) })
		},
		func(into *config.Layer, from config.Layer) { into.WebDashboardGlobalPort = from.WebDashboardGlobalPort },
		func(h held) any { return h.dashboard.Port },
		func(h held) string {
			if h.dashboard.On {
				return "the global dashboard is served there now"
			}
			return "the global dashboard would be served there, and is switched off"
		},
	},
	{
		"idle-shutdown-minutes",
		func(l config.Layer) (string, bool) { return said(l.IdleShutdownMinutes, minutesInDigits) },
		func(into *config.Layer, from config.Layer) { into.IdleShutdownMinutes = from.IdleShutdownMinutes },
		func(h held) any { return h.policies.IdleAfter },
		func(held) string { return "this is when idle servers are ended now" },
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
// each flag that has changed what holds, and one for each that says something else
// than what holds.
func (l *layers) join(said config.Layer, holds func(held)) (news, warnings []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.held()
	var adopted []layerFlag
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
			adopted = append(adopted, f)
		case runs != value:
			warnings = append(warnings, fmt.Sprintf("--%s=%s is not used: this lamplighter runs with %s; the first wins", f.name, value, runs))
		}
	}
	if len(adopted) == 0 {
		return nil, warnings
	}
	after := l.held()
	for _, f := range adopted {
		if value, _ := f.said(said); f.holds(before) != f.holds(after) {
			news = append(news, fmt.Sprintf("--%s=%s: %s; it counts until lamplighter ends", f.name, value, f.means(after)))
		}
	}
	holds(after)
	return news, warnings
}

// clientFlags takes the flags of a client's connect, and returns what its user
// has to know of them.
func (b *background) clientFlags(flags []string) (warnings []string) {
	if len(flags) == 0 {
		return nil
	}
	said, problems := readClientFlags(flags)
	news, warnings := b.layers.join(said, b.holds)
	for _, text := range news {
		b.log.Info("a client's flag has changed what holds: " + text)
	}
	return slices.Concat(problems, news, warnings)
}
