package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"lamplighter/app/workspace/assistant"
)

func (p *program) workspaceMCPVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Be an MCP server with which assistants make workspaces",
		Long: `Speaks MCP on standard input and output, for assistants: the tools workspace_create,
workspace_list, workspace_show, workspace_keep, workspace_diff, workspace_archive,
workspace_restore, workspace_complete, workspace_scan and workspace_remove do what
the verbs of these names do. Relative paths are below the directory that it is
started in. It ends with its input.`,
		Example: `  claude mcp add workspaces -- lamplighter workspace mcp
  codex mcp add workspaces -- lamplighter workspace mcp`,
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.workspaceMCP(cmd.Context(), cmd.InOrStdin()); err != nil {
				return fmt.Errorf("workspace mcp: %w", err)
			}
			return nil
		},
	}
}

// workspaceMCP answers one client until its input ends, or we are told to end.
func (p *program) workspaceMCP(ctx context.Context, in io.Reader) error {
	m, err := p.manager()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working directory cannot be told: %w; start it in one that is there", err)
	}
	input, ok := in.(io.ReadCloser)
	if !ok {
		input = io.NopCloser(in)
	}
	err = assistant.Serve(ctx, assistant.Options{
		Manager: m, Dir: dir, Version: p.Version, In: input, Out: p.Stdout,
		Log: slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if ctx.Err() != nil {
		return nil // the normal end
	}
	return err
}
