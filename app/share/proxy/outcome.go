package proxy

import (
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// verdict is what becomes of a request whose call has ended without its answer.
type verdict struct {
	drop  bool // the MCP session that it was sent on is of no use any more
	again bool // it is sent again, on another one
	code  int  // of the error that answers it, unless it is sent again
	text  string
}

// ending is how a call ended.
type ending struct {
	err   error  // of the call; nil when its stream ended without an answer
	tries int    // how often the request has been sent
	size  int    // of the request, in bytes
	gone  bool   // the server's process has ended, or was replaced
	why   string // and how or why; a part of a sentence
}

// judge decides what becomes of the request: it is sent again only if it was
// surely not carried out, and its client always hears what is known of that.
func judge(e ending) verdict {
	var refused *mcp.Refused
	isRefused := errors.As(e.err, &refused)
	switch {
	case isRefused && errors.Is(e.err, mcp.ErrLost):
		return verdict{code: wire.CodeInternal, text: refused.Error() + "; it may have been carried out"}
	case isRefused && refused.Status == http.StatusRequestEntityTooLarge:
		return verdict{code: wire.CodeInvalid, text: fmt.Sprintf("this request of %s is too long: %s; it was not carried out", monitor.Memory(e.size), refused.Text)}
	case isRefused:
		return verdict{code: wire.CodeInternal, text: refused.Error() + "; it was not carried out"}
	case errors.Is(e.err, mcp.ErrNotSent), errors.Is(e.err, mcp.ErrUnknown):
		if e.tries <= retries {
			return verdict{drop: true, again: true}
		}
		return verdict{drop: true, code: wire.CodeUnavailable, text: fmt.Sprintf("the server could not be reached: %v; this was not carried out", e.err)}
	case e.gone:
		return verdict{code: wire.CodeInternal, text: fmt.Sprintf("the server was lost (%s) while it worked on this; it may have been carried out", e.why)}
	case e.err == nil:
		return verdict{code: wire.CodeInternal, text: "the server ended its answer before there was a result; this may have been carried out"}
	}
	return verdict{code: wire.CodeInternal, text: fmt.Sprintf("the connection to the server was lost while it worked on this: %v; it may have been carried out", e.err)}
}
