package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
)

// SocketForClients is the share socket as the settings of clients have to name it,
// "" when lamplighter-connect finds it by itself.
func (p *Program) SocketForClients() string {
	usual := usualShareSockets(runtime.GOOS, p.Base.Home, os.Getuid(), p.Base.SharePipe)
	return namedSocket(p.Places().ShareSocket, usual, func(path string) bool {
		if runtime.GOOS == "windows" || p.Getenv("LAMPLIGHTER_SOCKET") != "" {
			return false // to look at a pipe is to connect to it, and what is named is meant
		}
		_, err := os.Lstat(path)
		return err == nil
	})
}

// usualShareSockets are the places where lamplighter-connect looks for the share
// socket when it is told nothing but its home, as by clients that pass on little of
// their environment. Source: app/connect/place_unix.go and place_windows.go.
func usualShareSockets(goos, home string, uid int, pipe string) []string {
	const name = "share.sock"
	var all []string
	state := []string{".local", "state"}
	switch goos {
	case "windows":
		return []string{pipe}
	case "darwin":
		state = []string{"Library", "Application Support"}
	case "linux":
		all = append(all, filepath.Join("/run/user", strconv.Itoa(uid), "lamplighter", name))
	}
	if home != "" {
		all = append(all, filepath.Join(filepath.Join(append([]string{home}, state...)...), "lamplighter", "run", name))
	}
	return all
}

// namedSocket is share when it is at none of the usual places and has to be named,
// else "". Some programs give their terminals a runtime directory of their own:
// where nothing is at share and something is at a usual place, that one is meant.
func namedSocket(share string, usual []string, isThere func(path string) bool) string {
	if !filepath.IsAbs(share) { // lamplighter-connect refuses it
		return ""
	}
	share = filepath.Clean(share)
	if slices.Contains(usual, share) || !isThere(share) && slices.ContainsFunc(usual, isThere) {
		return ""
	}
	return share
}
