package foreignfile

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/statefile"
)

// replacerVariable names the file that a child of this test replaces.
const replacerVariable = "LAMPLIGHTER_FOREIGNFILE_TEST_REPLACES"

// The contents between which it changes, which are written in many parts.
var both = [2]string{strings.Repeat("one ", 100_000), strings.Repeat("the other ", 60_000)}

// replaceForEver replaces the file at path again and again, and says so, until
// it is killed.
func replaceForEver(path string) {
	for {
		f, err := Read(path)
		if err == nil {
			now := both[0]
			if string(f.Content) == now {
				now = both[1]
			}
			err = f.Replace([]byte(now))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if _, err := os.Stdout.WriteString("replaced\n"); err != nil {
			os.Exit(1)
		}
	}
}

// TestKilled: whenever one that replaces a file is killed, the file is whole, and
// what lies beside it the next one removes in time.
func TestKilled(t *testing.T) {
	dir := temporary(t)
	path := filepath.Join(dir, "settings.json")
	put(t, path, both[0], 0o640)
	mode := read(t, path).Mode
	random := rand.New(rand.NewPCG(apptest.Seed(t), 0))
	for range 40 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), replacerVariable+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		said := [2]time.Time{}
		for i := range said {
			if !lines.Scan() {
				t.Fatal("it ended by itself", cmd.Wait())
			}
			said[i] = time.Now()
		}
		// Anywhere in the next one, which takes about as long.
		for kill := said[1].Add(time.Duration(random.Float64() * float64(said[1].Sub(said[0])))); time.Now().Before(kill); {
			runtime.Gosched()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // that it was killed
		f := read(t, path)
		if text := string(f.Content); text != both[0] && text != both[1] {
			t.Fatalf("%d bytes are neither", len(text))
		}
		if f.Mode != mode {
			t.Errorf("its mode is %v", f.Mode)
		}
	}
	left := names(t, dir)
	t.Logf("%d files were left", len(left)-1)
	old := time.Now().Add(-2 * statefile.Abandoned)
	for _, name := range left {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := read(t, path).Replace([]byte("last")); err != nil {
		t.Fatal(err)
	}
	lies(t, dir, "settings.json")
	if got := content(t, path); got != "last" {
		t.Errorf("holds %q", got)
	}
}
