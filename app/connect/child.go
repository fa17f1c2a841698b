package main

import "os"

// child is what is started, and how.
type child struct {
	path    string   // of the program
	command []string // with the name that it is to see first
	out     *os.File // for all its output; nil gives it ours, and our input everywhere
	report  *os.File // what it gets beside its standard files; nil for nothing
	apart   bool     // from signals to our process group
	spare   bool     // browsers, beside what else people work in
	// server is the process that serves, where that is not the child itself.
	server func() proc
}
