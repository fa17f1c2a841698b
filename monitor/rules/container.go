package rules

import (
	"slices"
	"strings"
)

// The options of docker, podman, nerdctl and finch, from "docker --help",
// "docker run --help" and the manual of podman-run. An option that is in none
// of these lists makes the command line unreadable: the argument behind it may
// be its value or the image.
var (
	globalBooleans = []string{"--debug", "--tls", "--tlsverify", "--remote", "--syslog", "--noout", "--transient-store"}
	globalValues   = []string{
		"--config", "--context", "--host", "--log-level", "--tlscacert", "--tlscert", "--tlskey", "--connection", "--url", "--identity",
		"--ssh", "--root", "--runroot", "--storage-driver", "--storage-opt", "--cgroup-manager", "--runtime", "--events-backend", "--network-config-dir",
		"--namespace", "--address", "--tmpdir", "--volumepath", "--out", "--hooks-dir", "--module", "--conmon", "--imagestore",
	}
	runBooleans = []string{
		"--detach", "--disable-content-trust", "--help", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable", "--privileged",
		"--publish-all", "--quiet", "--read-only", "--rm", "--sig-proxy", "--tty", "--use-api-socket", "--env-host", "--http-proxy", "--no-hosts",
		"--no-hostname", "--passwd", "--read-only-tmpfs", "--replace", "--rmi", "--rootfs", "--tls-verify", "--unsetenv-all",
	}
	runValues = []string{
		"--add-host", "--annotation", "--attach", "--blkio-weight", "--blkio-weight-device", "--cap-add", "--cap-drop", "--cgroup-parent",
		"--cgroupns", "--cidfile", "--cpu-count", "--cpu-percent", "--cpu-period", "--cpu-quota", "--cpu-rt-period", "--cpu-rt-runtime",
		"--cpu-shares", "--cpus", "--cpuset-cpus", "--cpuset-mems", "--detach-keys", "--device", "--device-cgroup-rule", "--device-read-bps",
		"--device-read-iops", "--device-write-bps", "--device-write-iops", "--dns", "--dns-option", "--dns-opt", "--dns-search", "--domainname",
		"--entrypoint", "--env", "--env-file", "--expose", "--gpus", "--group-add", "--health-cmd", "--health-interval", "--health-retries",
		"--health-start-interval", "--health-start-period", "--health-timeout", "--hostname", "--io-maxbandwidth", "--io-maxiops", "--ip", "--ip6",
		"--ipc", "--isolation", "--kernel-memory", "--label", "--label-file", "--link", "--link-local-ip", "--log-driver", "--log-opt",
		"--mac-address", "--memory", "--memory-reservation", "--memory-swap", "--memory-swappiness", "--mount", "--name", "--net", "--network",
		"--network-alias", "--net-alias", "--oom-score-adj", "--pid", "--pids-limit", "--platform", "--publish", "--pull", "--restart", "--runtime",
		"--security-opt", "--shm-size", "--stop-signal", "--stop-timeout", "--storage-opt", "--sysctl", "--tmpfs", "--ulimit", "--user", "--userns",
		"--uts", "--volume", "--volume-driver", "--volumes-from", "--workdir", "--arch", "--authfile", "--cert-dir", "--cgroups", "--chrootdirs",
		"--conmon-pidfile", "--creds", "--decryption-key", "--env-merge", "--gidmap", "--hostuser", "--hosts-file", "--image-volume", "--init-path",
		"--os", "--personality", "--pidfile", "--pod", "--pod-id-file", "--preserve-fds", "--rdt-class", "--requires", "--retry", "--retry-delay",
		"--sdnotify", "--seccomp-policy", "--secret", "--shm-size-systemd", "--subgidname", "--subuidname", "--systemd", "--timeout", "--timezone", "--tz",
		"--uidmap", "--umask", "--unsetenv", "--variant",
	}
)

// containerImage finds the image that "docker run -i" serves from, without its
// tag. Not a server over standard input is a container that runs detached, on a
// terminal, without -i or with another entry point.
func containerImage(args []string) (image string, rest []string, ok bool) {
	args, ok = skipGlobal(args)
	if ok && len(args) > 0 && args[0] == "container" {
		args = args[1:]
	}
	if !ok || len(args) == 0 || args[0] != "run" {
		return "", nil, false
	}
	args = args[1:]
	interactive := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, joined := strings.Cut(a, "=")
		on := !joined || (value != "false" && value != "0")
		switch {
		case a == "--":
			if i+1 >= len(args) {
				return "", nil, false
			}
			return repository(args[i+1]), args[i+2:], interactive
		case strings.HasPrefix(a, "--"):
			switch {
			case name == "--entrypoint", name == "--rootfs", name == "--help", (name == "--tty" || name == "--detach") && on:
				return "", nil, false
			case name == "--interactive":
				interactive = on
			case slices.Contains(runBooleans, name):
			case !slices.Contains(runValues, name):
				return "", nil, false
			case !joined:
				i++
			}
		case strings.HasPrefix(a, "-") && len(a) > 1:
			in, value, ok := shortOptions(a[1:])
			if !ok {
				return "", nil, false
			}
			interactive = interactive || in
			if value {
				i++
			}
		default:
			return repository(a), args[i+1:], interactive
		}
	}
	return "", nil, false
}

// shortOptions reads joined letters: -i, -ip 80:80, -eNAME=value. value tells
// that the next argument belongs to the last of them.
func shortOptions(letters string) (interactive, value, ok bool) {
	for i, r := range letters {
		switch r {
		case 'i':
			interactive = true
		case 'q', 'P':
		case '=': // -i=true
			return interactive && !strings.HasPrefix(letters[i+1:], "f"), false, i > 0
		case 'a', 'c', 'e', 'h', 'l', 'm', 'p', 'u', 'v', 'w':
			return interactive, i == len(letters)-1, true
		default: // -t and -d: on a terminal, detached
			return false, false, false
		}
	}
	return interactive, false, true
}

// skipGlobal skips the options before the subcommand.
func skipGlobal(args []string) ([]string, bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, joined := strings.Cut(a, "=")
		switch {
		case !strings.HasPrefix(a, "-"):
			return args[i:], true
		case a == "-D", slices.Contains(globalBooleans, name):
		case !joined && (slices.Contains(globalValues, a) || a == "-H" || a == "-l" || a == "-c" || a == "-n"):
			i++
		case joined && slices.Contains(globalValues, name):
		default:
			return nil, false
		}
	}
	return nil, false
}

// repository is an image without tag, digest and what everybody leaves out:
// docker.io/mcp/fetch:latest → mcp/fetch.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/"} {
		image = strings.TrimPrefix(image, prefix)
	}
	return strings.TrimPrefix(image, "library/")
}
