package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Nobody has to be able to read all that a place is in.
func TestLineage(t *testing.T) {
	l := newLab(t)
	dir := l.source("a/b/c", nil)
	identity := func(path string) (string, error) {
		switch path {
		case l.path("a/b"):
			return "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
		case l.path("broken"):
			return "", errors.New("broken")
		}
		return path, nil
	}
	ids, err := lineage(dir, identity)
	if err != nil || !ids[dir] || ids[l.path("a/b")] || !ids[l.path("a")] || !ids[l.dir] {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := lineage(l.path("broken/x"), identity); err == nil {
		t.Error("what cannot be looked at is passed over")
	}
}

// What is refused leaves nothing, not even a record.
func TestCreateRefuses(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	l.create(m, Request{Job: "there"}) // makes the store
	other := l.create(m, Request{In: l.source("others", nil), Job: "other"})
	write(t, other.Path, map[string]string{"deep/er/": ""})
	from := l.source("from", map[string]string{"a": "a", "sub/b": "b", "out": "-> ../others", "back": "-> sub", "file": "f", "sub/up": "-> ..", "node_modules/x": "x"})
	repo := l.repository("repo", map[string]string{"a": "a", "vendor/x": "x"})
	unborn := l.source("unborn", nil)
	git(t, unborn, "init", "--quiet")
	write(t, l.dir, map[string]string{"loop": "-> loop", "dangling": "-> nothing", "tofrom": "-> from", "file": "x"})
	for name, c := range map[string]struct {
		q    Request
		says string
	}{
		"no kind":                      {Request{Job: "j"}, "kind"},
		"unknown kind":                 {Request{Kind: "eternal", Job: "j"}, "kind"},
		"no job":                       {Request{Kind: Temp, Job: "-"}, "job"},
		"job of controls":              {Request{Kind: Temp, Job: "a\x1b[31m"}, "control"},
		"job of two lines":             {Request{Kind: Temp, Job: "a\nb"}, "control"},
		"job of spaces":                {Request{Kind: Temp, Job: " \u200b "}, "can be seen"},
		"job that is no text":          {Request{Kind: Temp, Job: "a\xff"}, "UTF-8"},
		"long job":                     {Request{Kind: Temp, Job: strings.Repeat("ü", 201)}, "201 characters"},
		"long project":                 {Request{Kind: Temp, Job: "j", Project: strings.Repeat("p", 201)}, "project"},
		"clean-up":                     {Request{Kind: Temp, Job: "j", Cleanup: "never"}, "clean-up"},
		"retention":                    {Request{Kind: Temp, Job: "j", Retention: -1}, "retention"},
		"short retention":              {Request{Kind: Temp, Job: "j", Retention: time.Millisecond}, "retention"},
		"long retention":               {Request{Kind: Temp, Job: "j", Retention: 1<<63 - 1}, "retention"},
		"ref of nothing":               {Request{Kind: Temp, Job: "j", Ref: "main"}, "ref"},
		"ref of a directory":           {Request{Kind: Temp, Job: "j", From: from, Ref: "main"}, "no git repository"},
		"ref of a copy":                {Request{Kind: Temp, Job: "j", From: repo, Ref: "main", Copy: true}, "copy"},
		"long ref":                     {Request{Kind: Temp, Job: "j", From: repo, Ref: strings.Repeat("r", 2000)}, "2000 bytes"},
		"many shares":                  {Request{Kind: Temp, Job: "j", From: repo, Share: make([]string, 101)}, "101 directories"},
		"ref that is none":             {Request{Kind: Temp, Job: "j", From: repo, Ref: "nowhere"}, "nowhere"},
		"ref that is an option":        {Request{Kind: Temp, Job: "j", From: repo, Ref: "--output=/tmp/x"}, "--output"},
		"no commit":                    {Request{Kind: Temp, Job: "j", From: unborn}, "no commit"},
		"from that is relative":        {Request{Kind: Temp, Job: "j", From: "from"}, "absolute"},
		"from that is not there":       {Request{Kind: Temp, Job: "j", From: l.path("nothing")}, "nothing"},
		"from that is a file":          {Request{Kind: Temp, Job: "j", From: l.path("file")}, "not a directory"},
		"from that is a loop":          {Request{Kind: Temp, Job: "j", From: l.path("loop")}, "loop"},
		"from that leads nowhere":      {Request{Kind: Temp, Job: "j", From: l.path("dangling")}, "nothing"},
		"in that is relative":          {Request{Kind: Temp, Job: "j", In: "."}, "absolute"},
		"in that is not there":         {Request{Kind: Temp, Job: "j", In: l.path("nothing")}, "nothing"},
		"in that is a file":            {Request{Kind: Temp, Job: "j", In: l.path("file")}, "not a directory"},
		"in that leads nowhere":        {Request{Kind: Temp, Job: "j", In: l.path("dangling")}, "nothing"},
		"in its source":                {Request{Kind: Temp, Job: "j", From: from, In: from}, "part of itself"},
		"in its source, by a link":     {Request{Kind: Temp, Job: "j", From: from, In: l.path("tofrom") + "/sub"}, "part of itself"},
		"its source is around":         {Request{Kind: Temp, Job: "j", From: l.dir}, "part of itself"},
		"in what git keeps":            {Request{Kind: Temp, Job: "j", From: repo, In: filepath.Join(repo, ".git")}, "what git keeps"},
		"in another":                   {Request{Kind: Temp, Job: "j", In: other.Path}, other.Name},
		"deep in another":              {Request{Kind: Temp, Job: "j", From: repo, In: filepath.Join(other.Path, "deep", "er")}, other.Name},
		"in another, by a link":        {Request{Kind: Temp, Job: "j", In: filepath.Join(from, "out", other.Name, "deep")}, other.Name},
		"in the store":                 {Request{Kind: Temp, Job: "j", In: l.o.Dir}, "belongs to workspaces"},
		"among the records":            {Request{Kind: Temp, Job: "j", In: m.store.path(recordsDir)}, "belongs to workspaces"},
		"share of nothing":             {Request{Kind: Temp, Job: "j", Share: []string{"x"}}, "absolute path"},
		"share that is not there":      {Request{Kind: Temp, Job: "j", From: from, Share: []string{"x"}}, "x"},
		"share that is a file":         {Request{Kind: Temp, Job: "j", From: from, Share: []string{"file"}}, "not a directory"},
		"share above":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{"../others"}}, "leads out"},
		"share above, in the middle":   {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/../../others"}}, "leads out"},
		"share of all":                 {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/.."}}, "all of it"},
		"share of all, by a link":      {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub/up"}}, "leads out"},
		"empty share":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{""}}, "leads out"},
		"share by a link":              {Request{Kind: Temp, Job: "j", From: from, Share: []string{"out"}}, "leads out"},
		"share beyond a link":          {Request{Kind: Temp, Job: "j", From: from, Share: []string{"out/" + other.Name}}, "leads out"},
		"share of what git has":        {Request{Kind: Temp, Job: "j", From: repo, Share: []string{"vendor"}}, "something else lies"},
		"share of git itself":          {Request{Kind: Temp, Job: "j", From: repo, Share: []string{".git"}}, "nothing may lie"},
		"share of git, in capitals":    {Request{Kind: Temp, Job: "j", From: from, Share: []string{l.source("x/.GIT", nil)}}, "nothing may lie"},
		"share of the root":            {Request{Kind: Temp, Job: "j", Share: []string{filepath.VolumeName(l.dir) + string(filepath.Separator)}}, "cannot be shared"},
		"share twice":                  {Request{Kind: Temp, Job: "j", From: from, Share: []string{"sub", "sub/"}}, "in the place of the other"},
		"share in a share":             {Request{Kind: Temp, Job: "j", From: repo, Share: []string{l.path("x"), l.source("y/X", nil)}}, "in the place of the other"},
		"share around the place":       {Request{Kind: Temp, Job: "j", Share: []string{l.dir}}, "would be in it"},
		"share with an escape":         {Request{Kind: Temp, Job: "j", From: from, Share: []string{"a\x1b"}}, "control"},
		"share in the place of a file": {Request{Kind: Temp, Job: "j", From: from, Share: []string{l.source("z/file", nil)}}, "something else lies"},
	} {
		if c.q.Job == "-" {
			c.q.Job = ""
		}
		_, err := m.Create(t.Context(), c.q, nil)
		if !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), c.says) || strings.ContainsAny(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := names(t, l.path("others")); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
	if got := git(t, repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("left: %s", got)
	}
	if got := git(t, repo, "worktree", "list"); strings.Count(got, "\n") != 0 {
		t.Errorf("left: %s", got)
	}
	if got := names(t, m.store.path(recordsDir)); len(got) != 2 {
		t.Errorf("left: %q", got)
	}
}
