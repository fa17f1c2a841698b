package gitwork

import (
	"strings"
	"testing"
)

// FuzzParseFilters: whatever a repository calls its filters, each that is its own is
// named so that it can be switched off on a command line, or all is refused.
func FuzzParseFilters(f *testing.F) {
	f.Add("local\x00filter.a.clean\x00worktree\x00filter.b.c.process\x00", true)
	f.Add("global\x00filter.lfs.clean\x00local\x00filter.a\nb.clean\x00", true)
	f.Add("filter.a=b.clean\x00", false)
	f.Add("filter..clean\x00filter.\x00filter\x00\x00", false)
	f.Add("local\x00", true)
	f.Fuzz(func(t *testing.T, text string, scoped bool) {
		names, err := parseFilters(text, scoped)
		if err != nil {
			if len(names) > 0 || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("%q, %v", names, err)
			}
			return
		}
		found := map[string]bool{}
		for _, name := range names {
			if found[name] || strings.ContainsAny(name, "=\n\x00") || !strings.Contains(text, "filter."+name+".") {
				t.Errorf("%q of %q", names, text)
			}
			found[name] = true
		}
		if scoped || strings.ContainsRune(text, 0) && !strings.HasSuffix(text, "\x00") {
			return
		}
		for setting := range strings.SplitSeq(text, "\x00") {
			if name, is := strings.CutPrefix(setting, "filter."); is && strings.Contains(name, ".") && !found[name[:strings.LastIndexByte(name, '.')]] {
				t.Errorf("%q goes on running", setting)
			}
		}
	})
}
