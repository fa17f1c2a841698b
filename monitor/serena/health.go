package serena

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// Signs are what one look at a Serena shows of its health.
type Signs struct {
	At      time.Time
	Version string
	Timeout time.Duration  // of a tool call; 0 when that is not known
	Records []Record       // that are new since the look before
	Last    *Task          // asked for before the records
	Queue   []Task         // likewise
	Below   []process.Stat // the processes below it, looked at after the records
}

// Health is what ReadHealth remembers of a Serena from one look to the next. The zero
// value knows nothing.
type Health struct {
	problems   map[string]*problem // by language
	languages  []string            // that the last initialisation started
	starting   []string            // that the log has told of since then
	exits      map[string][]Record
	ended      map[string]Record // by language: the exit after which it was not started again
	innerCrash *Record           // a language server has lost a process that it needs
	timedOut   *Record           // a call took too long, and Serena has not said which
	calls      map[int64]*call
	settled    int64           // the highest number of a task whose outcome is known
	failing    monitor.Problem // the last calls, if one after another failed by a fault
	lastFault  int64           // the number of the last of them
	lastFailed *call           // the last call that needed a language server, if it failed so
	front      seen
	behind     seen
	init       seen // the initialisation that runs
	suspended  seen // a language server that is stopped by a signal, and no call waits
	before     seen // all at the look before
	hadServers bool
}

// problem is one of a language server.
type problem struct {
	monitor.Problem
	task int64  // whose number a success has to exceed; 0: of an initialisation that goes on
	tool string // the task of a crash loop
}

// call is a task that the log has told of.
type call struct {
	task      string
	number    int64
	class     string // of the fault it failed by
	record    Record
	failed    bool   // it failed, by whatever
	restart   Record // when Serena began to start a language server again in it
	restarted string // its language
	crashed   bool   // it ended in this call
}

// seen is a task, or a language server, that was first seen in its place at some time, and
// the CPU time that the processes had used by then. The zero value is none.
type seen struct {
	what  string
	since time.Time
	cpu   map[monitor.Identity]time.Duration // never changed
}

// The limits of ReadHealth.
const (
	defaultToolTimeout = 240 * time.Second // of Serena
	crashesForLoop     = 3
	crashWindow        = 10 * time.Minute
	faultsForRed       = 3
	idleCPU            = 20 * time.Millisecond // that a language server which hangs may use
)

// ReadHealth judges a Serena by the signs of one look and what it remembers of
// earlier ones: the worst that is wrong, or if nothing is, all that is only to be
// mentioned. Of a version that is not known nothing is said.
func ReadHealth(h *Health, s Signs) []monitor.Problem {
	v, known := versionOf(s.Version)
	if !known {
		return nil
	}
	if h.calls == nil {
		h.problems, h.calls, h.exits, h.ended = map[string]*problem{}, map[int64]*call{}, map[string][]Record{}, map[string]Record{}
	}
	l := look{Health: h, v: v, s: s, waits: -1, now: seen{since: s.At, cpu: make(map[monitor.Identity]time.Duration, len(s.Below))}}
	for _, p := range s.Below {
		if p.State != process.Unreaped {
			l.now.cpu[p.Identity], l.running = p.CPU, true
		}
		l.stopped = l.stopped || p.State == process.Stopped
	}
	h.hadServers = h.hadServers || l.running
	for _, r := range s.Records {
		// It was written since the look before, whatever its clock says.
		if r.At.After(s.At) {
			r.At = s.At
		} else if r.At.Before(h.before.since) {
			r.At = h.before.since
		}
		l.readRecord(r)
	}
	l.noteLast()
	l.noteMissing()
	l.noteCrashes()
	l.noteQueue()
	latest := h.settled
	for _, task := range s.Queue {
		latest = max(latest, TaskNumber(task.Name))
	}
	for _, p := range h.problems {
		p.task = cmp.Or(p.task, latest)
	}
	maps.DeleteFunc(h.calls, func(number int64, _ *call) bool { return number < h.settled })
	list := l.listProblems()
	h.before = l.now
	return list
}

// look is one look.
type look struct {
	*Health
	v                version
	s                Signs
	now              seen
	running, stopped bool  // a process below the server
	missing          *call // after which there was no language server, though it was started again
	waits            int   // how many calls wait
}

