package socket

import (
	"fmt"
	"os"
)

// help carries out a task and returns the exit status.
func help(task string, args []string) int {
	switch task {
	case "inherit": // the path of the socket: serve one connection of it, and say what became of it
		l, err := Inherited(Share(args[0]), quiet())
		if err != nil || l == nil {
			fmt.Printf("%v, %v\n", l, err)
			return 1
		}
		fmt.Println("inherited", l.Addr(), os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDNAMES"))
		conn, err := l.Accept()
		if err != nil {
			fmt.Println(err)
			return 1
		}
		_, err = fmt.Fprintln(conn, "served")
		conn.Close()
		l.Close()
		if err != nil {
			fmt.Println(err)
			return 1
		}
	default:
		fmt.Println("no such task:", task)
		return 2
	}
	return 0
}
