package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// picturesVariable names the directory into which pictures are put. Without it
// none are made.
const picturesVariable = "LAMPLIGHTER_TEST_PICTURES"

// Picture makes a picture of the window, TEST-NAME.png, in the directory that
// LAMPLIGHTER_TEST_PICTURES names.
func (p *Page) Picture(t testing.TB, name string) {
	t.Helper()
	dir := os.Getenv(picturesVariable)
	if dir == "" {
		return
	}
	name = strings.NewReplacer("/", "-", " ", "-").Replace(t.Name() + "-" + name + ".png")
	p.PictureTo(t, filepath.Join(dir, name))
}

// PictureTo makes a picture of the window.
func (p *Page) PictureTo(t testing.TB, path string) {
	t.Helper()
	image, err := run(p, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, image, 0o644)
	}
	if err != nil {
		t.Logf("no picture %s: %v", path, err)
	}
}

// evaluated runs a script for what it does.
func evaluated(script string) func(context.Context, *chromedp.Target) error {
	return func(ctx context.Context, _ *chromedp.Target) error {
		result, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: script})
		if err == nil && result.ExceptionDetails != nil {
			err = fmt.Errorf("%s", result.ExceptionDetails.Text)
		}
		return err
	}
}
