package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	prettytable "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"lamplighter/app/api"
	"lamplighter/monitor"
)

func (p *program) sessionListVerb() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List the sessions",
		Args:              takes(0, 0, "no argument"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := p.sessions(cmd.Context())
			if err != nil {
				return fmt.Errorf("session list: %w", err)
			}
			if asJSON {
				return p.printJSON(list)
			}
			_, err = io.WriteString(p.Stdout, sessionTable(list.Sessions, p.screen.width))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sessions are those that the background process knows.
func (p *program) sessions(ctx context.Context) (api.Sessions, error) {
	client, err := p.dial(ctx)
	if err != nil {
		return api.Sessions{}, err
	}
	defer client.Close()
	return client.Sessions(ctx)
}

const noSessions = "No sessions. lamplighter session request DIR starts one.\n"

const (
	addressColumn = 3  // the place of a session's address for MCP in a row
	projectLeast  = 16 // columns that its project has at least
)

// sessionTable draws sessions for people, one line each. The project has what the
// others leave of the terminal's width, which is 0 for none. Where that is too
// little, a port takes the place of the address, and what is missed least goes.
func sessionTable(list []api.Session, width int) string {
	if len(list) == 0 {
		return noSessions
	}
	if width < narrowest {
		width = 0
	}
	header := prettytable.Row{"SESSION", "PROJECT", "STATE", "MCP", "SERVER", "ASKED BY"}
	rows := make([]prettytable.Row, len(list))
	for i := range list {
		s := &list[i]
		row := prettytable.Row{"-", s.ProjectPath, string(s.State), "-", shown(s.Server, clientMost), "-"}
		if s.SessionID != nil {
			row[0] = strconv.Itoa(*s.SessionID)
		}
		if s.MCPURL != nil {
			row[addressColumn] = monitor.Clean(*s.MCPURL)
		}
		if s.AskedBy != nil {
			row[5] = shown(s.AskedBy.Name, clientMost)
		}
		rows[i] = row
	}
	narrow := func() bool { return width > 0 && roomLeft(header, rows, width) < projectLeast }
	if narrow() {
		header[addressColumn] = "PORT"
		for i := range rows {
			if rows[i][addressColumn] = "-"; list[i].Port != nil {
				rows[i][addressColumn] = strconv.Itoa(*list[i].Port)
			}
		}
	}
	for _, name := range []string{"ASKED BY", "SERVER"} {
		if narrow() {
			header, rows = without(name, header, rows)
		}
	}
	room := serverMost
	if width > 0 {
		room = min(max(roomLeft(header, rows, width), projectLeast), serverMost)
	}
	for i := range rows {
		rows[i][serverColumn] = shown(list[i].ProjectPath, room)
	}
	t := plainTable(width)
	t.SetColumnConfigs([]prettytable.ColumnConfig{{Name: "SESSION", Align: text.AlignRight, AlignHeader: text.AlignRight}})
	t.AppendHeader(header)
	t.AppendRows(rows)
	var b strings.Builder
	for line := range strings.Lines(t.Render() + "\n") {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// shown is foreign text in so many columns at most.
func shown(text string, most int) string {
	return cmp.Or(monitor.Shorten(monitor.Clean(text), most), "-")
}
