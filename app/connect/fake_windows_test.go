package main

import (
	"crypto/rand"
	"net"
	"testing"

	"github.com/Microsoft/go-winio"
)

func fakePath(testing.TB) string { return `\\.\pipe\lamplighter-test-` + rand.Text() }

func listenFake(path string) (net.Listener, error) { return winio.ListenPipe(path, nil) }
