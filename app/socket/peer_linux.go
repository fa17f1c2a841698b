package socket

import "golang.org/x/sys/unix"

// socketUID is who opened the other end (SO_PEERCRED, unix(7)).
func socketUID(fd int) (uint32, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// socketPID is which process opened the other end, 0 for one that lives in a
// namespace that is not ours to see.
func socketPID(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
