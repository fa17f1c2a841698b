package stop

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/statefile"
)

// elsewhereTime is how long a program may take to end what it has run.
const elsewhereTime = 15 * time.Second

// maxIDFile bounds what is read of a file that names a container, in bytes.
const maxIDFile = 256

// findElsewhere finds what the members have run elsewhere, each once. Its End becomes a
// whole command line, nil where nothing can be named. Nothing is sent.
func (c *climb) findElsewhere() {
	for _, m := range c.members {
		if !m.alive || m.spared != nil {
			continue
		}
		info, err := c.o.System.Read(m.id.PID)
		if err != nil || info.Identity != m.id {
			continue
		}
		e := command.RunsElsewhere(info.Exe, info.Args)
		if e.What == "" || slices.ContainsFunc(c.elsewhere, func(other command.Elsewhere) bool { return other.What == e.What }) {
			continue
		}
		if e.Name == "" && filepath.IsAbs(e.IDFile) {
			text, _ := statefile.Read(e.IDFile, maxIDFile) // what cannot be read is no name
			e.Name = strings.TrimSpace(string(text))
		}
		if command.IsContainerName(e.Name) && c.o.Run != nil {
			e.End = slices.Concat([]string{info.Exe}, e.End, []string{e.Name})
		} else {
			e.End = nil
		}
		c.elsewhere = append(c.elsewhere, e)
	}
}

// endElsewhere ends what can be named, while the program that runs it is still held, so that
// the name is that of its own. What is left may run on.
func (c *climb) endElsewhere(ctx context.Context) {
	for i, e := range c.elsewhere {
		err := errors.New("it has no name")
		if e.End != nil {
			c.add(monitor.EventAsked, inShort(e))
			limited, cancel := context.WithTimeout(ctx, elsewhereTime)
			err = c.o.Run(limited, e.End)
			cancel()
		}
		if err != nil {
			c.o.Log.Info("what runs elsewhere was not ended", "instance", c.in.Label(), "what", e.What, "error", err)
			c.elsewhere[i].End = nil
		}
	}
}

// inShort is the command that ends something elsewhere, for people.
func inShort(e command.Elsewhere) string {
	return monitor.Clean(strings.Join(append([]string{monitor.ProgramName(e.End[0])}, e.End[1:]...), " "))
}
