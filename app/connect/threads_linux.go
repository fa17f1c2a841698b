package main

import "runtime"

// threads is how many a keeper needs beside those that it has anyway. On a busy
// machine it was seen to need ten, else two.
const threads = 10

// makeThreads makes all the threads that are ever needed. The runtime makes one
// when it lacks one, and dies when it cannot: a server that forks until there is
// no room for another process would end its keeper, of all things. Threads that
// have nothing to do stay.
func makeThreads() {
	made := make(chan struct{})
	release := make(chan struct{})
	done := make(chan struct{})
	for range threads {
		go func() {
			runtime.LockOSThread() // so that each has one of its own
			made <- struct{}{}
			<-release
			runtime.UnlockOSThread()
			done <- struct{}{}
		}()
	}
	for range threads {
		<-made
	}
	close(release)
	for range threads {
		<-done
	}
}
