package config

import (
	"fmt"
	"strconv"
)

// DefaultPort is where the global dashboard is served, on 127.0.0.1.
const DefaultPort = 25282

// Layer is what one place says of the settings that can stand in several:
// flags, our file and Serena's own. A field is nil where it says nothing. The
// names are those that users gave them.
type Layer struct {
	WebDashboardGlobal             *bool    `yaml:"web_dashboard_global"`
	WebDashboardGlobalOpenOnLaunch *bool    `yaml:"web_dashboard_global_open_on_launch"`
	WebDashboardGlobalPort         *Port    `yaml:"web_dashboard_global_port"`
	IdleShutdownMinutes            *Minutes `yaml:"idle_shutdown_minutes"`
}

// Dashboard is what holds for the global dashboard.
type Dashboard struct {
	On           bool // it is served
	OpenOnLaunch bool // it opens with the first server after login
	Port         int  // of 127.0.0.1, 1024 to 65535
}

// Layers decides what holds for the global dashboard, from the layer that counts most to the one that
// counts least. Each setting is that of the first layer that says it, and the
// default where none does.
func Layers(layers ...Layer) Dashboard {
	d := Dashboard{On: true, Port: DefaultPort}
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		if l.WebDashboardGlobal != nil {
			d.On = *l.WebDashboardGlobal
		}
		if l.WebDashboardGlobalOpenOnLaunch != nil {
			d.OpenOnLaunch = *l.WebDashboardGlobalOpenOnLaunch
		}
		if l.WebDashboardGlobalPort != nil {
			d.Port = int(*l.WebDashboardGlobalPort)
		}
	}
	return d
}

// Port is a TCP port that needs no privilege.
type Port int

// UnmarshalText accepts the numbers from 1024 to 65535.
func (p *Port) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1024 || n > 65535 {
		return fmt.Errorf("%s is not a port from 1024 to 65535", excerpt(string(text)))
	}
	*p = Port(n)
	return nil
}
