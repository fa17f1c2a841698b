package workspace

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestNameOf(t *testing.T) {
	const id = "0190a1b2-c3d4-7abc-8def-0123456789ab"
	for _, c := range []struct{ project, job, want string }{
		{"Shop", "Fix login", "shop-fix-login-456789ab"},
		{"", "", "project-job-456789ab"},
		{"..", "/", "project-job-456789ab"},
		{"../../etc", "a\\b:c", "etc-a-b-c-456789ab"},
		{"CON", "nul", "con-nul-456789ab"},
		{"straße", "日本", "stra-e-job-456789ab"},
		{"\u212aelvin", "ſ", "elvin-job-456789ab"}, // lower case of these is ASCII
		{"-rf", "--force--", "rf-force-456789ab"},
		{"a.lock", "trailing.", "a-lock-trailing-456789ab"},
		{strings.Repeat("a", 23) + " b", strings.Repeat("x", 200), strings.Repeat("a", 23) + "-" + strings.Repeat("x", 24) + "-456789ab"},
		{strings.Repeat("ab ", 40), "j", "ab-ab-ab-ab-ab-ab-ab-ab-j-456789ab"},
	} {
		if got := nameOf(c.project, c.job, id); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.project, c.job, got, c.want)
		}
	}
}

// Whatever a job is called, its directory has a name that every platform takes.
func TestNamesAreSafe(t *testing.T) {
	safe := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{8}$`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Za-z0-9 ./\\:._-]{0,60}`),
			rapid.SampledFrom([]string{"con", "COM1", "aux.txt", "LPT9", ".git", "~", "-", "..", "con ", "\x00"}))
		project, job := text.Draw(t, "project"), text.Draw(t, "job")
		id := uuid.Must(uuid.NewV7()).String()
		name := nameOf(project, job, id)
		if len(name) > 60 || !safe.MatchString(name) || name != nameOf(project, job, id) {
			t.Fatalf("%q, %q: %q", project, job, name)
		}
	})
}
