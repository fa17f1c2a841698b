package stop

import (
	"lamplighter/monitor/bystander"
	"lamplighter/monitor/process"
)

// theirs tells a program that people work in, which is no part of a server of
// that kind.
func theirs(kind string, p process.Info) bool {
	return bystander.Is(p.Exe, p.Name, bystander.Browses(kind))
}
