package view

import (
	"fmt"

	"lamplighter/monitor"
)

// GivenUp are the servers that are dead to everybody, in one line.
type GivenUp struct {
	Words string `json:"words"` // "2 given up, 400 MB"; may change in any release
	IDs   []ID   `json:"ids"`
}

// GivenUpIn finds them; nil for none.
func GivenUpIn(s *monitor.Snapshot) *GivenUp {
	g := &GivenUp{}
	for _, in := range s.Instances {
		if !in.Plan.GivenUpSince.IsZero() {
			g.IDs = append(g.IDs, ID(in.ID()))
		}
	}
	if len(g.IDs) == 0 {
		return nil
	}
	g.Words = fmt.Sprintf("%d given up", len(g.IDs))
	if bytes := s.Totals().GivenUpBytes; bytes > 0 {
		g.Words += ", " + monitor.Memory(bytes)
	}
	return g
}
