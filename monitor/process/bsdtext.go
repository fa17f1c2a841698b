package process

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"
)

// What macOS says about processes in bytes and text. The parsers are plain
// functions, so that they are tested everywhere.

// parseProcArgs reads what sysctl kern.procargs2 returns: the number of
// arguments, the path of the executable as it was given to exec, NULs up to an
// aligned place, then the arguments and the environment.
func parseProcArgs(b []byte) (exe string, args []string) {
	if len(b) < 4 {
		return "", nil
	}
	n := binary.NativeEndian.Uint32(b)
	path, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok {
		return "", nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for ; n > 0 && len(rest) > 0; n-- {
		var arg []byte
		arg, rest, _ = bytes.Cut(rest, []byte{0})
		args = append(args, string(arg))
	}
	return string(path), args
}

// psUsage is what ps knows and sysctl does not.
type psUsage struct {
	rss uint64 // bytes
	cpu time.Duration
}

// parsePS reads lines of "ps -o pid=,rss=,time=" by pid. Lines that look
// different are passed over.
func parsePS(text string) map[int]psUsage {
	usage := make(map[int]psUsage)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		pid, err := strconv.Atoi(f[0])
		kib, err2 := strconv.ParseUint(f[1], 10, 53)
		cpu, ok := parsePSTime(f[2])
		if err == nil && err2 == nil && ok && pid > 0 {
			usage[pid] = psUsage{rss: kib << 10, cpu: cpu}
		}
	}
	return usage
}

// parsePSTime reads [[days-]hours:]minutes:seconds[.hundredths].
func parsePSTime(s string) (time.Duration, bool) {
	var total float64
	if days, rest, ok := strings.Cut(s, "-"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		total, s = float64(n)*24, rest
	}
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	if len(parts) == 2 {
		total *= 60 // no hours: go on with minutes
	}
	for i, part := range parts {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 || math.IsNaN(n) || (i < len(parts)-1 && n != math.Trunc(n)) {
			return 0, false
		}
		if i > 0 {
			total *= 60
		}
		total += n
	}
	if total > float64(math.MaxInt64/time.Second/2) {
		return 0, false
	}
	return time.Duration(math.Round(total*1000)) * time.Millisecond, true
}
