package daemon

import (
	"cmp"
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
	name, usage string
	alone       string                           // what it is set to without a value, "" when it needs one
	of          func(*config.Layer) layerSetting // the setting, as text; "" where the layer says nothing
	holds       func(held) any                   // what is done of it
	means       func(held) (change string)       // what that is from now on, a part of a sentence
}

// layerFlags are all of them, in the order of the help.
var layerFlags = [...]layerFlag{
	{
		"web-dashboard-global", "serve the global dashboard; =false does not", "true",
		func(l *config.Layer) layerSetting { return switchOf(&l.WebDashboardGlobal) },
		func(h held) any { return h.dashboard.On },
		func(h held) string {
			if h.dashboard.On {
				return "the global dashboard is served now"
			}
			return "the global dashboard is not served any more"
		},
	},
	{
		"web-dashboard-global-open-on-launch", "open it with the first server after login", "true",
		func(l *config.Layer) layerSetting { return switchOf(&l.WebDashboardGlobalOpenOnLaunch) },
		func(h held) any { return h.dashboard.OpenOnLaunch },
		func(h held) string {
			if h.dashboard.OpenOnLaunch {
				return "the global dashboard opens by itself now"
			}
			return "the global dashboard does not open by itself any more"
		},
	},
	{
		"web-dashboard-global-port", "serve it on this `PORT` of 127.0.0.1 (default: " + strconv.Itoa(config.DefaultPort) + ")", "",
		func(l *config.Layer) layerSetting {
			inDigits := func(p config.Port) string { return strconv.Itoa(int(p)) }
			return layerValue[config.Port]{&l.WebDashboardGlobalPort, "int", (*config.Port).UnmarshalText, inDigits}
		},
		func(h held) any { return h.dashboard.Port },
		func(h held) string {
			if h.dashboard.On {
				return "the global dashboard is served there now"
			}
			return "the global dashboard would be served there, and is switched off"
		},
	},
	{
		"idle-shutdown-minutes", "end servers that nobody has called for so many `MINUTES` (default: none)", "",
		func(l *config.Layer) layerSetting {
			return layerValue[config.Minutes]{&l.IdleShutdownMinutes, "minutes", (*config.Minutes).UnmarshalText, minutesInDigits}
		},
		func(h held) any { return h.policies.IdleAfter },
		func(held) string { return "this is when idle servers are ended now" },
	},
}

// layerSetting is a setting that may not be said, as the value of a flag.
type layerSetting interface {
	pflag.Value
	take(from layerSetting) // of another layer
}

// layerValue is one of a type.
type layerValue[T any] struct {
	into  **T
	kind  string
	read  func(value *T, text []byte) error
	write func(T) string
}

func (v layerValue[T]) Set(text string) error {
	value := new(T)
	err := v.read(value, []byte(text))
	if err == nil {
		*v.into = value
	}
	return err
}

func (v layerValue[T]) String() string {
	if *v.into == nil {
		return ""
	}
	return v.write(**v.into)
}

func (v layerValue[T]) Type() string { return v.kind }

func (v layerValue[T]) take(from layerSetting) { *v.into = *from.(layerValue[T]).into }

func switchOf(into **bool) layerSetting {
	return layerValue[bool]{into, "bool", func(value *bool, text []byte) (err error) {
		*value, err = ParseSwitch(string(text))
		return err
	}, strconv.FormatBool}
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
		if value := f.of(&l).String(); value != "" {
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
	for _, f := range layerFlags {
		flags.VarPF(f.of(into), f.name, "", f.usage).NoOptDefVal = f.alone
	}
}

// ParseSwitch reads what a flag that is true or false is set to.
func ParseSwitch(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is not one of true, false", text)
	}
	return v, nil
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
		value := f.of(&said).String()
		runs := cmp.Or(f.of(&l.flags).String(), f.of(&l.clients).String())
		switch {
		case value == "":
		case runs == "":
			f.of(&l.clients).take(f.of(&said))
			adopted = append(adopted, f)
		case runs != value:
			warnings = append(warnings, fmt.Sprintf("--%s=%s is not used: this lamplighter runs with %s; the first wins", f.name, value, runs))
		}
	}
	if len(adopted) == 0 {
		return nil, warnings
	}
	after := l.tell(holds)
	for _, f := range adopted {
		if f.holds(before) != f.holds(after) {
			news = append(news, fmt.Sprintf("--%s=%s: %s; it counts until lamplighter ends", f.name, f.of(&said), f.means(after)))
		}
	}
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
