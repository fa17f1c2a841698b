package doctor

import (
	"fmt"
	"strings"
)

// desktopFacts are what the session offers to an icon and to notifications.
type desktopFacts struct {
	own     bool   // the system has a place for icons and notifications itself: Windows, macOS
	hidden  bool   // the settings want no icon
	display bool   // there is a screen
	name    string // XDG_CURRENT_DESKTOP

	bus string // why there is no session bus; "" when there is
	// mute: there is one, and it does not answer.
	mute bool

	watcher    bool   // somebody takes tray icons
	watcherIs  string // its program, "" when it is not known
	host       bool   // and shows them
	notifier   bool   // somebody shows notifications, or would be started to
	notifierIs string // what it calls itself
}

func judgeDesktop(f desktopFacts) []Line {
	switch {
	case f.own:
		return []Line{{Mark: OK, Text: "the system has a place for the icon and shows notifications itself"}}
	case f.mute:
		return []Line{{
			Mark: Broken, Text: "the session bus does not answer", Means: "There is no icon and no notification, and other programs of the desktop hang, too.",
			Do: "Log out and in again.",
		}}
	case f.bus != "" && !f.display:
		return []Line{{
			Mark: Warn, Text: "there is no desktop session here", Means: "Lamplighter runs without an icon; the page and the command line do all it does.",
		}}
	case f.bus != "":
		return []Line{{
			Mark: Warn, Text: "there is no session bus: " + f.bus, Means: "There is no icon and no notification; the page and the command line do all the rest.",
			Do: "Install dbus-user-session (Debian, Ubuntu) or start your session with dbus-run-session, and log in again.",
		}}
	}
	return []Line{{Mark: OK, Text: "the session bus answers"}, judgeTray(f), judgeNotifier(f)}
}

func judgeTray(f desktopFacts) Line {
	l := Line{Mark: Warn, Means: "The icon does not show; it appears by itself as soon as there is a place. Everything else works."}
	switch {
	case f.hidden:
		return Line{Mark: OK, Text: "the settings hide the tray icon"}
	case f.watcher && f.host:
		text := "the desktop has a place for tray icons"
		if f.watcherIs != "" {
			text += " (" + f.watcherIs + ")"
		}
		return Line{Mark: OK, Text: text}
	case f.watcher:
		l.Text = "something takes tray icons, but no panel shows them"
		if f.watcherIs != "" {
			l.Text += " (" + f.watcherIs + ")"
		}
	default:
		l.Text = "this desktop has no place for tray icons (nobody has the name org.kde.StatusNotifierWatcher on the session bus)"
	}
	l.Do = trayRemedy(f.name)
	return l
}

// trayRemedy is how a desktop gets a place for icons.
func trayRemedy(desktop string) string {
	is := func(name string) bool { return strings.Contains(strings.ToLower(desktop), name) }
	switch {
	case is("gnome"), is("unity"):
		return "Install the extension AppIndicator and KStatusNotifierItem Support (package gnome-shell-extension-appindicator), switch it on in Extensions, and log in again."
	case is("xfce"):
		return "Add the item Status Tray Plugin to the panel."
	case is("mate"):
		return "Add the applet Indicator Applet or Notification Area to the panel."
	case is("kde"):
		return "Add the widget System Tray to the panel."
	case is("sway"), is("hyprland"), is("river"), is("niri"):
		return "Switch on the module tray of your bar, for example of waybar."
	case is("lxqt"):
		return "Add the plugin Status Notifier to the panel."
	}
	return "Add a tray or status notifier to your panel; on GNOME install the AppIndicator extension."
}

func judgeNotifier(f desktopFacts) Line {
	switch {
	case f.notifier && f.notifierIs != "":
		return Line{Mark: OK, Text: fmt.Sprintf("notifications are shown by %s", f.notifierIs)}
	case f.notifier:
		return Line{Mark: OK, Text: "notifications are shown"}
	}
	return Line{
		Mark: Warn, Text: "nobody shows notifications (the name org.freedesktop.Notifications on the session bus)",
		Means: "What Lamplighter has to tell stands in the menu and on the page alone.", Do: "Install a notification service, such as xfce4-notifyd, mako or dunst.",
	}
}
