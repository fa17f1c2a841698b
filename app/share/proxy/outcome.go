package proxy

import (
	"errors"
	"fmt"
	"net/http"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// judge decides what becomes of a request whose call has ended without its answer: it is sent
// again only if it was surely not carried out, and its client always hears what is known of
// that, with an error of that code and text. err is that of the call, nil when its stream
// ended. tries is how often the request of that size in bytes has been sent, and lost how
// the server was lost; "" when it was not.
func judge(err error, tries, size int, lost string) (again bool, code int, text string) {
	var refused *mcp.Refused
	isRefused := errors.As(err, &refused)
	switch {
	case isRefused && errors.Is(err, mcp.ErrLost):
		return false, wire.CodeInternal, refused.Error() + "; it may have been carried out"
	case isRefused && refused.Status == http.StatusRequestEntityTooLarge:
		return false, wire.CodeInvalid, fmt.Sprintf("this request of %s is too long: %s; it was not carried out", monitor.Memory(size), refused.Text)
	case isRefused:
		return false, wire.CodeInternal, refused.Error() + "; it was not carried out"
	case errors.Is(err, mcp.ErrNotSent), errors.Is(err, mcp.ErrUnknown):
		return tries <= retries, wire.CodeUnavailable, fmt.Sprintf("the server could not be reached: %v; this was not carried out", err)
	case lost != "":
		return false, wire.CodeInternal, fmt.Sprintf("the server was lost (%s) while it worked on this; it may have been carried out", lost)
	case err == nil:
		return false, wire.CodeInternal, "the server ended its answer before there was a result; this may have been carried out"
	}
	return false, wire.CodeInternal, fmt.Sprintf("the connection to the server was lost while it worked on this: %v; it may have been carried out", err)
}
