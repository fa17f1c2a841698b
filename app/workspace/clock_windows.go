package workspace

import (
	"time"

	"golang.org/x/sys/windows"
)

// sinceBoot is GetTickCount64, which counts the time asleep too.
func sinceBoot() time.Duration { return windows.DurationSinceBoot() }
