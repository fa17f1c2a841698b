package daemon

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// displayAnswer is how long the display of a desktop may take to accept a connection.
const displayAnswer = 2 * time.Second

// busGone is what people read whose session bus has ended and whose desktop lives on.
const busGone = "the session bus has gone, and the icon with it; everything else works (end lamplighter and start it again to have the icon back)"

// untilDesktopEnds waits for as long as the desktop lives on without its session bus.
// At the end of a session both go, one a moment after the other.
func (b *background) untilDesktopEnds(ctx context.Context) {
	addresses := displays(b.Getenv)
	for answers(addresses) {
		if Pause(ctx, b.Limits.Display) != nil {
			return
		}
		if answers(addresses) {
			b.current(aboutBus, busGone)
		}
	}
}

// displays are the sockets at which the programs of a desktop draw: each is a network
// and an address.
func displays(getenv func(string) string) (list [][2]string) {
	if name := getenv("WAYLAND_DISPLAY"); name != "" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(getenv("XDG_RUNTIME_DIR"), name)
		}
		return [][2]string{{"unix", name}}
	}
	host, rest, ok := strings.Cut(getenv("DISPLAY"), ":")
	screen, _, _ := strings.Cut(rest, ".")
	number, err := strconv.Atoi(screen)
	switch {
	case !ok || err != nil:
		return nil
	case host == "" || host == "unix":
		path := "/tmp/.X11-unix/X" + screen
		return [][2]string{{"unix", "@" + path}, {"unix", path}} // without and with a name in the file system
	}
	return [][2]string{{"tcp", net.JoinHostPort(host, strconv.Itoa(6000+number))}}
}

// answers reports whether one of the sockets accepts connections.
func answers(addresses [][2]string) bool {
	for _, a := range addresses {
		if conn, err := net.DialTimeout(a[0], a[1], displayAnswer); err == nil {
			conn.Close()
			return true
		}
	}
	return false
}
