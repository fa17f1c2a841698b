package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/statefile"
)

// launchMark is the variable that all of a launch has in its environment; its
// value is the launch's ID.
const launchMark = "LAMPLIGHTER_LAUNCH"

// keeper is the process above a server, from our side. One that we have started
// tells how its child does; of one that was adopted only the end is seen.
type keeper struct {
	id monitor.Identity

	// started is closed when the direct child runs or could not be started,
	// gone when the keeper has ended and everything it said is known.
	started, gone chan struct{}
	once          sync.Once
	left          chan struct{} // closed when we stop listening to it
	says          io.Closer     // what it tells us through, nil when it was adopted

	mu     sync.Mutex
	child  monitor.Identity // the direct child, zero when it was not started
	at     time.Time        // when that was heard
	failed string           // why it was not started
	exited string           // how the direct child ended, in words
	output string           // the last that was printed
	ended  string           // how the keeper itself ended, "" when it has not
}

// keep is what a keeper is told.
type keep struct {
	program  string // path of lamplighter-connect
	lifetime Lifetime
	linger   time.Duration // of a shared one
	browsers bool          // below it are what people work in
	dir      string        // of this launch
	alive    string        // path of the lock
	command  []string
	env      []string
	workDir  string
	look     func(pid int) (process.Stat, error) // at the keeper itself
}

// keeperLog is the file in the directory of a launch for what the keeper itself
// prints: it has nothing to print unless it cannot work.
const keeperLog = "keeper.log"

func (k keep) ownLog() string { return filepath.Join(k.dir, keeperLog) }

// keeperArgs is the command line of a keeper, without the program.
func (k keep) args() []string {
	args := []string{"keep", "--lifetime", string(k.lifetime), "--dir", k.dir, "--alive", k.alive}
	if k.lifetime == Shared {
		args = append(args, "--linger", strconv.Itoa(int(k.linger/time.Second)))
	}
	if k.browsers {
		args = append(args, "--browsers", "spare")
	}
	return append(append(args, "--"), k.command...)
}

// start runs a keeper. It is to be ended, see tree.
func (k keep) start() (*keeper, error) {
	cmd := exec.Command(k.program, k.args()...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = k.env, k.workDir, apart()
	says, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// What it prints before it can speak is kept, where there is room.
	stderr, err := statefile.Open(k.ownLog(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		defer stderr.Close()
		cmd.Stderr = stderr
	}
	if err := cmd.Start(); err != nil {
		says.Close()
		return nil, err
	}
	kept := &keeper{started: make(chan struct{}), gone: make(chan struct{}), left: make(chan struct{}), says: says}
	// Nobody reaps it before Wait, so the pid is its own.
	stat, err := k.look(cmd.Process.Pid)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("looking at the keeper: %w", err), stop(cmd))
	}
	kept.id = stat.Identity
	go func() {
		defer kept.heard()
		_ = readLines(says, kept.hear) // it ends with the keeper, or when we leave
		select {
		case <-kept.left:
		default:
			_ = cmd.Wait()
			kept.end(cmd.ProcessState.String())
		}
	}()
	return kept, nil
}

// stop ends a keeper of which only the pid is known. It ends its server when it
// is asked to, and leaves it running when it is killed.
func stop(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil { // Windows knows nothing but force
		_ = cmd.Process.Kill()
	}
	late := time.AfterFunc(keeperTime, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	return ignoreExit(cmd.Wait())
}

// ignoreExit drops the error of a process that we have killed.
func ignoreExit(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// adoptedKeeper is one that an earlier run has started. Whoever watches it
// calls end.
func adoptedKeeper(id monitor.Identity) *keeper {
	k := &keeper{id: id, started: make(chan struct{}), gone: make(chan struct{})}
	k.heard()
	return k
}

// leave stops listening to a keeper that goes on without us.
func (k *keeper) leave() {
	if k.says != nil {
		close(k.left)
		k.says.Close()
	}
}

// end says that the keeper has ended, and how; "" where that is not known.
func (k *keeper) end(how string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = how
	close(k.gone)
}

func (k *keeper) heard() { k.once.Do(func() { close(k.started) }) }

// hear takes note of one line.
func (k *keeper) hear(text string) {
	line, ok := parseKeeperLine(text)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch line.what {
	case "started":
		k.child, k.at = line.server, time.Now()
		k.heard()
	case "failed":
		k.failed = line.text
		k.heard()
	case "exited":
		if line.pid == k.child.PID {
			k.exited = line.text
		}
	case "output":
		k.output = line.text
	}
}

// news is what a keeper has said so far.
type news struct {
	child                  monitor.Identity
	at                     time.Time
	failed, exited, output string
	ended                  string
}

func (k *keeper) news() news {
	k.mu.Lock()
	defer k.mu.Unlock()
	return news{k.child, k.at, k.failed, k.exited, k.output, k.ended}
}

// isGone reports whether the keeper has ended.
func (k *keeper) isGone() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// keeperProgram finds lamplighter-connect: where the options say, else beside
// this program.
func keeperProgram(named string) (string, error) {
	path := named
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("finding this program: %w", err)
		}
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		path = filepath.Join(filepath.Dir(self), keeperName)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("the program that keeps servers is missing (%w); install lamplighter again, or build both programs", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a program; install lamplighter again", monitor.Clean(path))
	}
	return path, nil
}

// endedEarly is the error of a keeper that ended before it said anything, with its
// status and the last line that it printed.
func endedEarly(heard news, dir string) error {
	why := "its keeper ended before it could start it"
	lines := printedLines(logTail(filepath.Join(dir, keeperLog)))
	switch {
	case heard.ended != "" && len(lines) > 0:
		why += fmt.Sprintf(" (%s): %s", heard.ended, lines[len(lines)-1])
	case heard.ended != "":
		why += fmt.Sprintf(" (%s); it printed nothing", heard.ended)
	}
	return errors.New(why)
}
