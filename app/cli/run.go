package cli

import "github.com/spf13/cobra"

func (p *program) runVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Show the servers in the tray (the default)",
		Long: `Runs in the background of your desktop, shows one lamp per server in the tray
and answers the other verbs. It ends with the desktop session; without one it
does the rest. When it already runs, the running one opens the global dashboard.`,
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.Run(cmd.Context()) },
	}
	p.runFlags(cmd)
	cmd.Flags().BoolVar(&p.AtLogin, "at-login", false, "start as at login: when it already runs, do nothing")
	return cmd
}
