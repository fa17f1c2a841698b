//go:build real && bench && linux

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lamplighter/app/apptest"
)

// floor is a program that carries what it reads to a process behind a socket, and
// what that sends back, as a shim does but without understanding any of it. It is
// what two processes and a socket cost on this machine.
type floor struct{ line []string }

const relayProgram = `package main

import (
	"os"
	"syscall"
)

func carry(from, to int) {
	p := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(from, p)
		if n <= 0 || err != nil {
			os.Exit(0)
		}
		if _, err := syscall.Write(to, p[:n]); err != nil {
			os.Exit(0)
		}
	}
}

func main() {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: os.Args[1]}); err != nil {
		panic(err)
	}
	go carry(fd, 1)
	carry(0, fd)
}
`

const echoProgram = `package main

import (
	"net"
	"os"
)

func main() {
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			defer conn.Close()
			p := make([]byte, 64<<10)
			for {
				n, err := conn.Read(p)
				if err != nil {
					return
				}
				if _, err := conn.Write(p[:n]); err != nil {
					return
				}
			}
		}()
	}
}
`

// startFloor makes both programs and starts the one behind the socket.
func (b *bench) startFloor(t *testing.T) floor {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"relay": relayProgram, "echo": echoProgram} {
		source := filepath.Join(dir, name+".go")
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.compile(t, source, filepath.Join(dir, name))
	}
	socket := filepath.Join(dir, "s")
	echo := exec.Command(filepath.Join(dir, "echo"), socket)
	if err := echo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = echo.Process.Kill()
		_ = echo.Wait()
	})
	apptest.Eventually(t, "the floor listens", func() bool {
		_, err := os.Stat(socket)
		return err == nil
	})
	return floor{[]string{filepath.Join(dir, "relay"), socket}}
}
