package stop

import (
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// theirs tells a program that people work in, which is no part of a server of
// that kind.
func theirs(kind string, p process.Info) bool {
	return command.IsUserApp(p.Exe, p.Name, command.SparesBrowsers(kind))
}

func isLauncher(p process.Info) bool { return command.IsLauncher(p.Exe, p.Args) }
