package doctor

import (
	"net"
	"path/filepath"
	"testing"
)

func TestListened(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"share.sock", "with a space.sock"} {
		path := filepath.Join(dir, name)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if listens, known := listened(path); !listens || !known {
			t.Errorf("%s: %v, %v", path, listens, known)
		}
		if listens, _ := listened(path + "x"); listens {
			t.Error("the beginning of a path counts")
		}
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		l.Close()
		if listens, known := listened(path); listens || !known {
			t.Errorf("%s: nobody listens any more: %v, %v", path, listens, known)
		}
	}
}

func TestListensIn(t *testing.T) {
	const table = "Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01    12 /r/share.sock\n" +
		"0000000000000000: 00000003 00000000 00000000 0001 03 123456789 /r/open.sock\n" +
		"0000000000000000: 00000003 00000000 00010000 0001 01 13\n" +
		"nonsense\n\n" +
		"0000000000000000: 00000003 00000000 zzz 0001 01 13 /r/strange.sock\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01    14 @/r/abstract.sock"
	for path, want := range map[string]bool{
		"/r/share.sock": true, "/r/open.sock": false, "/r/strange.sock": false, "/r/abstract.sock": false, "": false, "Path": false,
	} {
		if got := listensIn(table, path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}
