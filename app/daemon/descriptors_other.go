//go:build !linux

package daemon

// keepDescriptors does nothing: on Windows only what is named is inherited, and
// macOS has no such call.
func keepDescriptors() {}
