//go:build record

package serenatest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRecord writes the transcripts anew. Look at the difference before you commit it:
//
//	go test -tags record -run TestRecord ./monitor/serena/serenatest
func TestRecord(t *testing.T) {
	for _, version := range Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			data, err := Record(t, version).Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join("testdata", "transcripts", version+".json"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
