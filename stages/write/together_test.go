package write

import (
	"errors"
	"testing"
)

// A panic beside others is the caller's, who can recover.
func TestTogether(t *testing.T) {
	failed := errors.New("failed")
	if err := together(3, func(i int) error { return map[int]error{1: failed}[i] }); !errors.Is(err, failed) {
		t.Error(err)
	}
	defer func() {
		if p := recover(); p != "a mistake" {
			t.Error(p)
		}
	}()
	_ = together(3, func(i int) error {
		if i == 1 {
			panic("a mistake")
		}
		return nil
	})
}
