package daemon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

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

// ArgumentsOf are the flags that say what a layer says.
func ArgumentsOf(l config.Layer) []string {
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
	known := pflag.NewFlagSet("connect", pflag.ContinueOnError)
	AddLayerFlags(known, &l)
	for i := 0; i < len(flags); i++ {
		name, value, hasValue := strings.Cut(flags[i], "=")
		bare, dashed := strings.CutPrefix(name, "--")
		flag := known.Lookup(bare)
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

// AddLayerFlags adds those flags that are a layer of the settings.
func AddLayerFlags(flags *pflag.FlagSet, into *config.Layer) {
	flags.VarPF(switchFlag{&into.WebDashboardGlobal}, "web-dashboard-global", "",
		"serve the global dashboard; =false does not").NoOptDefVal = "true"
	flags.VarPF(switchFlag{&into.WebDashboardGlobalOpenOnLaunch}, "web-dashboard-global-open-on-launch", "",
		"open it with the first server after login").NoOptDefVal = "true"
	flags.Var(portFlag{&into.WebDashboardGlobalPort}, "web-dashboard-global-port",
		"serve it on this `PORT` of 127.0.0.1 (default: "+strconv.Itoa(config.DefaultPort)+")")
	flags.Var(minutesFlag{&into.IdleShutdownMinutes}, "idle-shutdown-minutes",
		"end servers that nobody has called for so many `MINUTES` (default: none)")
}

// switchFlag is a flag that is true, false or not said.
type switchFlag struct{ into **bool }

func (f switchFlag) Set(text string) error {
	v, err := ParseSwitch(text)
	if err == nil {
		*f.into = &v
	}
	return err
}

func (f switchFlag) String() string { return "" }
func (f switchFlag) Type() string   { return "bool" }

// ParseSwitch reads what a flag that is true or false is set to.
func ParseSwitch(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is not one of true, false", text)
	}
	return v, nil
}

// portFlag is a port that may not be said.
type portFlag struct{ into **config.Port }

func (f portFlag) Set(text string) error {
	var v config.Port
	err := v.UnmarshalText([]byte(text))
	if err == nil {
		*f.into = &v
	}
	return err
}

func (f portFlag) String() string { return "" }
func (f portFlag) Type() string   { return "int" }

// minutesFlag is a time that may not be said.
type minutesFlag struct{ into **config.Minutes }

func (f minutesFlag) Set(text string) error {
	var v config.Minutes
	err := v.UnmarshalText([]byte(text))
	if err == nil {
		*f.into = &v
	}
	return err
}

func (f minutesFlag) String() string { return "" }
func (f minutesFlag) Type() string   { return "minutes" }

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
