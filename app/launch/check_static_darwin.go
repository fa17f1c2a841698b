package launch

import "golang.org/x/sys/unix"

// badCPU is what macOS says of programs for other processors.
const badCPU = unix.EBADARCH
