package workspace

import (
	"strings"
	"testing"
)

func FuzzEnvText(f *testing.F) {
	f.Add("/home/a b/it's", "'")
	f.Add("$(x)", "`\\\n\"")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			return // no environment holds that
		}
		text := string(envText("name", []string{"A=" + a, "B=" + b}))
		// Read as sh does: within quotes nothing is special, and between them there is
		// nothing but a quote that is written out.
		var values []string
		rest := text[strings.IndexByte(text, '\n')+1:]
		for _, key := range []string{"A", "B"} {
			var found bool
			if rest, found = strings.CutPrefix(rest, "export "+key+"='"); !found {
				t.Fatalf("%q", text)
			}
			var value strings.Builder
			for {
				quoted, after, _ := strings.Cut(rest, "'")
				value.WriteString(quoted)
				if rest, found = strings.CutPrefix(after, `\''`); !found {
					rest = strings.TrimPrefix(after, "\n")
					break
				}
				value.WriteByte('\'')
			}
			values = append(values, value.String())
		}
		if rest != "" || values[0] != a || values[1] != b {
			t.Errorf("%q: %q, %q", text, values, rest)
		}
	})
}
