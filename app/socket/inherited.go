package socket

import "log/slog"

// Inherited is the socket that whoever started us has made for us and passed
// on: systemd (sd_listen_fds(3)) or launchd (launch_activate_socket(3)); nil
// when there is none, and always on Windows. It has to be a Unix stream socket
// that listens, and is called "share" or is at the path of p. The error is
// about one that was passed and cannot be used, which is closed; Listen may
// still make ours.
//
// It is to be called once, before anything is started: it takes what says so
// out of the environment. The file stays when the listener is closed.
func Inherited(p Place, log *slog.Logger) (Listener, error) { return inherited(p, log) }
