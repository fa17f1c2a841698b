package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lamplighter/app/setup/document"
	"lamplighter/app/setup/foreignfile"
	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// mostTries is how often a file is read again that somebody else writes.
const mostTries = 3

// lockName is the file in our state that one setup at a time holds.
const lockName = "setup.lock"

// Do changes settings, or undoes it. What is wrong with one file is in its
// Change; the others are done. The error says that nothing was tried: there is no
// such client or server, no lamplighter-connect, or another setup is at work. An
// error of ctx comes with what was done until then.
func (s *Setup) Do(ctx context.Context, w Wanted) (Result, error) {
	all, err := s.places(w)
	if err != nil {
		return nothing(), err
	}
	if !w.Undo {
		if err := s.checkConnect(); err != nil {
			return nothing(), err
		}
	}
	unlock := func() {}
	if !w.DryRun {
		held, err := foreignfile.Lock(ctx, filepath.Join(s.o.State, lockName))
		if err != nil {
			return nothing(), err
		}
		unlock = sync.OnceFunc(held)
	}
	defer unlock()
	rec, err := loadRecord(s.o.State)
	if err != nil {
		return nothing(), err
	}
	if w.Undo {
		all = append(all, recorded(rec, w, all)...)
	}
	if err := known(all, w); err != nil {
		return nothing(), err
	}
	run := run{s: s, m: s.machine(), w: w, rec: rec, whole: rec.whole()}
	result := nothing()
	if w.Undo && rec.unread != nil {
		result.Notes = append(result.Notes, run.unread())
	}
	touched := map[string]bool{} // by targetOf
	for _, p := range joined(all) {
		if err = ctx.Err(); err != nil {
			break
		}
		c, pages := run.file(p)
		if errors.Is(c.Err, errSkipped) {
			if w.File != "" {
				return result, c.Err
			}
			continue
		}
		result.Page = result.Page || pages
		if len(c.Entries) > 0 && c.Problem == "" || c.Written {
			touched[targetOf(p.Path)] = true
		}
		if len(c.Entries) > 0 || len(c.Left) > 0 || len(c.Kept) > 0 || c.Problem != "" {
			result.Changes = append(result.Changes, c)
		}
	}
	unlock() // looking for programs takes its time
	result.Running = s.mustRestart(all, touched)
	return result, err
}

// unread says what of the record undo has to do without. What is no record is set
// aside, so that it can be looked at.
func (r run) unread() string {
	why := r.rec.unread
	text := problem(why)
	if !r.w.DryRun && errors.Is(why, errRecord) {
		if err := r.rec.save(r.rec.all); err != nil {
			text = problem(err)
		} else {
			text = strings.Replace(text, "the next change sets it aside", "it is set aside", 1)
		}
	}
	return text + " What it does not tell is taken out by its words: the command behind lamplighter-connect is what remains."
}

// nothing is the result of nothing.
func nothing() Result { return Result{Changes: []Change{}, Running: []string{}, Notes: []string{}} }

