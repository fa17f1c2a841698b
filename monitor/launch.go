package monitor

// The lifetimes of what we start. A session ends with the background process,
// however that ends; a shared server survives it for a while.
const (
	LifetimeSession = "session"
	LifetimeShared  = "shared"
)

// Launch is what is known of a server that we have started, or have adopted
// from the record of one that we started before.
type Launch struct {
	Server Identity // the process that owns the MCP port
	Keeper Identity // above it; zero when it is not known, or has gone
	Kind   string   // KindSerena or the name of the template it was started from

	Port          int    // MCP, 0 when not known
	DashboardPort int    // 0 when not known, or when there is none
	MCPURL        string // "" when not known

	Project  string  // absolute path, "" when it was started for none
	Lifetime string  // LifetimeSession or LifetimeShared
	AskedBy  *Client // whom it was started for; nil when not known
	Command  []string
}
