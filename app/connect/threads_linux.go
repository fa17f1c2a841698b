package main

import (
	"os"
	"syscall"
)

// threads is how many a keeper needs beside those that it has anyway. On a busy
// machine it was seen to need ten, else two.
const threads = 10

// makeThreads makes all the threads that are ever needed. The runtime makes one
// when it lacks one, and dies when it cannot: a server that forks until there is
// no room for another process would end its keeper, of all things. Threads that
// have nothing to do stay. That it fails now is no matter.
func makeThreads() {
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	fd := int(read.Fd()) // makes it block
	busy := make(chan struct{})
	done := make(chan struct{})
	for range threads {
		go func() {
			busy <- struct{}{}
			var b [1]byte
			_, _ = syscall.Read(fd, b[:]) // keeps its thread until the end of the pipe
			done <- struct{}{}
		}()
	}
	for range threads {
		<-busy
	}
	write.Close()
	for range threads {
		<-done
	}
	read.Close()
}
