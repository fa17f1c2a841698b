package api

import (
	"net/http"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/process"
)

// client is the process that sent a request, zero when that cannot be told. For
// our own command line it is who called that.
func (r routes) client(req *http.Request) monitor.Client {
	asker, known := peerOf(req.Context())
	if !known {
		return monitor.Client{}
	}
	pids, err := asker.askers()
	if err != nil {
		r.parts.Log.Debug("who asks for a session cannot be told", "error", err)
	}
	for _, pid := range pids {
		info, err := process.Read(pid)
		if err == nil && monitor.ProgramName(info.Exe) == Program {
			info, err = process.Read(info.Parent)
		}
		if err == nil {
			return monitor.Client{Identity: info.Identity, Name: clients.NameOf(info)}
		}
	}
	return monitor.Client{}
}
