package launch

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"time"
)

// checkMark is the variable that everything has inherited that a check started.
// It is how the rest of it is found when it has to end.
const checkMark = "LAMPLIGHTER_CHECK"

// run is a program that is asked something.
type run struct {
	command []string
	argv0   string // instead of the program's path; empty: the path
	env     []string
	dir     string
	mark    string // value of checkMark, unique
	limit   time.Duration
	spare   bool // what it leaves running when it ends by itself is not ended
}

// outcome is what became of it.
type outcome struct {
	stdout, stderr string // the last 64 KiB of each
	startErr       error  // it did not start
	code           int    // exit status; -1 when it was ended by a signal
	ended          string // how it ended, in words: "exit status 1"
	timedOut       bool
}

const (
	mostOutput = 64 << 10
	// pipeGrace is for output that is still on its way when the program has ended.
	pipeGrace = 300 * time.Millisecond
)

// execute runs a program in a session of its own, with the null device for
// input, and reads what it says, however much. At the limit, and when ctx ends,
// all of it is killed. The error is that of ctx.
func execute(ctx context.Context, r run) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, err
	}
	stdout, stderr := &tail{}, &tail{}
	cmd := exec.Command(r.command[0], r.command[1:]...)
	if r.argv0 != "" {
		cmd.Args[0] = r.argv0
	}
	cmd.Env = append(r.env[:len(r.env):len(r.env)], checkMark+"="+r.mark)
	cmd.Dir = r.dir
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = pipeGrace
	tree, err := startTree(cmd, r.mark)
	if err != nil {
		return outcome{startErr: err}, nil
	}
	left := false // it is closed by whoever waits for its end
	defer func() {
		if !left {
			tree.close()
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- tree.await() }()
	timer := time.NewTimer(r.limit)
	defer timer.Stop()

	var o outcome
	select {
	case err = <-ended:
		if !r.spare || err != nil {
			tree.kill(false)
		}
	case <-timer.C:
		o.timedOut = true
		tree.kill(true)
		err = afterKill(ended)
	case <-ctx.Done():
		tree.kill(true)
		err = afterKill(ended)
	}
	if errors.Is(err, errUnkillable) {
		left = true
		go func() {
			<-ended
			_ = cmd.Wait() // it was killed
			tree.close()
		}()
		o.stdout, o.stderr = stdout.String(), stderr.String()
		return o, ctx.Err()
	}
	waited := cmd.Wait()
	if errors.Is(waited, exec.ErrWaitDelay) && !r.spare {
		tree.killRest() // somebody holds its output: a child that left the group
	}
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if err != nil {
		return outcome{startErr: err}, nil
	}
	o.stdout, o.stderr = stdout.String(), stderr.String()
	o.code, o.ended = cmd.ProcessState.ExitCode(), cmd.ProcessState.String()
	return o, nil
}

// errUnkillable says that a program did not end although it was killed: it waits
// for files that do not answer.
var errUnkillable = errors.New("it does not end although it was killed")

// killTime is how long what was killed may take to end.
const killTime = 2 * time.Second

func afterKill(ended <-chan error) error {
	timer := time.NewTimer(killTime)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return errUnkillable
	}
}

// tail keeps the end of what is written. The zero value is empty; it may be
// written and read at the same time.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > mostOutput {
		p = p[n-mostOutput:]
	}
	t.b = append(t.b, p...)
	if len(t.b) > 2*mostOutput {
		t.b = t.b[:copy(t.b, t.b[len(t.b)-mostOutput:])]
	}
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b[max(0, len(t.b)-mostOutput):])
}
