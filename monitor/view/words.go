package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
)

// Words are what faces say of a server. A face picks some of the clauses and
// shortens them. All of them are safe to show.
type Words struct {
	Title   string `json:"title"`   // "4711 - alpha"
	State   string `json:"state"`   // "live", "no project", "suspended"
	Client  string `json:"client"`  // who uses it: "Claude Code", "3 clients"; "" when that is not known
	Project string `json:"project"` // the name of the one that it belongs to, "" for none
	// Apart is in what it differs from others of its name and client: "in beta"; "" where
	// it has them for itself.
	Apart string   `json:"apart"`
	Short []Phrase `json:"short"` // how it is: "suspended", "busy"; green is not mentioned
	// Why says what else is to be known: the reason of whatever is not plainly live,
	// who shares it or why nobody does, that it is pinned, and that it is never ended.
	Why  []string `json:"why"`
	Next *Phrase  `json:"next"` // what will become of it, null when nothing is meant
	// Loses says in sentences what is lost when it is stopped.
	Loses []string `json:"loses"`
	// Restart says in a sentence what comes of a restart, "" where there is none.
	Restart string `json:"restart"`
	// Entry says from which entry of its client's settings it was started: "alpha of
	// Codex, for all projects"; "" when that is not known.
	Entry string `json:"entry"`
	// Outside says why it can only be seen from outside, a sentence; "" where its
	// dashboard can be asked.
	Outside string `json:"outside"`
}

// Phrase is a text that may need a time, which who draws it adds.
type Phrase struct {
	Text  string     `json:"text"`
	At    *time.Time `json:"at,omitempty"`    // the text goes on with the clock of then: "stops at"
	Since *time.Time `json:"since,omitempty"` // or with how long ago that is: "idle"
	Why   string     `json:"why,omitempty"`   // a part of a sentence
}

// Draw is the phrase without its reason, as it reads now.
func (p Phrase) Draw(now time.Time) string {
	switch {
	case p.At != nil:
		return p.Text + " " + monitor.Clock(*p.At, now)
	case p.Since != nil:
		return p.Text + " " + monitor.Span(now.Sub(*p.Since))
	}
	return p.Text
}

// words are those of a server, of which all facts are known by now.
func (s *Server) words(in *monitor.Instance) Words {
	w := Words{Title: s.Label, State: cmp.Or(s.condition(), StateWords(s.State)), Client: s.Who(clientName), Short: []Phrase{}, Why: []string{}, Loses: s.loses(in), Restart: s.restartWords(in), Entry: s.entryWords(), Outside: s.outside()}
	w.Project = projectName(in)
	if text := s.condition(); text != "" {
		w.Short = append(w.Short, Phrase{Text: text})
	}
	switch {
	case !s.live():
	case Value(s.Busy):
		w.Short = append(w.Short, Phrase{Text: "busy"})
	case s.IdleFrom() != nil:
		w.Short = append(w.Short, Phrase{Text: "idle", Since: s.IdleFrom()})
	}
	if s.tellsReason() && s.Reason != nil {
		w.Why = append(w.Why, s.ReasonWords())
	}
	w.Why = append(w.Why, SharingWords(in.Sharing)...)
	if s.askedByNobody() {
		w.Why = append(w.Why, "started by Lamplighter")
	}
	if s.GivenUpSince != nil {
		w.Why = append(w.Why, "given up: nobody is connected to it; it runs on until you stop it")
	}
	if s.Pinned {
		w.Why = append(w.Why, s.PinnedWords())
	}
	if s.Certainty == monitor.Unsure {
		who := "it registered itself"
		switch {
		case s.OnPipes:
			who = cmp.Or(s.clientName(), "a client") + " talks to it over pipes, and neither a rule nor an entry of its settings names it"
		case s.AloneBecause != nil:
			who = "a client runs it"
		}
		w.Why = append(w.Why, "not recognised: "+who+", so it is shown, and never ended")
	}
	switch {
	case s.ShutdownAt != nil:
		w.Next = &Phrase{Text: "stops at", At: s.ShutdownAt, Why: monitor.Clean(Value(s.ShutdownReason))}
	case s.KeptUntil != nil:
		w.Next = &Phrase{Text: "kept until", At: s.KeptUntil}
	case s.State == monitor.StateParked:
		w.Next = &Phrase{Text: "wakes at the next request"}
	case s.SharedBy != nil && s.State != monitor.StateZombie:
		w.Next = &Phrase{Text: "parked when idle"}
	case s.Pinned && s.endsWithClient():
		w.Next = &Phrase{Text: "ends with its client"}
	case s.Pinned:
		w.Next = &Phrase{Text: "stays: pinned"}
	}
	return w
}

