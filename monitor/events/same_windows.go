package events

import (
	"os"

	"golang.org/x/sys/windows"
)

// sameFile tells whether both are one file. They lie in one directory, so the
// number of the volume says nothing; Wine looks that up by the path and has none
// while somebody renames the file, so that os.SameFile is wrong then.
func sameFile(a, b *os.File) bool {
	x, err := index(a)
	if err != nil {
		return false
	}
	y, err := index(b)
	return err == nil && x == y
}

func index(f *os.File) (uint64, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow), err
}
