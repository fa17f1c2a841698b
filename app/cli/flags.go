package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"lamplighter/app/daemon"
)

// runFlags gives a command that is the background process its flags.
func (p *program) runFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.ConfigFile, "config", "", "read the settings from `FILE` (default: "+p.shownConfig()+")")
	flags.SortFlags = false
	daemon.AddLayerFlags(flags, &p.Flags)
}

// wordFlag is a flag that is true when it is said.
type wordFlag struct{ into *bool }

func (f wordFlag) Set(text string) error {
	v, err := daemon.ParseSwitch(text)
	if err == nil {
		*f.into = v
	}
	return err
}

func (f wordFlag) String() string { return strconv.FormatBool(f.into != nil && *f.into) }
func (f wordFlag) Type() string   { return "bool" }
