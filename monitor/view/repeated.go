package view

import (
	"fmt"

	"lamplighter/monitor"
)

// Repeated is one server that one client has started several times.
type Repeated struct {
	Words string `json:"words"` // "Codex has memory ×6, 400 MB; 4711 was called last"; may change in any release
	IDs   []ID   `json:"ids"`
	Keep  *ID    `json:"keep"` // that was called last; null when no call was seen, so that nobody knows which is in use
}

// RepeatedIn finds them. Never nil.
func RepeatedIn(s *monitor.Snapshot) []Repeated {
	all := []Repeated{}
	for _, list := range monitor.Repeated(s.Instances) {
		all = append(all, repeated(list))
	}
	return all
}

func repeated(list []*monitor.Instance) Repeated {
	var r Repeated
	var bytes uint64
	var last *monitor.Instance
	for _, in := range list {
		r.IDs = append(r.IDs, ID(in.ID()))
		bytes += in.RSSBytes
		if in.LastActivity.After(in.StartedAt) && (last == nil || in.LastActivity.After(last.LastActivity)) {
			last = in
		}
	}
	r.Words = fmt.Sprintf("%s has %s ×%d, %s; ", programName(list[0].Client.Name), monitor.Shorten(list[0].Name(), childName), len(list), monitor.Memory(bytes))
	if last == nil {
		r.Words += "which of them it uses is not known"
		return r
	}
	r.Words += fmt.Sprintf("%d was called last", last.Identity.PID)
	r.Keep = new(ID(last.ID()))
	return r
}
