package write

import (
	"errors"
	"strings"
	"testing"

	"stackmill/stages/relay"
)

func mistaken() { panic("a mistake") }

// A panic beside others is the caller's, who can recover.
func TestTogether(t *testing.T) {
	failed := errors.New("failed")
	if err := together(3, func(i int) error { return map[int]error{1: failed}[i] }); !errors.Is(err, failed) {
		t.Error(err)
	}
	defer func() {
		p, ok := recover().(*relay.Panic)
		if !ok || p.Value != "a mistake" || !strings.Contains(string(p.Stack), "mistaken") {
			t.Error(p)
		}
	}()
	_ = together(3, func(i int) error {
		if i == 1 {
			mistaken()
		}
		return nil
	})
}

// A table whose encoding panics gives its turn to the next.
func TestEncodeTurns(t *testing.T) {
	turns := make(chan struct{}, 1)
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = (&table{}).encode(turns)
		}()
	}
}