// PinnedWords says what a pin does for the server.
func (s *Server) PinnedWords() string {
	if s.endsWithClient() {
		return "pinned; it still ends with its client"
	}
	return "pinned"
}

// endsWithClient reports whether the server ends by itself when its client does: one
// that holds its pipes.
func (s *Server) endsWithClient() bool {
	return s.Client != nil && !s.ClientGone && !s.Managed && s.SharedBy == nil && (Value(s.Transport) == "stdio" || s.AloneBecause != nil)
}

// loses says what is lost with a server, as far as that is known.
func (s *Server) loses(in *monitor.Instance) []string {
	lost := []string{}
	if Value(s.Busy) {
		lost = append(lost, "A call is running in it; its result will be lost.")
	}
	client := s.clientName()
	switch {
	case s.SharedBy != nil && len(s.Clients) == 0:
		lost = append(lost, "No client has it now.")
	case s.SharedBy != nil:
		lost = append(lost, monitor.Plural(len(s.Clients), "client stays", "clients stay")+" attached, and the next request starts it again.")
	case s.Managed && client != "":
		lost = append(lost, "It was started for "+client+": whoever uses it loses it, and has to ask for another.")
	case s.Managed:
		lost = append(lost, "Whoever uses it loses it, and has to ask for another.")
	case client != "" && s.cause() != monitor.CauseOrphaned && s.cause() != monitor.CauseSuspected:
		lost = append(lost, "Its client, "+client+", loses it. Most clients do not connect again until they are restarted.")
	}
	if Value(in.Evidence.KeepsState) {
		lost = append(lost, replLost)
	}
	return lost
}

const replLost = "The variables of its REPL are lost."

// restartWords says what comes of a restart.
func (s *Server) restartWords(in *monitor.Instance) string {
	words := ""
	switch Value(s.Restart) {
	case ClientsKept:
		words = "It starts again at once"
		if n := len(s.Clients); n > 0 {
			words += ", and " + monitor.Plural(n, "client stays", "clients stay") + " attached"
		}
		words += "."
	case ClientsLost:
		words = "It ends, and " + s.clientName() + " loses it. Most clients start a server again only when they are restarted."
	default:
		return ""
	}
	if Value(in.Evidence.KeepsState) {
		words += " " + replLost
	}
	return words
}

// entryWords names the entry that a server was started from.
func (s *Server) entryWords() string {
	whose := "for all projects"
	switch e := s.Entry; {
	case e == nil:
		return ""
	case e.Plugin != nil:
		whose = "from the plugin " + *e.Plugin
	case e.Scope == "project":
		whose = "for its project"
	}
	return fmt.Sprintf("%s of %s, %s", s.Entry.Name, s.Entry.Client, whose)
}

// clientName is what the program of its client is called in a sentence, "" when that is
// not known.
func (s *Server) clientName() string {
	if s.Client == nil {
		return ""
	}
	return programName(s.Client.Name)
}