// readRecord takes in one record.
func (l *look) readRecord(r Record) {
	const calls, executor = "serena.tools.tools_base:", "serena.task_executor:"
	failure := r.Level == "ERROR"
	language, starts := strings.CutPrefix(r.Thread, starterOf)
	language, reads := strings.CutPrefix(language, readerOf)
	if starts || reads {
		if !slices.Contains(l.starting, language) {
			l.starting = append(l.starting, language)
		}
		isItsOwn := func(of string) bool { return of == language || of == "" }
		switch {
		case starts && failure && r.Where == "serena.ls_manager:_start_language_server":
			p := languageProblem(monitor.StartFailed, language, r)
			p.Reason = reasonOf(r.Text, "language server for language "+language+": ", "language server "+language+": ")
			l.problems[language] = &problem{Problem: p}
			delete(l.ended, language)
		case starts && strings.Contains(r.Text, " completed in "):
			maps.DeleteFunc(l.problems, func(of string, p *problem) bool { return isItsOwn(of) && p.Kind != monitor.CrashLoop })
			delete(l.ended, language)
		case reads && failure && r.Where == "solidlsp.ls_process:_read_ls_process_stdout" && strings.HasPrefix(r.Text, "LanguageServerTerminatedException"):
			l.exits[language] = append(l.exits[language], r)
			l.ended[language] = r
			// What does not answer has gone.
			maps.DeleteFunc(l.problems, func(of string, p *problem) bool { return isItsOwn(of) && p.Kind == monitor.Hangs })
		case reads && r.Level == "WARNING" && r.Where == "solidlsp.language_servers.typescript_language_server:window_log_message" && strings.Contains(r.Text, "abnormal exit"):
			l.innerCrash = &r
		}
		return
	}
	if failure && r.Where == calls+"apply_ex" && (strings.Contains(r.Text, "timed out") || strings.Contains(r.Text, timeoutError)) {
		l.timedOut = &r
	}
	c := l.callOf(r.Thread)
	switch {
	case c.number == 0: // no task
	case r.Level == "WARNING" && r.Where == "serena.ls_manager:_ensure_functional_ls" && strings.Contains(r.Text, "not running; restarting"):
		_, language, _ := strings.Cut(r.Text, "for language ")
		language, _, _ = strings.Cut(language, " is not")
		c.restarted, c.restart = language, r
		delete(l.ended, language)
	case failure && r.Where == calls+"task" && strings.HasPrefix(r.Text, "Language server terminated while executing tool"):
		// It starts again, and the call is repeated.
		c.restarted, c.restart, c.crashed = l.onlyLanguage(), r, true
		clear(l.ended)
	case failure && r.Where == executor+"run_task" && IsInit(r.Thread):
		c.failed = true
		l.initFailed(c.number, r)
	case r.Where == executor+"stop" && strings.Contains(r.Text, " completed in "):
		l.noteSuccess(c)
	case failure && r.Where == calls+"task" && IsToolCall(r.Thread):
		if class := l.v.classOf(r.Text); class != "" && !c.failed {
			l.noteFailure(c, class, r)
		}
	case r.Where == calls+"task" && isREPL(r.Thread):
		result, is := strings.CutPrefix(r.Text, "Result: ")
		if class, _, ok := strings.Cut(result, ": "); ok && is && ofLanguageServer(class) {
			l.noteFailure(c, class, r)
		}
	case failure && strings.HasPrefix(r.Where, executor):
		c.failed = true
	}
}

// How the names of threads begin that start a language server, and that read from it.
const (
	starterOf = "StartLS:"
	readerOf  = "LSP-stdout-reader:"
)

// callOf is what is known of a task.
func (l *look) callOf(task string) *call {
	number := TaskNumber(task)
	if l.calls[number] == nil {
		l.calls[number] = &call{task: task, number: number}
	}
	return l.calls[number]
}

