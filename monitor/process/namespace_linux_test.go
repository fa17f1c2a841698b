package process

import (
	"os"
	"testing"
)

func TestSameNamespace(t *testing.T) {
	if same, err := SameNamespace(os.Getpid()); err != nil || !same {
		t.Errorf("our own: %v, %v", same, err)
	}
	if _, err := SameNamespace(1 << 30); err == nil {
		t.Error("of nobody")
	}
}
