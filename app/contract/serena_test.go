//go:build contract && linux

package contract_test

import (
	"testing"

	"lamplighter/monitor/serena/serenatest"
)

// TestTranscripts: real Serenas still answer what the unit tests replay. When one
// does not, look at what it means for the product before the transcripts are
// recorded anew, with TestRecord of serenatest.
func TestTranscripts(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			live := serenatest.Record(t, version)
			for _, difference := range serenatest.Recorded(t, version).Differences(live) {
				t.Error(difference)
			}
		})
	}
}
