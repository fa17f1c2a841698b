package tray

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
)

// The numbers of lines that a menu has room for. A menu higher than the screen
// is scrolled, and GTK forgets to scroll back when it has become shorter
// (measured: it opens empty), so with everything around them these fit on a
// screen 768 px high, with lines of 25 px as on xfce.
const (
	listLines   = 15 // instances, and as many under Stop
	recentLines = monitor.RecentEvents
)

// menu is everything the tray says at one moment, as plain data. It knows
// nothing of slots or of a desktop.
type menu struct {
	Worst   monitor.State // what the icon shows; empty without an instance
	Tooltip string        // of the icon

	Head      string      // the whole truth in one line
	Hint      string      // what to do when there is nothing to show
	Instances []menuEntry // in the order of the snapshot
	More      string      // how many found no room, empty for none
	Recent    []eventLine // what happened, newest first
	// Workspaces are those of jobs.
	Workspaces workspaceMenu
	Keep       []menuEntry // those that can be kept for an hour
	Pins       []menuEntry // those that can be pinned or unpinned
	KeepMore   string      // how many of either found no room, empty for none
	Policies   policyMenu
	GivenBack  string // the memory of those that were ended, empty for none
	Warnings   []string
	StopAll    []stopGroup // orders for all of a kind
	Stop       []menuEntry // those that can be stopped, in the same order
	StopMore   string      // how many of them found no room, empty for none
	Login      loginEntry
	About      string
	Quit       string // with what becomes of the servers

	// Said is what the next menu needs to know about this one.
	Said said
	// running has every instance, also those that found no room.
	running map[string]bool
}

// menuEntry is one instance in the menu.
type menuEntry struct {
	ID      string // of the instance
	Label   string // "24284 - alpha", whole
	Name    string // the part of Label that may be shortened
	Title   string // what is shown
	Tooltip string // may have several lines; only macOS shows it
	Mark    icons.Mark
	Checked bool // it is pinned; only of one under Keep
	Ended   bool // it is gone, and its line only waits for the menu to close
}

// eventLine is one event in the menu.
type eventLine struct {
	Title string
	Open  string // the instance that a click opens, empty for none
}

// said remembers the memory figures that a menu shows, in MB, so that the next
// one keeps to them while they are still about right. The zero value is that
// of a first menu.
type said struct {
	total      int
	saved      int
	byInstance map[string]int
}

// menuOptions are the things that a menu says besides the snapshot.
type menuOptions struct {
	Version string
	Before  said // of the menu shown until now
	Stop    bool // offer to stop instances
	// Policies offers what the policies can be told.
	Policies bool
	Login    loginEntry
	// GivenBack is the memory, in bytes, that ended instances gave back since
	// GivenSince; 0 for none.
	GivenBack  uint64
	GivenSince time.Time
}

// buildMenu puts a snapshot in words. A nil snapshot is one that nobody has
// taken yet. The result shares nothing with its arguments.
func buildMenu(snap *monitor.Snapshot, now time.Time, opts menuOptions) menu {
	m := menu{Login: opts.Login, About: "About Lamplighter " + monitor.Clean(opts.Version), Quit: quit(monitor.Totals{})}
	if snap == nil {
		m.Head = "Looking for servers"
		m.Tooltip = "Lamplighter: looking for servers"
		return m
	}
	m.Worst = snap.Worst()
	totals := snap.Totals()
	m.Said = said{
		total:      quantise(totals.RSSBytes, opts.Before.total),
		saved:      quantise(totals.SavedBytes, opts.Before.saved),
		byInstance: make(map[string]int, len(snap.Instances)),
	}
	m.Head = head(totals, m.Said.total, m.Said.saved)
	m.Quit = quit(totals)
	m.Tooltip = "Lamplighter: " + m.Head
	if totals.Instances == 0 {
		m.Tooltip = "Lamplighter: no servers yet"
		m.Hint = "Start your assistant, and its servers appear here"
	}
	m.GivenBack = givenWords(opts.GivenBack, opts.GivenSince, now)
	m.running = make(map[string]bool, len(snap.Instances))
	orders := ordersIn(snap, now)
	if opts.Policies {
		m.keep(snap, orders, now)
		m.Policies = policyLines(snap.Policy, now)
		m.StopAll = groups(snap.Policy)
	}
	over, stopOver := 0, 0
	for i := range snap.Instances {
		in := &snap.Instances[i]
		id := in.ID()
		m.running[id] = true
		listed, stops := len(m.Instances) < listLines, opts.Stop && stoppable(in)
		if !listed {
			over++
		}
		if stops && len(m.Stop) == listLines {
			stops = false
			stopOver++
		}
		if !listed && !stops {
			continue
		}
		mb := quantise(in.RSSBytes, opts.Before.byInstance[id])
		m.Said.byInstance[id] = mb
		words, ends := presentWords(in, orders, now)
		e := entry(in, words, ends, mb, now)
		if listed {
			m.Instances = append(m.Instances, e)
		}
		if stops {
			m.Stop = append(m.Stop, e.toStop(in, words, mb))
		}
	}
	if over > 0 {
		m.More = fmt.Sprintf("and %d more: lamplighter status", over)
	}
	if stopOver > 0 {
		m.StopMore = fmt.Sprintf("and %d more: lamplighter stop", stopOver)
	}
	m.Recent = recent(snap, now)
	m.Workspaces = workspaceList(snap.Workspaces, now)
	warnings := snap.Warnings
	if e := orders.refused(snap); e != nil {
		warnings = append(refusedWords(e), warnings...)
	}
	for _, w := range warnings[:min(len(warnings), warningLines)] {
		m.Warnings = append(m.Warnings, monitor.Shorten(monitor.Clean(w), warningColumns))
	}
	return m
}