// mustRestart are the names of the clients of which a file was changed and that
// run.
func (s *Setup) mustRestart(all []place, touched map[string]bool) []string {
	if len(touched) == 0 {
		return []string{}
	}
	running := s.running()
	names := []string{}
	for _, p := range all {
		if touched[targetOf(p.Path)] && len(running[p.Client]) > 0 && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// known says that a server that is named is nowhere. In a file that cannot be
// understood it may be when its name is.
func known(all []place, w Wanted) error {
	missing := slices.Clone(w.Servers)
	if len(missing) == 0 {
		return nil
	}
	unread := ""
	for _, p := range all {
		set, err := p.read()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			unread = " that can be understood"
		}
		missing = slices.DeleteFunc(missing, func(name string) bool {
			return err != nil && set.file != nil && bytes.Contains(set.file.Content, []byte(name)) || slices.ContainsFunc(set.entries, func(e clients.Server) bool { return nameOf(e) == name })
		})
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: no settings%s have an entry with the name %s", ErrNoServer, unread, monitor.Clean(strings.Join(missing, ", ")))
}

// run is one Do.
type run struct {
	s   *Setup
	m   machine
	w   Wanted
	rec *record
	// whole tells that what the record does not know setup has not written.
	whole bool
	// others are the entries of the file at work, by document.Key, that are left to
	// another installation.
	others map[string]bool
}

// edit is what is to become of a file.
type edit struct {
	settings
	after   []byte
	changed []clients.Server // as they are then
	left    []Entry
	final   []clients.Server // all of them
}

// errSkipped says that a file has nothing to do with it, and need not be told
// about.
var errSkipped = errors.New("nothing is to be done")

// file does one file. The Change's Err may be errSkipped. pages tells that NoPage would stop pages of Serena.
func (r run) file(p place) (c Change, pages bool) {
	do := r.put
	if r.w.Undo {
		do = r.take
	}
	var e edit
	var err error
	kept := []string{}
	for try := range mostTries {
		c = Change{Client: p.Name, Path: p.Path, Entries: []Entry{}, Left: []Entry{}, Kept: kept}
		e, err = do(p, &c)
		if try > 0 && errors.Is(err, errSkipped) { // it was there a moment ago
			err = fmt.Errorf("%s was there, and was removed meanwhile by another program; nothing was written", monitor.Clean(p.Path))
		}
		if kept = c.Kept; !errors.Is(err, foreignfile.ErrChanged) {
			break
		}
	}
	if err != nil {
		c.Whole, c.Err, c.Problem = false, err, problem(err)
		return c, false
	}
	if r.w.Contents {
		c.Before, c.After = e.file.Content, e.after
	}
	c.Left = append(c.Left, e.left...)
	for _, entry := range e.changed {
		v := r.m.judge(entry, r.w, p.closed(r.w))
		v.Becomes, v.Why = "", ""
		c.Entries = append(c.Entries, v.Entry)
	}
	for _, entry := range e.final {
		pages = pages || !r.w.Undo && r.m.judge(entry, r.w, p.closed(r.w)).PageStops
	}
	return c, pages
}

// read reads the file of a place, and refuses one that is not as it was shown.
// The error Is errSkipped for one that is not there, and for one that cannot be
// understood and that there is nothing to undo in.
func (r run) read(p place, c *Change) (settings, error) {
	set, err := p.read()
	_, shown := r.w.Expect[p.Path]
	switch {
	case err == nil:
	case r.w.Undo && r.lost(p) != "":
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is not there any more. As it was before setup it is in %s: put it back by hand, or remove that", monitor.Clean(p.Path), monitor.Clean(r.lost(p)))
		}
		return settings{}, err
	case errors.Is(err, fs.ErrNotExist) && shown:
		return settings{}, outdated(p)
	case errors.Is(err, fs.ErrNotExist) && (r.w.Undo || isGone(p.Path)), r.w.Undo && r.w.File == "" && !r.mayBeOurs(p, set.file):
		return settings{}, fmt.Errorf("%w: %w", errSkipped, err)
	default:
		return settings{}, err
	}
	c.Sum = sum(set.file.Content)
	if shown, ok := r.w.Expect[p.Path]; ok && shown != c.Sum {
		return settings{}, outdated(p)
	}
	return set, nil
}

// expected refuses a change of which nothing was shown.
func (r run) expected(p place) error {
	if _, ok := r.w.Expect[p.Path]; !ok && r.w.Expect != nil {
		return outdated(p)
	}
	return nil
}

func outdated(p place) error {
	return fmt.Errorf("%s is left as it is: %w", monitor.Clean(p.Path), ErrOutdated)
}

// put puts lamplighter-connect into a file.
func (r run) put(p place, c *Change) (edit, error) {
	set, err := r.read(p, c)
	if err != nil {
		return edit{}, err
	}
	if err := r.prune(set.file, c); err != nil {
		return edit{}, err
	}
	e := edit{settings: set, after: set.file.Content, final: set.entries}
	st := step{Path: set.file.Target, Client: p.Client, At: r.s.now(), Before: sum(set.file.Content)}
	written := map[string][]string{}
	for _, entry := range set.entries {
		v := r.m.judge(entry, r.w, p.closed(r.w))
		if v.words == nil {
			if v.meant && v.Why != "" {
				e.left = append(e.left, v.Entry)
			}
			continue
		}
		before, err := set.doc.Source(entry.Path)
		if err == nil {
			err = set.doc.Set(entry.Path, v.words[0], v.words[1:])
		}
		if err != nil {
			v.Becomes, v.Why = "", monitor.Sentence(monitor.Clean(err.Error()))
			e.left = append(e.left, v.Entry)
			continue
		}
		written[document.Key(entry.Path)] = v.words
		st.Entries = append(st.Entries, stepEntry{Path: entry.Path, Before: before})
	}
	if len(written) == 0 {
		return e, nil
	}
	if err := r.expected(p); err != nil {
		return edit{}, err
	}
	for i := range st.Entries {
		if st.Entries[i].After, err = set.doc.Source(st.Entries[i].Path); err != nil {
			return edit{}, fmt.Errorf("%s is left as it is: %w", monitor.Clean(p.Path), err)
		}
	}
	e.after = set.doc.Bytes()
	if e.final, err = check(p, e.after, set.entries, written); err != nil {
		return edit{}, err
	}
	e.changed = differing(set.entries, e.final)
	if err := set.file.Writable(); err != nil || r.w.DryRun {
		return e, err
	}
	st.After = sum(e.after)
	if err := r.forgetReplaced(set); err != nil {
		return edit{}, err
	}
	if st.Backup, err = set.file.Backup(); err != nil {
		return edit{}, err
	}
	if err := r.rec.push(st); err != nil {
		return edit{}, errors.Join(fmt.Errorf("%s is left as it is, because what undo needs cannot be kept: %w", monitor.Clean(p.Path), err), foreignfile.RemoveBackup(st.Backup, set.file.Content))
	}
	if err := r.replace(set.file, e.after); err != nil {
		return edit{}, errors.Join(err, r.rec.drop(st), foreignfile.RemoveBackup(st.Backup, set.file.Content))
	}
	c.Backup = st.Backup
	err = r.still(p, written)
	c.Written = err != nil
	return e, err
}

// replace writes a file.
func (r run) replace(file *foreignfile.File, content []byte) error {
	if err := file.Replace(content); err != nil {
		return err
	}
	if r.s.written != nil {
		r.s.written(file.Target)
	}
	return nil
}

// still looks whether a file has what was just written: a client that runs may
// have written its own settings over it.
func (r run) still(p place, written map[string][]string) error {
	set, err := p.read()
	if err == nil {
		kept := 0
		for _, e := range set.entries {
			if want, ok := written[document.Key(e.Path)]; ok && slices.Equal(want, wordsOf(e)) {
				kept++
			}
		}
		if kept == len(written) {
			return nil
		}
		err = errors.New("what was written is not in it any more")
	}
	return fmt.Errorf("%s was written by another program right after setup: %w; end the client and try again", monitor.Clean(p.Path), err)
}

// check reads what is to be written, and looks that it is what was meant: the
// written entries, by their paths, are so, and all others as before.
func check(p place, after []byte, before []clients.Server, written map[string][]string) ([]clients.Server, error) {
	doc, err := document.Parse(p.Format, after, p.Tables)
	if err != nil {
		return nil, fmt.Errorf("%s is left as it is: the change would break it: %w", monitor.Clean(p.Path), err)
	}
	entries := p.servers(doc)
	same := len(entries) == len(before)
	for i := 0; same && i < len(entries); i++ {
		now, then := entries[i], before[i]
		if words, ok := written[document.Key(then.Path)]; ok {
			if words != nil {
				then.Command, then.Args = words[0], words[1:]
			} else {
				then.Command, then.Args = now.Command, now.Args
			}
		}
		same = equal(now, then)
	}
	if !same {
		return nil, fmt.Errorf("%s is left as it is: the change would be another than what was meant; please report this", monitor.Clean(p.Path))
	}
	return entries, nil
}

// equal reports whether two entries say the same, wherever they stand.
func equal(a, b clients.Server) bool {
	return slices.Equal(a.Path, b.Path) && a.Command == b.Command && slices.Equal(a.Args, b.Args) &&
		a.Dir == b.Dir && a.URL == b.URL && a.Off == b.Off && a.Odd == b.Odd
}

// differing are the entries that say something else than before.
func differing(before, after []clients.Server) []clients.Server {
	then := map[string]clients.Server{}
	for _, e := range before {
		then[document.Key(e.Path)] = e
	}
	var list []clients.Server
	for _, e := range after {
		if was, ok := then[document.Key(e.Path)]; !ok || !equal(was, e) {
			list = append(list, e)
		}
	}
	return list
}

func wordsOf(e clients.Server) []string { return append([]string{e.Command}, e.Args...) }
