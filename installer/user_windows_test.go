package installer

// Links need a right on Windows that not every user has.
func linkedStates() map[string]func(l *lab) string { return map[string]func(l *lab) string{} }

func linksInTheWay() map[string]inTheWay { return map[string]inTheWay{} }
