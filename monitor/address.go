package monitor

import (
	"net/url"
	"strconv"
)

// PortOf is the port that an address such as http://127.0.0.1:24282/dashboard/
// names, 0 when it names none.
func PortOf(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0
	}
	return port
}
