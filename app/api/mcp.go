package api

import (
	"net/http"

	"lamplighter/app/payload"
	"lamplighter/monitor"
)

// mcpPath is where clients reach the servers that they share, over HTTP.
const mcpPath = "/mcp"

// MCP answers those who speak MCP over streamable HTTP: proxy.Server. who finds out
// which process asks, and may take its time.
type MCP interface {
	ServeMCP(w http.ResponseWriter, req *http.Request, who func() monitor.Client)
}

// mcpTable is the one route of MCP.
func (r routes) mcpTable() []route {
	return []route{
		{http.MethodPost, mcpPath, r.mcp},
		{http.MethodGet, mcpPath, r.mcp},
		{http.MethodDelete, mcpPath, r.mcp},
	}
}

func (r routes) mcp(w http.ResponseWriter, req *http.Request) {
	switch {
	case r.parts.MCP == nil:
		r.fail(w, http.StatusServiceUnavailable, "no servers are shared here")
	case req.Method == http.MethodPost && !payload.IsJSON(req):
		r.fail(w, http.StatusBadRequest, payload.ErrNotJSON.Error())
	default:
		r.parts.MCP.ServeMCP(w, req, func() monitor.Client { return r.client(req) })
	}
}
