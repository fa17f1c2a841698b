package events

import "golang.org/x/sys/windows"

// onWine tells Wine from Windows, by a function that only Wine has.
func onWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}
