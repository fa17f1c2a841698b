//go:build !linux

package main

// makeThreads does nothing: a thread is no process here.
func makeThreads() {}