// noteLast takes in the last execution, whose records have been read.
func (l *look) noteLast() {
	last := l.s.Last
	if last == nil || last.IsRunning {
		return
	}
	number := TaskNumber(last.Name)
	if number <= l.settled {
		return
	}
	c := l.callOf(last.Name)
	switch {
	case last.Finished:
		l.noteSuccess(c)
	case l.timedOut != nil && !c.failed && needsLanguageServer(c.task):
		l.noteFailure(c, timeoutError, *l.timedOut)
	}
	l.settled = max(l.settled, number)
	l.timedOut = nil
}

// noteSuccess takes note that a task has ended, well unless its records told otherwise.
func (l *look) noteSuccess(c *call) {
	known := c.failed || c.number <= l.settled
	if l.settled = max(l.settled, c.number); known {
		return
	}
	if IsInit(c.task) {
		maps.DeleteFunc(l.problems, func(_ string, p *problem) bool { return p.task < c.number })
		l.missing = nil
		l.initialised()
		return
	}
	if !IsToolCall(c.task) {
		return
	}
	l.failing = monitor.Problem{}
	if c.restart.Where != "" && !l.running && l.hadServers {
		l.missing = c
		return
	}
	asked := needsLanguageServer(c.task)
	maps.DeleteFunc(l.problems, func(_ string, p *problem) bool {
		switch {
		case c.number <= p.task || p.task == 0:
			return false
		case p.Kind == monitor.CrashLoop:
			return toolOf(c.task) == toolOf(p.tool)
		}
		// What Serena has in its cache it answers without a language server that works. What is
		// stopped by a signal may be any process below it, and tells only of one that hangs.
		mayAsk := isREPL(c.task) && (p.Kind == monitor.RestartFailed || p.Kind == monitor.Hangs)
		return (asked || mayAsk) && l.running && !(l.stopped && p.Kind == monitor.Hangs)
	})
	if asked || isREPL(c.task) {
		l.lastFailed = nil
	}
	if asked && l.running {
		clear(l.ended)
	}
}

// noteFailure takes note that a call has failed. What is no fault of the server proves
// nothing, but that calls have not failed one after another.
func (l *look) noteFailure(c *call, class string, r Record) {
	c.failed, c.record = true, r
	l.settled = max(l.settled, c.number)
	if !isFault(class, r.Text) {
		if l.failing.Calls < faultsForRed {
			l.failing = monitor.Problem{}
		}
		return
	}
	c.class = class
	if !isREPL(c.task) {
		l.noteFault(c)
	}
	if needsLanguageServer(c.task) || isREPL(c.task) {
		l.lastFailed = c
	}
	switch {
	case c.restart.Where != "" && (class != lspException && class != timeoutError || !l.running && !c.crashed):
		l.addProblem(languageProblem(monitor.RestartFailed, c.restarted, c.restart, r), c)
	case class == crashedInside && l.innerCrash != nil:
		l.addProblem(languageProblem(monitor.CrashedInside, strings.TrimPrefix(l.innerCrash.Thread, readerOf), *l.innerCrash, r), c)
	case class == timeoutError && l.lastFailed == c && l.hasHung(c):
		p := languageProblem(monitor.Hangs, l.onlyLanguage(), r)
		p.Span, p.Stopped = l.timeWaited(r), l.stopped
		l.addProblem(p, c)
	}
}

// noteFault counts a call that failed by a fault.
func (l *look) noteFault(c *call) {
	f := &l.failing
	if f.Calls < faultsForRed && l.lastFault+1 != c.number {
		*f = monitor.Problem{} // what came between is not known to have failed
	}
	f.Cause, f.Reason, f.Since = monitor.CauseFailing, c.class, cmp.Or(f.Since, c.record.At)
	f.Calls++
	f.Evidence = append(f.Evidence, c.record.String())
	f.Evidence = f.Evidence[max(len(f.Evidence)-faultsForRed, 0):]
	l.lastFault = c.number
}

// hasHung reports whether the language servers used no CPU while a call waited for one.
func (l *look) hasHung(c *call) bool {
	if l.stopped {
		return l.s.At.Sub(c.record.At) < crashWindow // else it was not stopped then
	}
	then := l.before
	if l.front.what == c.task {
		then = l.front
	}
	if then.cpu == nil || !l.running || l.s.At.Sub(then.since) < l.timeWaited(c.record)/2 {
		return false
	}
	return l.cpuSince(then) <= idleCPU
}

