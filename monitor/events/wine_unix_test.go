//go:build unix

package events

func onWine() bool { return false }
