package notify

// system is text as the library can take it here.
func system(text string) string { return tame(text) }

// systemIcon is a path as the library can take it here.
func systemIcon(path string) string { return tameIcon(path) }