// cpuSince is how much CPU time the processes have used since then.
func (l *look) cpuSince(then seen) (used time.Duration) {
	for id, cpu := range l.now.cpu {
		used += cpu - then.cpu[id]
	}
	return used
}

// timeWaited is how long a call had waited that has run into its time-out.
func (l *look) timeWaited(r Record) time.Duration {
	for _, before := range []string{"timeout=", "timed out after "} {
		if _, text, _ := strings.Cut(r.Text, before); secondsIn(text) > 0 {
			return secondsIn(text)
		}
	}
	return l.toolTimeout()
}

func (l *look) toolTimeout() time.Duration { return cmp.Or(l.s.Timeout, defaultToolTimeout) }

// initFailed takes note that an initialisation has failed: what it could not start is
// known by now, and all that was there before has gone.
func (l *look) initFailed(number int64, r Record) {
	l.settled = max(l.settled, number)
	maps.DeleteFunc(l.problems, func(_ string, p *problem) bool { return p.task != 0 && p.task < number })
	others := slices.DeleteFunc(slices.Clone(l.starting), func(language string) bool { return l.problems[language] != nil })
	for _, p := range l.problems {
		p.task, p.Others = number, others
	}
	if len(l.problems) == 0 {
		p := languageProblem(monitor.StartFailed, "", r)
		p.Reason = reasonOf(r.Text, r.Thread+": ")
		l.problems[""] = &problem{Problem: p, task: number}
	}
	l.initialised()
}

// initialised takes note that other language servers are there now than before.
func (l *look) initialised() {
	clear(l.ended)
	clear(l.exits)
	l.languages, l.starting = l.starting, nil
}

// onlyLanguage is that of the project, "" when it has several.
func (l *look) onlyLanguage() string {
	all := slices.Concat(l.languages, l.starting)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 1 {
		return all[0]
	}
	return ""
}

// addProblem notes a problem that a call has shown, unless a worse one of its language is
// known.
func (l *look) addProblem(p monitor.Problem, c *call) {
	if was := l.problems[p.Language]; was != nil {
		if rank(was.Kind) < rank(p.Kind) {
			was.task = max(was.task, c.number)
			return
		}
		if was.Kind == p.Kind {
			p.Since = was.Since
		}
	}
	l.problems[p.Language] = &problem{Problem: p, task: c.number, tool: c.task}
	delete(l.ended, p.Language)
}

// rank is lower for what explains more.
func rank(k monitor.ProblemKind) int {
	return slices.Index([]monitor.ProblemKind{monitor.StartFailed, monitor.CrashLoop, monitor.RestartFailed, monitor.CrashedInside, monitor.Hangs}, k)
}

// noteMissing finds a language server that is not there after a call in which it was
// started again, and has not ended since.
func (l *look) noteMissing() {
	c := l.missing
	if c != nil && !slices.ContainsFunc(l.exits[c.restarted], func(r Record) bool { return r.At.After(c.restart.At) }) {
		l.addProblem(languageProblem(monitor.RestartFailed, c.restarted, c.restart), c)
	}
}

// noteCrashes finds language servers that crash again and again.
func (l *look) noteCrashes() {
	for language, exits := range l.exits {
		exits = slices.DeleteFunc(exits, func(r Record) bool { return l.s.At.Sub(r.At) >= crashWindow })
		l.exits[language] = exits
		if p := l.problems[language]; len(exits) == 0 && p != nil && p.Kind == monitor.CrashLoop {
			delete(l.problems, language)
		}
		if len(exits) < crashesForLoop || l.lastFailed == nil || l.lastFailed.class != lspException || l.lastFailed.record.At.Before(exits[0].At) {
			continue
		}
		p := languageProblem(monitor.CrashLoop, language, exits[len(exits)-1], l.lastFailed.record)
		p.Calls, p.Span, p.Since = len(exits), exits[len(exits)-1].At.Sub(exits[0].At), exits[0].At
		l.addProblem(p, l.lastFailed)
	}
}

