package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"lamplighter/app/config"
)

// runFlags gives a command that is the background process its flags.
func (p *program) runFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.configFile, "config", "", "read the settings from `FILE` (default: "+p.shownConfig()+")")
	flags.SortFlags = false
	addLayerFlags(cmd, &p.flags)
}

// addLayerFlags adds those flags that are a layer of the settings.
func addLayerFlags(cmd *cobra.Command, into *config.Layer) {
	flags := cmd.Flags()
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
	v, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is not one of true, false", text)
	}
	*f.into = &v
	return nil
}

func (f switchFlag) String() string { return "" }
func (f switchFlag) Type() string   { return "bool" }

// wordFlag is a flag that is true when it is said.
type wordFlag struct{ into *bool }

func (f wordFlag) Set(text string) error {
	var said *bool
	err := switchFlag{&said}.Set(text)
	if err == nil {
		*f.into = *said
	}
	return err
}

func (f wordFlag) String() string { return strconv.FormatBool(f.into != nil && *f.into) }
func (f wordFlag) Type() string   { return "bool" }

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