// outside says why nothing is known from the server itself.
func (s *Server) outside() string {
	switch {
	case s.State == monitor.StateParked:
		return "It is parked. Its clients stay attached, and nothing of it runs until the next request."
	case s.cause() == monitor.CauseDefunct:
		return "It has exited, and its parent has not taken notice of that. Only an entry in the process table is left."
	case s.DashboardURL != nil && s.Port != nil:
		return ""
	case s.State == monitor.StateStarting:
		return "It is starting. Its dashboard has not answered yet."
	case s.Kind != monitor.KindSerena:
		return "This is what can be seen from outside."
	}
	return "Its dashboard is switched off or cannot be found. This is what can be seen from outside."
}

// Kept reports whether the user keeps the server from the policies now.
func (s *Server) Kept(now time.Time) bool { return s.KeptUntil != nil && s.KeptUntil.After(now) }

// NextAt is what will become of the server, as far as that lies ahead; nil when
// nothing is meant.
func (s *Server) NextAt(now time.Time) *Phrase {
	if s.ShutdownAt == nil && !s.Kept(now) {
		return nil
	}
	return s.Words.Next
}

// Name is the server beside its pid: the end of its label.
func (s *Server) Name() string {
	_, name, _ := strings.Cut(s.Label, " - ")
	return name
}

// CanStop reports whether an order to stop the server could be followed.
func (s *Server) CanStop() bool {
	return s.Certainty != monitor.Unsure && s.State != monitor.StateParked && s.cause() != monitor.CauseDefunct
}

func (s *Server) cause() monitor.Cause { return monitor.Cause(Value(s.Cause)) }

func (s *Server) live() bool {
	return s.State == monitor.StateProject || s.State == monitor.StateNoProject || s.State == monitor.StateLive
}

// StateWords names a state, one of a newer version by its text.
func StateWords(s monitor.State) string {
	switch s {
	case monitor.StateProject, monitor.StateLive:
		return "live"
	case monitor.StateNoProject:
		return "no project"
	case monitor.StateZombie:
		return "needs attention"
	}
	return cmp.Or(monitor.Clean(string(s)), "unknown")
}

// condition says what state a server is in, unless its label or the silence says
// so: NO PROJECT and parked stand in the label.
func (s *Server) condition() string {
	switch s.State {
	case monitor.StateProject, monitor.StateLive, monitor.StateParked:
		return ""
	case monitor.StateNoProject:
		if s.ProjectName == nil {
			return ""
		}
	case monitor.StateZombie:
		return cmp.Or(causeWords(s.cause()), StateWords(s.State))
	}
	return StateWords(s.State)
}

// causeWords names a cause, one of a newer version by its text.
func causeWords(c monitor.Cause) string {
	switch c {
	case monitor.CauseSuspected:
		return "suspected orphan"
	case monitor.CauseQueue:
		return "calls wait"
	case monitor.CauseFailing:
		return "calls fail"
	}
	return monitor.Clean(strings.ReplaceAll(string(c), "_", " "))
}

// tellsReason reports whether a server is not plainly live. A Serena is expected
// to have a dashboard.
func (s *Server) tellsReason() bool {
	return s.Problem != nil || s.State != monitor.StateProject && s.State != monitor.StateNoProject && (s.State != monitor.StateLive || s.Kind == monitor.KindSerena)
}

// ReasonWords is why a server is in its state, after the cause if it is red and the reason
// does not name it.
func (s *Server) ReasonWords() string {
	reason := monitor.Clean(Value(s.Reason))
	if s.Cause == nil || s.cause().OfHealth() {
		return reason
	}
	return monitor.Clean(*s.Cause) + ": " + reason
}

// WithoutDashboard says why a server has none.
func (s *Server) WithoutDashboard() string {
	switch {
	case s.State == monitor.StateZombie:
		return s.ReasonWords()
	case s.State == monitor.StateParked:
		return "it is parked: " + s.ReasonWords()
	case s.Kind != monitor.KindSerena && s.Kind != "":
		return "only Serena has one"
	}
	return StateWords(s.State)
}

// Reach says of a server that runs that it has no dashboard of its own.
func (s *Server) Reach() string {
	if s.State == monitor.StateLive && s.DashboardURL == nil {
		return "no dashboard"
	}
	return ""
}