// noteQueue takes note of since when the first two calls are in their place, since when
// an initialisation runs, and since when a language server is stopped although no call
// waits for it.
func (l *look) noteQueue() {
	var front, behind, init, stopped string
	var places []string // of calls, and of whatever runs before them
	for _, task := range l.s.Queue {
		isCall := IsToolCall(task.Name)
		if isCall {
			l.waits++ // but for the first, which runs
		}
		if isCall || task.IsRunning {
			places = append(places, task.Name)
		}
		if isCall && task.IsRunning && len(places) == 1 {
			front = task.Name
		}
		if task.IsRunning && IsInit(task.Name) {
			init = task.Name
		}
	}
	if front != "" && len(places) > 1 {
		behind = places[1]
	}
	if l.stopped && l.waits < 0 {
		stopped = "a language server"
	}
	if front != l.front.what {
		l.behind = seen{} // for another one
	}
	for was, what := range map[*seen]string{&l.front: front, &l.behind: behind, &l.init: init, &l.suspended: stopped} {
		if what != was.what {
			*was = seen{what, l.s.At, l.now.cpu}
		}
	}
}

// startingNote is what is to be mentioned of an initialisation.
func (l *look) startingNote() monitor.Problem {
	p := monitor.Problem{Kind: monitor.Starting, Language: l.onlyLanguage(), Since: l.init.since, Evidence: []string{l.init.what}}
	switch {
	case !l.running:
		p.Reason = "no process of it runs yet"
	case l.before.cpu == nil:
	case l.cpuSince(l.before) > idleCPU:
		p.Reason = "it uses the CPU"
	default:
		p.Reason = "it uses no CPU"
	}
	return p
}

// queueProblem is the problem that calls wait for too long.
func (l *look) queueProblem() (monitor.Problem, bool) {
	since, limit := l.behind.since, l.toolTimeout()/4
	if l.v.blocks {
		since, limit = l.front.since, l.toolTimeout()
	}
	if l.behind.what == "" || l.s.At.Sub(since) <= limit {
		return monitor.Problem{}, false
	}
	return monitor.Problem{
		Cause: monitor.CauseQueue, Reason: l.front.what, Calls: l.waits, Since: l.front.since, Evidence: []string{l.front.what, l.behind.what},
	}, true
}

// listProblems is what is wrong by now, the worst of it alone, or else what is to be
// mentioned.
func (l *look) listProblems() (list []monitor.Problem) {
	if len(l.problems) > 0 {
		worst := slices.MinFunc(slices.Collect(maps.Values(l.problems)), func(a, b *problem) int {
			return cmp.Or(rank(a.Kind)-rank(b.Kind), a.Since.Compare(b.Since), strings.Compare(a.Language, b.Language))
		})
		return []monitor.Problem{worst.Problem}
	}
	if p, waits := l.queueProblem(); waits {
		return []monitor.Problem{p}
	}
	if l.failing.Calls >= faultsForRed {
		return []monitor.Problem{l.failing}
	}
	if l.init.what != "" {
		list = append(list, l.startingNote())
	}
	for _, language := range slices.Sorted(maps.Keys(l.ended)) {
		p := languageProblem(monitor.Ended, language, l.ended[language])
		p.Cause = monitor.CauseNone
		list = append(list, p)
	}
	if l.suspended.what != "" {
		p := monitor.Problem{Kind: monitor.Suspended, Language: l.onlyLanguage(), Since: l.suspended.since}
		for _, below := range l.s.Below {
			if below.State == process.Stopped {
				p.Evidence = append(p.Evidence, fmt.Sprintf("process %d is stopped by a signal", below.PID))
			}
		}
		list = append(list, p)
	}
	return list
}

// languageProblem is one that records show, the first of which tells since when.
func languageProblem(kind monitor.ProblemKind, language string, evidence ...Record) monitor.Problem {
	p := monitor.Problem{Cause: monitor.CauseLanguageServer, Kind: kind, Language: language, Since: evidence[0].At}
	for _, r := range evidence {
		p.Evidence = append(p.Evidence, r.String())
	}
	return p
}

// reasonOf is the first sentence of what comes after one of these.
func reasonOf(text string, after ...string) string {
	text, _, _ = strings.Cut(text, "\n")
	for _, before := range after {
		if _, reason, found := strings.Cut(text, before); found {
			reason, _, _ = strings.Cut(reason, ". ")
			return strings.TrimSuffix(reason, ".")
		}
	}
	return ""
}
