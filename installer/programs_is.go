package installer

import (
	"bytes"
	"io"
	"os"

	"lamplighter/monitor/statefile"
)

// programMarks stand in our programs, where Go says what they were built from.
//
// Source: package runtime/debug, BuildInfo.String.
func programMarks() [][]byte {
	var list [][]byte
	for _, main := range []string{"lamplighter/app", "lamplighter/app/connect"} {
		list = append(list, []byte("path\t"+main+"\nmod\t"+mainName+"\t"))
	}
	return list
}

// isLamplighter reports whether a file is one of our programs, of whatever version,
// by what Go writes into them. The library that reads it properly knows the formats
// of all systems, and would make this program half a megabyte larger.
func isLamplighter(path string) bool {
	file, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	const (
		most = 64 << 20 // bytes
		step = 1 << 20
		keep = 100 // more than a mark has
	)
	source := io.LimitReader(file, most)
	marks := programMarks()
	buffer := make([]byte, 0, keep+step)
	for {
		n, err := io.ReadFull(source, buffer[len(buffer):keep+step])
		buffer = buffer[:len(buffer)+n]
		for _, mark := range marks {
			if bytes.Contains(buffer, mark) {
				return true
			}
		}
		if err != nil { // the end, most of all
			return false
		}
		rest := copy(buffer, buffer[len(buffer)-keep:]) // a mark may begin in it
		buffer = buffer[:rest]
	}
}
