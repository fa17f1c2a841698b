//go:build real && linux

package launch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// BenchmarkStart measures how long it takes until a real server accepts MCP,
// launched and started by hand in turns, and how much of it is ours.
func BenchmarkStart(b *testing.B) {
	env := realEnv(b)
	project := serenatest.GoProject(b, "alpha")
	serena := Template{
		Name: monitor.KindSerena, Command: []string{filepath.Join(serenatest.Tools(b), "venv", "bin", "serena")}, Env: env,
		Arguments: []string{"--context", "desktop-app", "--agent-interface", "tools"},
	}
	for name, t := range map[string]Template{"helper": serving("--port", portMark), "serena": serena} {
		b.Run(name, func(b *testing.B) {
			state := b.TempDir()
			l, stop := running(b, state, func(l *Launcher) {
				l.finder = NewFinder(FinderOptions{StateDir: state})
				l.o.SerenaHome = env["SERENA_HOME"]
			})
			if _, err := l.finder.Resolve(b.Context(), Wanted{Command: t.Command, Project: project, Serena: t.isSerena()}); err != nil {
				b.Fatal(err) // from here on the verdict is known
			}
			l.finder.Environment(b.Context())
			var byHand, launched, ended []time.Duration
			for b.Loop() {
				byHand = append(byHand, startByHand(b, &t, project))
				began := time.Now()
				s, err := l.Launch(b.Context(), Spec{Template: t, Project: project, Lifetime: Session, Limit: realLimit})
				if err != nil {
					b.Fatal(err)
				}
				launched = append(launched, time.Since(began))
				began = time.Now()
				if err := s.End(b.Context(), "the test"); err != nil {
					b.Fatal(err)
				}
				ended = append(ended, time.Since(began))
			}
			stop()
			hand, ours := median(byHand), median(launched)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(hand.Seconds()*1e3, "ms-by-hand")
			b.ReportMetric(ours.Seconds()*1e3, "ms-launched")
			b.ReportMetric(median(ended).Seconds()*1e3, "ms-to-end")
			b.ReportMetric((ours-hand).Seconds()*1e3, "ms-more")
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// startByHand starts the same server on a port that was chosen before, and asks
// that one until it accepts MCP.
func startByHand(b *testing.B, t *Template, project string) time.Duration {
	b.Helper()
	port, err := freePort()
	if err != nil {
		b.Fatal(err)
	}
	v := values{port: port, project: project}
	args := slices.Concat(v.fillAll(t.Command[1:]), serverArgs(t, t.Command, "", v))
	if i := slices.Index(args, "0"); i > 0 && args[i-1] == "--port" {
		args[i] = strconv.Itoa(port)
	}
	cmd := exec.Command(t.Command[0], args...)
	cmd.Env = append(os.Environ(), templateEnv(t, v)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	to := mcp.Options{URL: "http://" + address(port) + "/mcp", Transport: newAsking()}
	for {
		if err := mcp.Accepts(context.Background(), to); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	return took
}
