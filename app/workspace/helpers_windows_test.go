package workspace

// helpers are none: nothing is killed here.
func helpers() map[string]func() int { return nil }