// Who names the client of a server: "Claude Code", of a managed one "managed, for
// curl", or "managed" when nobody knows whom it is for, of a shared one with other
// than one client "3 clients"; "" when the client is not known. The name is cut to
// at most so many columns.
func (s *Server) Who(most int) string {
	name := ""
	if s.Client != nil {
		name = monitor.Shorten(monitor.Clean(s.Client.Name), most)
	}
	switch {
	case s.SharedBy != nil && len(s.Clients) == 1:
		return cmp.Or(monitor.Shorten(monitor.Clean(s.Clients[0].Name), most), s.Sharers())
	case s.SharedBy != nil:
		return s.Sharers()
	case s.Managed && name != "":
		return "managed, for " + name
	case s.Managed:
		return "managed"
	}
	return name
}

// askedByNobody reports whether we have started a server and do not know whom for.
func (s *Server) askedByNobody() bool { return s.Managed && s.Who(1) == "managed" }

// Listed is Who in a listing, in which a server that nobody is known to have asked
// for has no client.
func (s *Server) Listed(most int) string {
	if s.askedByNobody() {
		return ""
	}
	return s.Who(most)
}

// Loser names whom a server would be taken from, unless that one has gone. It is
// not said to use the server, which means that a call was answered a moment ago,
// or is being answered. Clients that share it stay attached; all are named, in so
// many columns.
func (s *Server) Loser(name, all int) string {
	if s.SharedBy != nil {
		return monitor.Shorten(ClientsInWords(s.Clients), all)
	}
	words := s.Who(name)
	switch {
	case s.Managed, words == "":
		return words
	case s.cause() == monitor.CauseOrphaned || s.cause() == monitor.CauseSuspected:
		return ""
	}
	return "client " + words
}

// Sharers counts the clients that share a server: "3 clients"; "" of any other.
func (s *Server) Sharers() string {
	if s.SharedBy == nil {
		return ""
	}
	return countClients(len(s.Clients))
}

func countClients(n int) string {
	if n == 0 {
		return "no clients"
	}
	return monitor.Plural(n, "client", "clients")
}

// The limits of ClientsInWords: programs call themselves what they like.
const (
	clientsNamed = 4  // programs that are named
	clientName   = 24 // columns of a name
)

// programName is what the program of a client is called in a sentence.
func programName(name string) string {
	return cmp.Or(monitor.Shorten(monitor.Clean(name), clientName), "unknown program")
}

// ClientsInWords counts clients and names their programs, those of most clients
// first: "3 clients: Claude Code ×2, Codex", "1 client: Codex", "no clients".
func ClientsInWords(list []Client) string {
	if len(list) == 0 {
		return countClients(0)
	}
	var names []string
	counts := make(map[string]int)
	for _, c := range list {
		name := programName(c.Name)
		if counts[name] == 0 {
			names = append(names, name)
		}
		counts[name]++
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	names = names[:min(len(names), clientsNamed)]
	left := len(list)
	for i, name := range names {
		left -= counts[name]
		if counts[name] > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, counts[name])
		}
	}
	words := countClients(len(list)) + ": " + strings.Join(names, ", ")
	if left > 0 {
		words += fmt.Sprintf(" and %d more", left)
	}
	return words
}

// SharingWords tells what is known of the clients that have a server through us,
// one clause each: "3 clients: Claude Code ×2, Codex", "2 requests under way",
// "saves 216 MB"; of one that a single client has for itself why it is not shared.
func SharingWords(s *monitor.Sharing) []string {
	switch {
	case s == nil:
		return nil
	case s.Alone != "":
		return []string{"not shared: " + monitor.Clean(s.Alone)}
	}
	words := []string{ClientsInWords(clientsOf(s))}
	if s.Waiting > 0 {
		words = append(words, monitor.Plural(s.Waiting, "request under way", "requests under way, one after another"))
	}
	if s.SavedBytes > 0 {
		words = append(words, "saves "+monitor.Memory(s.SavedBytes))
	}
	return words
}
