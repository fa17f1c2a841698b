package api

import (
	"time"

	"lamplighter/app/session"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/view"
)

// SessionOrder is the body of POST /request-session.
type SessionOrder struct {
	ProjectPath string `json:"project_path"`     // absolute
	Server      string `json:"server,omitempty"` // name of a template in the settings; "" is the usual one
}

// SessionGiven is the answer to it with status 201. Users asked for just these
// keys, as in the next two.
type SessionGiven struct {
	SessionID int    `json:"session_id"` // pid of the server
	Host      string `json:"host"`
	Port      int    `json:"port"` // where it speaks MCP
}

// SessionRelease is the body of POST /release-session.
type SessionRelease struct {
	SessionID int `json:"session_id"`
}

// SessionReleased is the answer to it with status 200.
type SessionReleased struct {
	Status    session.Status `json:"status"`
	SessionID int            `json:"session_id"`
}

// Sessions is the body of GET /sessions, in the order in which they were asked
// for.
type Sessions struct {
	Sessions []Session `json:"sessions"`
}

// Session is one session on the wire. What is not known yet is null.
type Session struct {
	SessionID    *int          `json:"session_id"` // null while it starts
	Host         string        `json:"host"`
	Port         *int          `json:"port"`
	State        session.State `json:"state"`
	ProjectPath  string        `json:"project_path"`
	Server       string        `json:"server"` // name of its template
	MCPURL       *string       `json:"mcp_url"`
	DashboardURL *string       `json:"dashboard_url"`
	StartedAt    *time.Time    `json:"started_at"` // while it starts: when it was asked for
	AskedBy      *view.Client  `json:"asked_by"`
}

// sessionHost is where every server of a session listens.
const sessionHost = "127.0.0.1"

// encodeSessions turns sessions into their wire form.
func encodeSessions(list []session.Session) Sessions {
	wire := make([]Session, len(list))
	for i := range list {
		s := &list[i]
		wire[i] = Session{
			SessionID: view.Known(s.ID), Host: sessionHost, Port: view.Known(s.Port), State: s.State, ProjectPath: s.ProjectPath, Server: s.Server,
			MCPURL: view.Known(s.MCPURL), StartedAt: view.Moment(s.StartedAt),
		}
		if s.DashboardPort > 0 {
			wire[i].DashboardURL = view.Known(serena.DashboardURL(s.DashboardPort))
		}
		if s.AskedBy != nil {
			wire[i].AskedBy = &view.Client{PID: s.AskedBy.PID, Name: s.AskedBy.Name}
		}
	}
	return Sessions{Sessions: wire}
}
