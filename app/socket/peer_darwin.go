package socket

import "golang.org/x/sys/unix"

// socketUID is who opened the other end (LOCAL_PEERCRED, unix(4)).
func socketUID(fd int) (uint32, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}

// socketPID is which process opened the other end (LOCAL_PEERPID, unix(4)).
func socketPID(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}
