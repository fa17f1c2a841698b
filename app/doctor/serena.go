package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// serenaFacts are the ways to start Serena, and the servers that run.
type serenaFacts struct {
	whose    string // environment was used, in words
	where    string // the directory for which a session would be asked; "" for none
	named    []string
	verdicts []launch.Verdict
	skipped  error // why no candidate was run
	around   surroundings

	running  []*view.Server
	unknown  bool // which servers run is not known
	project  projectFacts
	starters []starter
}

// starter is a template of the settings, with the verdict on its program.
type starter struct {
	name    string
	verdict launch.Verdict
}

// examineSerena looks at how Serena is started here.
func examineSerena(ctx context.Context, o Options, w world) []Line {
	f := serenaFacts{whose: w.whose(), where: o.Directory, named: w.settings.Sessions().Serena.Command, running: w.background.instances}
	if !w.background.runs() {
		var err error
		if f.running, err = o.Scan(ctx); err != nil {
			f.unknown = true
		}
	}
	f.gatherVerdicts(ctx, o, w)
	login, _ := w.finder.LoginPath(ctx) // what is wrong with it stands below PATH
	dirs := append(pathDirs(variable(w.environ, "PATH")), pathDirs(login)...)
	f.project = gatherProject(o.Directory, o.Home, dirs, w.environ)
	f.starters = gatherStarters(ctx, o, w)
	return judgeSerena(f)
}

// gatherVerdicts runs the candidates.
func (f *serenaFacts) gatherVerdicts(ctx context.Context, o Options, w world) {
	if w.noAway != nil {
		f.skipped = w.noAway
		return
	}
	f.verdicts = f.theirs(w.finder.CheckAll(ctx, launch.Wanted{Command: f.named, Project: o.Directory}))
	f.around = gatherSurroundings(f.verdicts, o, w)
}

// theirs puts the right name to the process whose environment was used: the
// finder calls it this one.
func (f *serenaFacts) theirs(list []launch.Verdict) []launch.Verdict {
	for i := range list {
		v := &list[i]
		v.Source = strings.ReplaceAll(v.Source, "this process", f.whose)
		v.Detail = strings.ReplaceAll(v.Detail, "this process", f.whose)
	}
	return list
}

// gatherStarters looks for the programs of templates. They are not run: what
// they are is not known.
func gatherStarters(ctx context.Context, o Options, w world) []starter {
	var list []starter
	for _, t := range w.settings.Sessions().Templates {
		// What is the project's is another program in each.
		if len(t.Command) == 0 || strings.Contains(t.Command[0], "{") {
			continue
		}
		s := starter{name: t.Name}
		for _, v := range w.finder.CheckAll(ctx, launch.Wanted{Command: t.Command, Project: o.Directory}) {
			s.verdict = v
			if v.OK {
				break
			}
		}
		list = append(list, s)
	}
	return list
}

func judgeSerena(f serenaFacts) []Line {
	lines := judgeCandidates(f)
	for _, s := range f.starters {
		l := Line{Mark: OK, Text: fmt.Sprintf("template %s starts %s", s.name, shown(s.verdict.Command))}
		if !s.verdict.OK {
			l = Line{
				Mark: Broken, Text: fmt.Sprintf("template %s: %s", s.name, s.verdict.Detail),
				Means: "No server can be started from it.", Do: "Write the program's full path into templates of the settings, or install it.",
			}
		}
		lines = append(lines, l)
	}
	for _, l := range judgeRunning(f.running, f.unknown) {
		// What a version cannot do is said of the one to start already.
		if !slices.ContainsFunc(lines, func(said Line) bool { return said.Mark == l.Mark && said.Text == l.Text }) {
			lines = append(lines, l)
		}
	}
	return append(lines, judgeProject(f.project)...)
}

// judgeCandidates is about each way to start Serena. What does not work matters
// where nothing else does, and where the settings name it.
func judgeCandidates(f serenaFacts) []Line {
	if f.skipped != nil {
		return []Line{{
			Mark: Warn, Text: fmt.Sprintf("no way to start Serena was tried: %v", f.skipped),
			Means: "There is no place for files that are thrown away afterwards.", Do: "Make room on the disk of " + os.TempDir() + ", or set TMPDIR.",
		}}
	}
	chosen := slices.IndexFunc(f.verdicts, func(v launch.Verdict) bool { return v.OK })
	fetched := slices.IndexFunc(f.verdicts, unfetched)
	var lines []Line
	switch {
	case chosen >= 0:
		v := f.verdicts[chosen]
		l := Line{Mark: OK, Text: fmt.Sprintf("Serena %s starts with %s (%s)%s", orUnknown(v.Version), shown(v.Command), v.Source, f.session())}
		l.Candidate = candidate(v, true)
		lines = append(lines, l)
		lines = append(lines, limitations(v.Version)...)
	case fetched >= 0:
		lines = append(lines, Line{
			Mark: Warn, Text: "Serena is not installed; uvx would fetch it with the first start",
			Means: "The first start may take longer than a start may, and fail for that.",
			Do:    "Install it once: uv tool install -p 3.13 serena-agent",
		})
	default:
		l := Line{
			Mark: Broken, Text: fmt.Sprintf("Serena cannot be started%s: none of %s works, with the environment of %s", f.session(), monitor.Plural(len(f.verdicts), "way", "ways"), f.whose),
			Means: "A session that is asked for is refused with these reasons. Servers that your assistants start are not concerned.",
			Do:    "Install it: uv tool install -p 3.13 serena-agent. Or name the command in session_command of the settings.",
		}
		if i := slices.IndexFunc(f.verdicts, ownSerena); i >= 0 {
			l.Means = "A Serena is here, but belongs to this project, whose programs are run only when the settings name them. For another directory the answer may be another one."
			l.Do = "If you trust it, write into the settings: " + f.verdicts[i].Setting()
		}
		lines = append(lines, l)
	}
	for i, v := range f.verdicts {
		if i != chosen {
			lines = append(lines, judgeCandidate(f, v, i, chosen, fetched))
		}
	}
	return lines
}

