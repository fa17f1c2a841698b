package main

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"lamplighter/app/apptest"
)

// TestKilledKeeper: nothing outlives a keeper, however that ends.
func TestKilledKeeper(t *testing.T) {
	for _, mode := range []string{"serve", "parent"} {
		w := newWorld(t)
		w.own(t)
		k := w.keepHelper(t, session, mode)
		k.prints(t, "ready ")
		_, text, _ := strings.Cut(strings.TrimSpace(w.log(t)), " ")
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
		if err != nil {
			t.Fatal(err)
		}
		defer windows.CloseHandle(h)
		k.running.kill()
		apptest.Eventually(t, "the server ends", func() bool {
			event, err := windows.WaitForSingleObject(h, 0)
			return err == nil && event == windows.WAIT_OBJECT_0
		})
	}
}
