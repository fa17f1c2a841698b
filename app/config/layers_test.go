package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// layer makes one of what is said; nil is nothing.
func layer(on, open, port any) Layer {
	var l Layer
	if v, ok := on.(bool); ok {
		l.WebDashboardGlobal = &v
	}
	if v, ok := open.(bool); ok {
		l.WebDashboardGlobalOpenOnLaunch = &v
	}
	if v, ok := port.(int); ok {
		p := Port(v)
		l.WebDashboardGlobalPort = &p
	}
	return l
}

// Each setting is that of the first layer that says it, whatever is said of the
// others.
func TestLayersByTheFirstThatSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.Custom(func(t *rapid.T) Layer {
			of := func(values ...any) any { return rapid.SampledFrom(values).Draw(t, "value") }
			return layer(of(nil, true, false), of(nil, true, false), of(nil, 1024, 25282, 65535))
		})
		layers := rapid.SliceOfN(some, 0, 4).Draw(t, "layers")
		got := Layers(layers...)
		want := Dashboard{On: firstSaid(layers, func(l Layer) *bool { return l.WebDashboardGlobal }, true),
			OpenOnLaunch: firstSaid(layers, func(l Layer) *bool { return l.WebDashboardGlobalOpenOnLaunch }, false),
			Port:         int(firstSaid(layers, func(l Layer) *Port { return l.WebDashboardGlobalPort }, DefaultPort))}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func firstSaid[T any](layers []Layer, of func(Layer) *T, otherwise T) T {
	for _, l := range layers {
		if v := of(l); v != nil {
			return *v
		}
	}
	return otherwise
}

func TestParseLayer(t *testing.T) {
	settings, problems := parse([]byte("web_dashboard_global: false\ntray_icon: dark\nweb_dashboard_global_open_on_launch: true\nweb_dashboard_global_port: 4000\n"))
	if want := layer(false, true, 4000); len(problems) > 0 || Layers(settings.Layer) != Layers(want) || settings.TrayIcon != TrayIconDark {
		t.Errorf("%+v, %v", Layers(settings.Layer), problems)
	}
	if settings, problems := parse([]byte("tray_icon: dark\n")); len(problems) > 0 || settings.Layer != (Layer{}) {
		t.Errorf("nothing is said: %+v, %v", settings.Layer, problems)
	}
	for text, want := range map[string]string{
		"web_dashboard_global_port: 0":                            `web_dashboard_global_port: "0" is not a port from 1024 to 65535`,
		"web_dashboard_global_port: 80":                           `"80" is not a port`,
		"web_dashboard_global_port: 1023":                         `"1023" is not a port`,
		"web_dashboard_global_port: 65536":                        `"65536" is not a port`,
		"web_dashboard_global_port: -1":                           `"-1" is not a port`,
		"web_dashboard_global_port: 25282.5":                      "is not a port",
		"web_dashboard_global_port: high":                         `"high" is not a port`,
		"web_dashboard_global_port: [25282]":                      "wants one plain value",
		"web_dashboard_global_port:":                              "has no value",
		"web_dashboard_global: maybe":                             `web_dashboard_global: "maybe" is not one of true, false`,
		"web_dashboard_global: yes":                               "is not one of true, false",
		"web_dashboard_global: 1":                                 "is not one of true, false",
		"web_dashboard_global: ~":                                 "has no value",
		"web_dashboard_globel: true":                              `did you mean "web_dashboard_global"?`,
		"web_dashboard_global_open_on_lunch: true":                `did you mean "web_dashboard_global_open_on_launch"?`,
		"Layer: true":                                             `unknown setting "Layer"`,
		"web_dashboard_global: true\nweb_dashboard_global: false": "already defined",
	} {
		settings, problems := parse([]byte("# mine\n\n" + text + "\n"))
		if len(problems) != 1 || problems[0].Line < 3 || !strings.Contains(problems[0].Text, want) || settings.Layer != (Layer{}) {
			t.Errorf("%s: got %v, want %q", text, problems, want)
		}
	}
}
