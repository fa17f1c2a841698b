package process

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
)

// How the same compares with gopsutil, app/e2e/bench measures.

func BenchmarkPass(b *testing.B) {
	crowd(b, 1000)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if fresh, err := NewTable().Pass(); err != nil || len(fresh) < 1000 {
				b.Fatal(len(fresh), err)
			}
		}
	})
	b.Run("quiet", func(b *testing.B) { // nothing was forked
		table := settled(b)
		for b.Loop() {
			if _, err := table.Pass(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("busy", func(b *testing.B) { // something is forked between all passes
		table := settled(b)
		table.source.gated = false
		for b.Loop() {
			if _, err := table.Pass(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// settled is a table that has made its first passes and knows no young process.
func settled(b *testing.B) *Table {
	table := NewTable()
	for range 3 {
		if _, err := table.Pass(); err != nil {
			b.Fatal(err)
		}
	}
	for i := range table.known {
		table.known[i].young = 0
	}
	return table
}

// servers are n processes, each with a listening socket.
func servers(b *testing.B, n int) []int {
	var pids []int
	for range n {
		l, _ := listen(b, "tcp4", "127.0.0.1:0")
		pids = append(pids, holder(b, l))
	}
	return pids
}

func BenchmarkListeners(b *testing.B) {
	pids := servers(b, 100)
	for b.Loop() {
		if got, err := Listeners(pids); err != nil || len(got) != len(pids) {
			b.Fatal(got, err)
		}
	}
}

func BenchmarkTree(b *testing.B) {
	const trees, members = 10, 3
	var roots []int
	for range trees {
		cmd := exec.Command("sh", "-c", `sh -c "sleep 600; true" & wait`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		roots = append(roots, start(b, cmd))
		b.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	}
	for _, pid := range roots {
		id := identityOf(b, pid)
		eventually(b, fmt.Sprintf("%d has its tree", pid), func() bool {
			tree, err := Tree(id)
			return err == nil && len(tree) == members
		})
	}
	for b.Loop() {
		for _, pid := range roots {
			if tree, err := Tree(identityOf(b, pid)); err != nil || len(tree) != members {
				b.Fatal(tree, err)
			}
		}
	}
}

func BenchmarkExitToNews(b *testing.B) {
	w := NewExitWatch()
	serve(b, w)
	for b.Loop() {
		b.StopTimer()
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		id := identityOf(b, cmd.Process.Pid)
		watch(b, w, id)
		b.StartTimer()
		cmd.Process.Kill()
		nextExit(b, w)
		b.StopTimer()
		cmd.Wait()
		b.StartTimer()
	}
}
