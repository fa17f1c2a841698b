package notify

// system is text as the library can take it here: it quotes what it gives to
// AppleScript itself.
func system(text string) string { return text }

// systemIcon is a path as the library can take it here.
func systemIcon(path string) string { return path }
