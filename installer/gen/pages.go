package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completions are those of the shells, where each looks for them.
func completions(root *cobra.Command, files map[string][]byte) error {
	var bash, zsh, fish bytes.Buffer
	if err := root.GenBashCompletionV2(&bash, true); err != nil {
		return err
	}
	if err := root.GenZshCompletion(&zsh); err != nil {
		return err
	}
	if err := root.GenFishCompletion(&fish, true); err != nil {
		return err
	}
	files["share/bash-completion/completions/lamplighter"] = bash.Bytes()
	files["share/zsh/site-functions/_lamplighter"] = zsh.Bytes()
	files["share/fish/vendor_completions.d/lamplighter.fish"] = fish.Bytes()
	return nil
}

// pages are the man pages of cmd and all verbs below it. They are not made by
// cobra/doc, which takes the plain texts of the verbs for Markdown and shows the
// values of flags in quotes.
func pages(cmd *cobra.Command, version string, date time.Time, files map[string][]byte) {
	files["share/man/man1/"+pageName(cmd)+".1"] = page(cmd, version, date)
	for _, verb := range shown(cmd) {
		pages(verb, version, date, files)
	}
}

// shown are the verbs below cmd that its help lists.
func shown(cmd *cobra.Command) []*cobra.Command {
	var verbs []*cobra.Command
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() && !verb.IsAdditionalHelpTopicCommand() {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page is one man page. Source: man(7), "Sections" and "Hyperlinks and fonts".
func page(cmd *cobra.Command, version string, date time.Time) []byte {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`.TH %s 1 %s %s Lamplighter`, quoted(strings.ToUpper(pageName(cmd))), quoted(date.Format(time.DateOnly)), quoted("Lamplighter "+version))
	// Neither words nor the options in them are to be torn apart.
	line(".nh\n.ad l")
	line(".SH NAME\n%s \\- %s", roff(pageName(cmd)), roff(cmd.Short))
	line(".SH SYNOPSIS\n.B %s", quoted(roff(cmd.UseLine())))
	if verbs := shown(cmd); len(verbs) > 0 && cmd.Runnable() {
		line(".br\n.B %s", quoted(roff(cmd.CommandPath()+" VERB …")))
	}
	line(".SH DESCRIPTION")
	description(line, cmd.Long, cmd.Short)
	if verbs := shown(cmd); len(verbs) > 0 {
		line(".SH VERBS")
		for _, verb := range verbs {
			line(".TP\n.BR %s (1)\n%s", quoted(roff(pageName(verb))), roff(verb.Short))
		}
	}
	options(line, "OPTIONS", cmd.NonInheritedFlags())
	options(line, "OPTIONS OF ALL VERBS", cmd.InheritedFlags())
	if cmd.Example != "" {
		line(".SH EXAMPLES\n.nf\n%s\n.fi", roff(strings.Trim(cmd.Example, "\n")))
	}
	if cmd.HasParent() {
		line(".SH SEE ALSO\n.BR %s (1)", quoted(roff(pageName(cmd.Parent()))))
	}
	return b.Bytes()
}

// description is a text in paragraphs, of which those with indented lines are
// shown as they are; or the short one where there is no long one.
func description(line func(string, ...any), long, short string) {
	if strings.TrimSpace(long) == "" {
		long = short + "."
	}
	for i, part := range strings.Split(strings.Trim(long, "\n"), "\n\n") {
		if i > 0 {
			line(".PP")
		}
		if indented := "\n" + part; strings.Contains(indented, "\n ") || strings.Contains(indented, "\n\t") {
			line(".nf\n%s\n.fi", roff(part))
		} else {
			line("%s", roff(part))
		}
	}
}

func options(line func(string, ...any), title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	line(".SH %s", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := `\fB` + roff("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + name
		}
		if value != "" {
			name += ` \fI` + roff(value) + `\fR`
		}
		line(".TP\n%s\n%s", name, roff(usage))
	})
}

// roff is text that shows as it stands. Source: groff_char(7) for the hyphen that
// can be copied into a shell, and for what else is a sign of its own in ASCII.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, "\t", "    ").Replace(text)
	lines := strings.Split(text, "\n")
	for i, each := range lines {
		if strings.HasPrefix(each, ".") {
			lines[i] = `\&` + each // else it were a request
		}
	}
	return strings.Join(lines, "\n")
}

// quoted is text as one argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\(dq`) + `"` }
