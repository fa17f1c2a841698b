package ask

import (
	"strings"
	"testing"
)

// Whoever logs in later than a client counts as well, unless it is allowed.
func TestForbids(t *testing.T) {
	var here []string
	allowed := false
	a := asker(func(o *Options) {
		o.OthersLoggedIn = func() ([]string, error) { return here, nil }
		o.Allowed = func() bool { return allowed }
	})
	if why := a.Forbids(t.Context()); why != "" {
		t.Error(why)
	}
	here, a.others = []string{"bob"}, others{} // a while later
	if why := a.Forbids(t.Context()); !strings.Contains(why, "bob") {
		t.Error(why)
	}
	if allowed = true; a.Forbids(t.Context()) != "" {
		t.Error("it is allowed")
	}
}
