//go:build real && linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/browsertest"
)

// memories are read, edited, renamed and deleted in the page, and on the disk.
func (s *street) memories(t *testing.T) {
	p := s.page
	file := func(name string) string { return filepath.Join(s.project, ".serena", "memories", name+".md") }
	p.Go(t, s.at(s.green, "memories"))
	p.Click(t, browsertest.Button("lamps").In(mainPart))
	p.AwaitText(t, mainPart, "The lamps burn oil.")
	p.Picture(t, "memory")

	p.Click(t, browsertest.Button("Edit"))
	p.Fill(t, browsertest.Field("Content"), "The lamps burn <b>gas</b>.")
	p.Click(t, browsertest.Button("Save"))
	apptest.Eventually(t, "the memory is written", func() bool {
		text, err := os.ReadFile(file("lamps"))
		return err == nil && strings.TrimSpace(string(text)) == "The lamps burn <b>gas</b>."
	})
	p.AwaitText(t, notices, "Saved lamps")
	p.AwaitText(t, mainPart, "The lamps burn <b>gas</b>.")

	p.Click(t, browsertest.Button("Rename"))
	p.Fill(t, browsertest.Field("New name").In(openDialog), "lanterns")
	p.Click(t, browsertest.Button("Rename").In(openDialog))
	apptest.Eventually(t, "the memory has its new name", func() bool {
		_, err := os.Stat(file("lanterns"))
		return err == nil
	})
	p.AwaitThing(t, browsertest.Button("lanterns").In(mainPart))

	p.Click(t, browsertest.Button("Delete"))
	p.AwaitText(t, openDialog, "lanterns")
	p.Click(t, browsertest.Button("Delete").In(openDialog))
	apptest.Eventually(t, "the memory is gone", func() bool {
		_, err := os.Stat(file("lanterns"))
		return errors.Is(err, fs.ErrNotExist)
	})
	p.AwaitNoThing(t, browsertest.Button("lanterns").In(mainPart))
}
