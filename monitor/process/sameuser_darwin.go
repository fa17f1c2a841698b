package process

import "os"

// SameUser tells whether a process runs as our user and nobody else: its real,
// effective and saved user are ours. A program that has taken on another user's
// rights, or kept the way back to them, is not ours.
func SameUser(pid int) (bool, error) {
	k, err := kinfo(pid)
	if err != nil {
		return false, err
	}
	me := uint32(os.Getuid())
	return k.Eproc.Ucred.Uid == me && k.Eproc.Pcred.P_ruid == me && k.Eproc.Pcred.P_svuid == me, nil
}
