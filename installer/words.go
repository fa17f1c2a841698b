package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"lamplighter/monitor/statefile"
)

// String is the change in words, as a dry run prints it.
func (c Change) String() string {
	text := c.what()
	if c.Backup {
		text += ", keeping what is there as " + shown(c.Path+BackupSuffix)
	}
	if c.Why != "" {
		text += " (" + c.Why + ")"
	}
	return text
}

func (c Change) what() string {
	switch c.Op {
	case OpWrite:
		return "write " + shown(c.Path)
	case OpCopy:
		text := "copy " + shown(c.From) + " to " + shown(c.Path)
		if c.GUI {
			text += " as a program without a console"
		}
		return text
	case OpLink:
		return "link " + shown(c.Path) + " to " + shown(c.From)
	case OpRemove:
		return "remove " + shown(c.Path)
	case OpRemoveTree:
		text := "remove the directory " + shown(c.Path)
		if c.Known {
			text = "remove what Lamplighter has written into the directory " + shown(c.Path)
		}
		if len(c.Keep) > 0 {
			text += ", but not " + strings.Join(c.Keep, ", ")
		}
		return text
	case OpSetValue:
		return "set " + shown(c.Path+`\`+c.Name) + " to " + shown(string(c.Content))
	case OpDeleteValue:
		return "delete " + shown(c.Path+`\`+c.Name)
	case OpRun:
		words := make([]string, len(c.Command))
		for n, word := range c.Command {
			words[n] = word
			if word == "" || strings.ContainsAny(word, " \t\"'\\$&|;<>()*?#~`") || shown(word) != word {
				words[n] = strconv.Quote(word)
			}
		}
		return "run " + strings.Join(words, " ")
	}
	return string(c.Op) + " " + shown(c.Path)
}

// shown is a path or a text as it can be printed: what would be taken for
// something else by a terminal is quoted.
func shown(text string) string {
	for _, r := range text {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(text)
		}
	}
	if text == "" {
		return `""`
	}
	return text
}

// failure is an error of the system about a file, as a sentence with what to do.
func failure(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	advice := ""
	switch {
	case errors.Is(err, syscall.ENOSPC), isFull(err):
		advice = "; make room on that disk"
	case errors.Is(err, syscall.EROFS):
		advice = "; make that disk writable"
	case errors.Is(err, fs.ErrPermission):
		advice = "; give yourself the right to write there"
	}
	return fmt.Errorf("%s %s: %w%s", doing, shown(path), statefile.Cause(err), advice)
}
