package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"lamplighter/app/config"
)

// Command is the whole command line of that version, for what is made from it:
// man pages and completions. It says nothing of the machine and the user that it
// is made on, and is not for running.
func Command(version string) *cobra.Command {
	p := newProgram(version)
	p.Getenv = func(string) string { return "" }
	p.Base = config.Base{Home: "~", ConfigHome: "~/.config", StateHome: "~/.local/state"}
	if runtime.GOOS == "darwin" {
		p.Base.ConfigHome = "~/Library/Application Support"
		p.Base.StateHome = p.Base.ConfigHome
	}
	return p.root()
}