// session says for which session a verdict holds: what is a project's own is
// not run there, but elsewhere it may be.
func (f serenaFacts) session() string {
	if f.where == "" {
		return ""
	}
	return " for a session on " + f.where
}

// ownSerena tells a Serena that is not run because it is the project's own.
func ownSerena(v launch.Verdict) bool {
	return v.Untrusted && v.Problem == launch.NotRun && program(v) == "serena"
}

// judgeCandidate is about one that is not the one to be started.
func judgeCandidate(f serenaFacts, v launch.Verdict, i, chosen, fetched int) Line {
	l := Line{Mark: Warn, Candidate: candidate(v, false)}
	named := strings.HasPrefix(v.Source, "the settings")
	switch {
	case v.OK:
		l.Mark, l.Text = OK, fmt.Sprintf("also works: Serena %s with %s (%s)", orUnknown(v.Version), shown(v.Command), v.Source)
		return l
	case chosen >= 0 && !named && v.Problem != launch.Silent:
		l.Mark, l.Text = OK, fmt.Sprintf("not needed: %s (%s): %s", shown(v.Command), v.Source, inShort(v))
		return l
	case chosen < 0 && fetched < 0 && v.Problem != launch.NotRun:
		l.Mark = Broken
	}
	l.Text = fmt.Sprintf("%s (%s): %s", shown(v.Command), v.Source, v.Detail)
	l.Means, l.Do = explain(v, f.around)
	if l.Do != "" && l.Do == v.Advice { // which the verdict ends with
		l.Text = strings.TrimSuffix(l.Text, " "+v.Advice)
	}
	if named && chosen >= 0 && i < chosen {
		l.Means = strings.TrimSpace(l.Means + " What the settings name is tried first, then the next that works is taken.")
	}
	return l
}

// inShort is why a way that is not needed does not work. The whole of it is in
// the verdict.
func inShort(v launch.Verdict) string {
	switch v.Problem {
	case launch.NotFound:
		return "it is not there"
	case launch.ModuleNotFound:
		return "Serena is not installed for it"
	case launch.NotRun:
		if v.Untrusted {
			return "it is the project's own and was not run"
		}
	case launch.NoProblem, launch.NotExecutable, launch.WrongVersion, launch.TimedOut, launch.Silent, launch.Failed:
	}
	return v.Detail
}

// candidate is a verdict as it is reported.
func candidate(v launch.Verdict, chosen bool) *Candidate {
	clean := func(list []string) []string {
		out := make([]string, len(list))
		for i, s := range list {
			out[i] = monitor.Clean(s)
		}
		return out
	}
	return &Candidate{
		Command: clean(v.Command), Source: v.Source, Works: v.OK, Chosen: chosen, Version: monitor.Clean(v.Version), Problem: v.Problem,
		Detail: monitor.Clean(v.Detail), Stderr: clean(v.Stderr), Interpreter: monitor.Clean(v.Interpreter), SysPath: clean(v.SysPath), Untrusted: v.Untrusted,
	}
}

// shown is a command for people: a program that is handed to an interpreter as
// text is left out.
func shown(command []string) string {
	short := slices.Clone(command)
	for i := 1; i < len(short); i++ {
		if short[i-1] == "-c" && strings.Contains(short[i], " ") {
			short[i] = "…"
		}
	}
	return monitor.Quoted(short)
}

func orUnknown(version string) string {
	if version == "" {
		return "of an unknown version"
	}
	return version
}

// judgeRunning is about the versions of the servers that run.
func judgeRunning(list []*view.Server, unknown bool) []Line {
	if unknown {
		return []Line{{Mark: Warn, Text: "which servers run is not known: the process table cannot be read"}}
	}
	count := map[string]int{}
	total := 0
	for _, s := range list {
		if s.Kind == monitor.KindSerena {
			count[view.Value(s.Version)]++
			total++
		}
	}
	if total == 0 {
		return []Line{{Mark: OK, Text: "no Serena server runs now"}}
	}
	var versions []string
	for v := range count {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b string) int { return launch.CompareVersions(b, a) })
	var lines []Line
	for _, v := range versions {
		if v == "" {
			lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s not told which version it is (before 1.1.0, starting, or not answering)", monitor.Plural(count[v], "running server has", "running servers have"))})
			continue
		}
		lines = append(lines, Line{Mark: OK, Text: fmt.Sprintf("%s Serena %s", monitor.Plural(count[v], "running server is", "running servers are"), v)})
		lines = append(lines, limitations(v)...)
	}
	return lines
}
