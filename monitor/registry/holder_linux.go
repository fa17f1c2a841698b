package registry

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// lockHolder is who holds a lock on a file, by the list of the kernel; 0 when it
// does not tell. Devices are not compared: some file systems list another one
// than they show.
//
// Source: /proc/locks, proc(5): "1: FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF".
func lockHolder(file fs.FileInfo) (pid int, name string) {
	stat, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, ""
	}
	list, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0, ""
	}
	if pid = parseLocks(list, stat.Ino); pid == 0 {
		return 0, ""
	}
	info, err := process.Read(pid)
	if err != nil {
		return 0, ""
	}
	return pid, monitor.Clean(info.Name)
}

// parseLocks finds who holds a flock on an inode.
func parseLocks(list []byte, inode uint64) int {
	end := []byte(":" + strconv.FormatUint(inode, 10))
	for line := range bytes.Lines(list) {
		f := bytes.Fields(line)
		if len(f) < 6 || string(f[1]) != "FLOCK" || !bytes.HasSuffix(f[5], end) {
			continue
		}
		if pid, err := strconv.Atoi(string(f[4])); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
