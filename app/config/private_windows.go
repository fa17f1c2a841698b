package config

import "os"

// MakePrivate makes dir where it is missing. Unless the user has named another
// place it lies in the profile, which other users cannot write to.
func MakePrivate(dir, _ string) error { return os.MkdirAll(dir, 0o700) }
