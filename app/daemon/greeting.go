package daemon

import (
	"context"
	"fmt"
	"runtime"

	"lamplighter/app/config"
	"lamplighter/monitor"
)

// greet tells whoever has started the background process on a terminal where it
// is to be seen and how it ends, as soon as its page is served or is known not to
// be. Nobody else reads standard output. What is wrong is told by its own part.
func (b *background) greet(ctx context.Context) error {
	if b.OnScreen {
		page := ""
		if b.opener.served(ctx) {
			page = b.opener.web.OpenURL("")
		}
		icon := b.settings.TrayIcon != config.TrayIconHidden && DesktopIn(runtime.GOOS, b.Getenv)
		if ctx.Err() == nil {
			fmt.Fprint(b.Stdout, startWords(icon, page))
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// startWords are what greet prints: icon says that there is to be one, and page is
// the page's address, with its token where it wants one, "" when it is not served.
func startWords(icon bool, page string) string {
	text := "Lamplighter runs. Ctrl-C ends it.\n"
	if icon {
		text += "  Tray: the lantern; its menu has an entry for each server\n"
	}
	if page != "" {
		text += "  Page: " + monitor.Clean(page) + "\n"
	}
	return text
}
