package pins

import "lamplighter/monitor/process"

// bootID names this boot: start times count from it.
func bootID() (string, error) { return process.BootID() }
