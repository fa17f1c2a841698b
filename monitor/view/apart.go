package view

import (
	"fmt"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// apartColumns is how much is shown of what tells servers apart.
const apartColumns = 40

// tellApart finds what servers differ in that have one name and one client, "" of others.
func tellApart(all []*Server) []string {
	apart, alike := make([]string, len(all)), make(map[[2]string][]int)
	for i, s := range all {
		if !s.OnPipes {
			key := [2]string{s.Name(), s.Words.Client}
			alike[key] = append(alike[key], i)
		}
	}
	for _, places := range alike {
		if len(places) < 2 {
			continue
		}
		list := make([]*Server, len(places))
		for i, at := range places {
			list[i] = all[at]
		}
		most, best := 1, []string(nil)
		for _, differ := range differences(list) {
			values, distinct := make([]string, len(list)), make(map[string]bool)
			for i, s := range list {
				values[i] = differ(s)
				distinct[values[i]] = true
			}
			if len(distinct) > most {
				most, best = len(distinct), values
			}
		}
		for i, text := range best {
			apart[places[i]] = monitor.Shorten(monitor.Clean(text), apartColumns)
		}
	}
	return apart
}

// differences are what servers may be told apart by, what people know best first.
func differences(list []*Server) []func(*Server) string {
	labelled := func(label, value string) string {
		if value == "" {
			return ""
		}
		return label + " " + value
	}
	slashed := func(dir *string) string { return strings.ReplaceAll(Value(dir), `\`, "/") }
	return []func(*Server) string{
		func(s *Server) string { return labelled("in", slashed(s.ProjectRoot)) },
		func(s *Server) string { return labelled("in", lastPart(slashed(s.Directory))) },
		func(s *Server) string { return labelled("in", slashed(s.Directory)) },
		func(s *Server) string { return labelled("context", Value(s.Context)) },
		firstDifference(list),
		func(s *Server) string {
			if s.Client == nil {
				return ""
			}
			return fmt.Sprintf("client %d", s.Client.PID)
		},
	}
}

// firstDifference gives of each server the first word in which their commands differ.
func firstDifference(list []*Server) func(*Server) string {
	words := make(map[*Server][]string, len(list))
	for _, s := range list {
		words[s] = strings.Fields(Value(s.Command))
	}
	for at := 0; ; at++ {
		word := func(s *Server) string {
			if at < len(words[s]) {
				return words[s][at]
			}
			return ""
		}
		first := word(list[0])
		if first == "" || slices.ContainsFunc(list, func(s *Server) bool { return word(s) != first }) {
			return word
		}
	}
}

// lastPart is what a path ends with, with slashes.
func lastPart(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
