package config

import "errors"

// ErrNotPrivate: somebody else could put something into a directory of ours.
var ErrNotPrivate = errors.New("it is not private to you")
