package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/gofrs/flock"
)

// help is what the helper programs do.
func help(mode string) {
	var err error
	switch mode {
	case "own":
		err = helpOwn(os.Args[1])
	case "follow":
		fmt.Println("ready", os.Getpid())
		err = helpOwn(os.Args[1])
	case "serve":
		fmt.Println("ready", os.Getpid())
		sleep()
	case "parent": // leaves a child behind
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), helperMode+"=serve")
		cmd.Stdout = os.Stdout
		err = cmd.Start()
	case "flood":
		err = helpFlood()
	case "exit":
		fmt.Println("hello")
		os.Exit(3)
	case "places":
		fmt.Println(helpPlaces())
	case "client":
		err = helpClient(os.Args[1], os.Args[2:])
	case "impatient": // is ourselves, with little patience with what we end
		usual.unread = time.Millisecond
		endSoon()
		main()
	case "hasty": // is ourselves, with little patience with the background process
		usual.heard, usual.slow = time.Millisecond, time.Millisecond
		os.Setenv(helperMode, "exit") // of a command that we become
		main()
	case "hear":
		err = helpHear()
	default:
		err = fmt.Errorf("there is no helper %q", mode)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// helpClient starts a server as a client does, and has both ends then.
func helpClient(program string, args []string) error {
	cmd := exec.Command(program, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, out)
	return err
}

// sleep is longer than any test.
func sleep() { time.Sleep(time.Hour) }

// helpOwn holds the lock as the background process does.
func helpOwn(path string) error {
	lock := flock.New(path)
	for {
		// A keeper may hold it for a moment.
		switch ok, err := lock.TryLock(); {
		case err != nil:
			return err
		case ok:
			fmt.Println("ready")
			sleep()
		}
		time.Sleep(time.Millisecond)
	}
}

// floodBytes is how much helpFlood prints before its last line.
const floodBytes = 100 << 20

func helpFlood() error {
	chunk := make([]byte, 1<<20)
	for i := range chunk {
		chunk[i] = 'x'
	}
	for range floodBytes / len(chunk) {
		if _, err := os.Stderr.Write(chunk); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(os.Stderr, "\nthe end")
	return err
}