// head is the first line: "5 servers, 1 needs attention, 1 parked, 650 MB, sharing
// saves 325 MB".
func head(t monitor.Totals, mb, saved int) string {
	if t.Instances == 0 {
		return "No servers yet"
	}
	s := monitor.Plural(t.Instances, "server", "servers")
	if t.Attention > 0 {
		s += ", " + monitor.Plural(t.Attention, "needs attention", "need attention")
	}
	if t.Parked > 0 {
		s += fmt.Sprintf(", %d parked", t.Parked)
	}
	if mb > 0 {
		s += ", " + memoryWords(mb)
	}
	if saved > 0 {
		s += ", sharing saves " + memoryWords(saved)
	}
	return s
}

// quit says what becomes of the servers: those that others started are not
// ended because we are, and shared ones are parked.
func quit(t monitor.Totals) string {
	var becomes []string
	if t.Sessions > 0 {
		becomes = append(becomes, monitor.Plural(t.Sessions, "session ends", "sessions end"))
	}
	if t.Shared > 0 {
		becomes = append(becomes, monitor.Plural(t.Shared, "shared server is parked", "shared servers are parked"))
	}
	switch rest := t.Instances - t.Sessions - t.Shared - t.Parked; {
	case len(becomes) == 0:
		becomes = append(becomes, "servers go on")
	case rest > 0:
		becomes = append(becomes, "other servers go on")
	}
	return "Quit Lamplighter (" + strings.Join(becomes, ", ") + ")"
}

// endingWords are said instead of all others.
const endingWords = "ending…"

// presentWords is how an instance is: its state and what it does, or what is
// about to become of it, which matters more. ends says that a policy will end it.
func presentWords(in *monitor.Instance, orders orders, now time.Time) (words []string, ends bool) {
	switch {
	case orders.ending(in.ID()):
		return []string{endingWords}, false
	case planned(in, now):
		return []string{stateWords(in), planWords(in.Plan.ShutdownAt, now)}, true
	}
	return []string{stateWords(in), activityWords(in, now)}, false
}

// entry puts one instance in words, for example "24284 - alpha · idle 10 min ·
// 150 MB". words are those between label and memory. One that ends has only
// those, so that its name keeps its room.
func entry(in *monitor.Instance, words []string, ends bool, mb int, now time.Time) menuEntry {
	e := menuEntry{ID: in.ID(), Label: in.Label(), Name: in.Name(), Mark: icons.Mark(in.State)}
	lines := []string{in.Reason}
	if ends {
		lines = append(lines, planSentence(in, now))
	} else {
		words = append(slices.Clip(words), sharedWords(in), reachWords(in), memoryWords(mb))
	}
	e.Title = title(labelColumns, e.Label, e.Name, words...)
	lines = append(lines, in.SharingWords()...)
	lines = append(lines, keptWords(in, now))
	if !in.Recognised {
		lines = append(lines, in.StrangerWords())
	}
	switch {
	case in.IsShared(): // its clients are named above
	case in.Managed:
		lines = append(lines, in.ClientWords(tooltipColumns))
	case in.Client != nil && in.Client.Name != "":
		lines = append(lines, "started by "+in.Client.Name)
	}
	if in.Pinned {
		lines = append(lines, "pinned")
	}
	lines = append(lines, in.ProjectRoot)
	for _, line := range lines {
		if line = monitor.Shorten(monitor.Clean(line), tooltipColumns); line != "" {
			if e.Tooltip != "" {
				e.Tooltip += "\n"
			}
			e.Tooltip += line
		}
	}
	return e
}

