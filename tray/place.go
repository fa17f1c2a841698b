package tray

// places says which instance each slot of the pools shows.
type places struct{ instances, stops, keeps, pins []string }

func newPlaces() places {
	return places{
		instances: make([]string, poolSize), stops: make([]string, stopSize),
		keeps: make([]string, keepSize), pins: make([]string, keepSize),
	}
}

// of finds places for a menu, those of p as far as they can stay.
func (p places) of(m menu) places {
	return places{
		instances: place(p.instances, ids(m.Instances)), stops: place(p.stops, ids(m.Stop)),
		keeps: place(p.keeps, ids(m.Keep)), pins: place(p.pins, ids(m.Pins)),
	}
}

func ids(entries []menuEntry) []string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids
}

// place decides which slot of the pool shows which instance. pool has the id
// in each slot, "" for a free one; ids are those to show, in order and at most
// as many as slots. Order is kept, and whatever can stay in its slot stays:
// newcomers go into the free slots between their neighbours, so that one
// server that starts or ends changes one line and not all those below it. Only
// when there is no room left in between, all are spread anew.
func place(pool, ids []string) []string {
	stays := stayers(pool, ids)
	placed := make([]string, len(pool))
	if fill(placed, ids, stays) {
		return placed
	}
	for i := range stays {
		stays[i] = -1
	}
	clear(placed)
	fill(placed, ids, stays)
	return placed
}

// stayers gives for each id the slot it stays in, or -1: a longest row of ids
// whose slots are in the same order as the ids.
func stayers(pool, ids []string) []int {
	at := make(map[string]int, len(pool))
	for i, id := range pool {
		if id != "" {
			at[id] = i
		}
	}
	slots := make([]int, len(ids))
	for i, id := range ids {
		slots[i] = -1
		if slot, ok := at[id]; ok {
			slots[i] = slot
		}
	}
	length := make([]int, len(ids)) // of the longest row that ends here
	before := make([]int, len(ids)) // the one before in that row
	best := -1
	for i, slot := range slots {
		if slot < 0 {
			continue
		}
		length[i], before[i] = 1, -1
		for j, other := range slots[:i] {
			if other >= 0 && other < slot && length[j] >= length[i] {
				length[i], before[i] = length[j]+1, j
			}
		}
		if best < 0 || length[i] > length[best] {
			best = i
		}
	}
	stays := make([]int, len(ids))
	for i := range stays {
		stays[i] = -1
	}
	for i := best; i >= 0; i = before[i] {
		stays[i] = slots[i]
	}
	return stays
}

// fill puts ids into slots around those that stay, each run of newcomers
// evenly into the gap it belongs to. It is false when a gap is too small.
func fill(slots, ids []string, stays []int) bool {
	low := 0 // the first slot of the gap
	for i := 0; i <= len(ids); {
		run := i
		for run < len(ids) && stays[run] < 0 {
			run++
		}
		high := len(slots) // the first slot behind the gap
		if run < len(ids) {
			high = stays[run]
		}
		n, room := run-i, high-low
		if n > room {
			return false
		}
		for k := range n {
			slots[low+(2*k+1)*room/(2*n)] = ids[i+k]
		}
		if run < len(ids) {
			slots[high] = ids[run]
		}
		low, i = high+1, run+1
	}
	return true
}
