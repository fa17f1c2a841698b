package doctor

import (
	"os"
	"strconv"
	"strings"
)

// environOf is the environment that a process was started with.
//
// Source: /proc/PID/environ, proc(5).
func environOf(pid int) ([]string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == 0 }), nil
}