// stoppable tells whether an order to stop the instance could be followed.
func stoppable(in *monitor.Instance) bool {
	return in.Recognised && in.State != monitor.StateParked && in.Cause != monitor.CauseDefunct
}

// toStop is the entry as it stands under Stop, where it also says who would
// lose the server. It has no icon: panels read the whole menu again after each
// change, and twice the icons would double what that costs.
func (e menuEntry) toStop(in *monitor.Instance, words []string, mb int) menuEntry {
	pinned := ""
	if in.Pinned {
		pinned = "pinned"
	}
	e.Mark = icons.None
	e.Title = title(stopColumns, e.Label, e.Name, append(slices.Clip(words), pinned, clientWords(in), memoryWords(mb))...)
	return e
}

// ended is the entry of an instance that has gone while the menu was open.
func (e menuEntry) ended() menuEntry {
	e.Title = title(labelColumns, e.Label, e.Name, "ended")
	e.Tooltip = ""
	if e.Mark != icons.None {
		e.Mark = icons.Ended
	}
	e.Ended = true
	return e
}

// nextChange is the time after now at which the same snapshot reads
// differently: an idle time grows into its next step, the time until a policy
// ends an instance shrinks, what was said about an
// order to stop has been said for long enough, or a day ends, so that events of
// today become events of a date. It is false when that never happens.
func nextChange(snap *monitor.Snapshot, now time.Time) (time.Duration, bool) {
	if snap == nil {
		return 0, false
	}
	var next time.Duration
	sooner := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	orders := ordersIn(snap, now)
	for i := range snap.Instances {
		in := &snap.Instances[i]
		if i >= listLines && !stoppable(in) {
			continue // it is not shown
		}
		if id := in.ID(); orders.ending(id) {
			sooner(untold(orders[id], now)) // it is said instead of all that follows
		} else {
			sooner(nextPlan(in, now))
			if d, ok := idleTime(in, now); ok && !planned(in, now) {
				sooner(nextIdle(d))
			}
		}
		sooner(nextKept(in, now))
	}
	sooner(nextPause(snap.Policy, now))
	if e := orders.refused(snap); e != nil {
		sooner(untold(e, now))
	}
	sooner(nextRecent(snap, now))
	sooner(nextWorkspaces(snap.Workspaces, now))
	return next, next > 0
}

// hold is the menu to show while one is open on the screen: every line of
// shown stays where it is and says what is new, lines that next no longer has
// stay and say so, and lines that next adds wait. Nothing then moves under the
// pointer.
func hold(shown, next menu) menu {
	held := next
	held.Instances = inPlaces(shown.Instances, next.Instances)
	held.StopAll = groupsInPlace(shown.StopAll, next.StopAll)
	held.Stop = inPlaces(shown.Stop, next.Stop)
	held.Keep = keptInPlaces(shown.Keep, next.Keep, next.running)
	held.Pins = keptInPlaces(shown.Pins, next.Pins, next.running)
	held.KeepMore = inPlace(shown.KeepMore, next.KeepMore)
	held.Policies = shown.Policies.inPlace(next.Policies)
	held.GivenBack = inPlace(shown.GivenBack, next.GivenBack)
	held.Login.Shown = shown.Login.Shown
	held.Recent = shown.Recent // a newer event would move all others
	held.Workspaces = shown.Workspaces
	held.Hint = inPlace(shown.Hint, next.Hint)
	held.More = inPlace(shown.More, next.More)
	held.StopMore = inPlace(shown.StopMore, next.StopMore)
	held.Warnings = make([]string, len(shown.Warnings))
	for i, w := range shown.Warnings {
		held.Warnings[i] = w
		if i < len(next.Warnings) {
			held.Warnings[i] = next.Warnings[i]
		}
	}
	return held
}

// inPlaces renews entries that are shown, and neither adds nor takes one away.
func inPlaces(shown, next []menuEntry) []menuEntry {
	fresh := make(map[string]menuEntry, len(next))
	for _, e := range next {
		fresh[e.ID] = e
	}
	held := make([]menuEntry, len(shown))
	for i, e := range shown {
		if f, ok := fresh[e.ID]; ok {
			held[i] = f
		} else {
			held[i] = e.ended()
		}
	}
	return held
}

// inPlace renews a line that is shown, and neither adds nor takes it away.
func inPlace(shown, next string) string {
	if shown == "" || next == "" {
		return shown
	}
	return next
}
