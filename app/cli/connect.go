package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lamplighter/app/config"
	"lamplighter/app/daemon"
)

func (p *program) connectVerb() *cobra.Command {
	var said config.Layer
	var orDirect bool
	cmd := &cobra.Command{
		Use:   "connect [flags] [--] COMMAND [ARG…]",
		Short: "Be the MCP server COMMAND, shared with all who would run the same",
		Long: `What an MCP client runs in place of COMMAND: it speaks MCP on its standard input
and output. Lamplighter runs COMMAND once for all clients that would run the same
for the same project, parks it when nobody asks for anything, and wakes it with
the next request. A server that cannot be shared runs for this client alone.

Lamplighter has to run: connect never starts it itself (once it is installed,
systemd or launchd does with the first client). Without it connect fails, with
--or-direct it runs COMMAND itself.

It runs lamplighter-connect, which lies beside lamplighter, is much smaller and
can stand in a client's settings with the same arguments.`,
		Example: `  lamplighter connect -- serena start-mcp-server --context claude-code --project-from-cwd
  claude mcp add serena -- lamplighter-connect connect -- serena start-mcp-server --context claude-code --project-from-cwd`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return errors.New("connect takes the command of a server, behind --")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // programs and files
		},
		RunE: func(_ *cobra.Command, command []string) error { return p.connect(said, orDirect, command) },
	}
	daemon.AddLayerFlags(cmd.Flags(), &said)
	cmd.Flags().BoolVar(&orDirect, "or-direct", false, "run COMMAND itself when Lamplighter cannot be reached")
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().SortFlags = false
	return cmd
}

// connect puts lamplighter-connect in our place.
func (p *program) connect(said config.Layer, orDirect bool, command []string) error {
	path, err := p.BesideUs(daemon.ConnectName)
	if err != nil {
		return err
	}
	// It looks for the socket itself, and in more places than we would name: some
	// clients pass on little of the environment.
	args := []string{daemon.ConnectName, "connect"}
	if orDirect {
		args = append(args, "--or-direct")
	}
	args = append(append(args, daemon.ArgumentsOf(said)...), "--")
	status, err := p.become(path, append(args, command...))
	if err != nil {
		return fmt.Errorf("%s cannot be run: %w; see lamplighter doctor", path, err)
	}
	if status != statusFine {
		return toldError{statusError(status)}
	}
	return nil
}

// statusError is the exit status of a program that ran in our place.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("%s ended with status %d", daemon.ConnectName, int(e))
}
