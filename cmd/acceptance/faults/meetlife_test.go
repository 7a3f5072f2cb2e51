package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"stackmill/queries"
)

// A reader that opened a store before batches were merged still gets right answers if the old files
// are kept; otherwise, it may get an error that files are gone.
func TestReadersOfMergedBatches(t *testing.T) {
	for _, keep := range []string{"1h", "0"} {
		t.Run("keep "+keep, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			for n := range nights {
				l.does(l.verb("ingest", fmt.Sprintf("DIR/night-%d", n)))
			}
			want := truth(plain, plain, plain)
			db, err := queries.Open(t.Context(), l.store)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			reading, stop := context.WithCancel(t.Context())
			var readers errgroup.Group
			readers.Go(func() error {
				for reads := 0; reading.Err() == nil || reads == 0; reads++ {
					if err := l.answer(db, want, keep == "0"); err != nil {
						return err
					}
				}
				return nil
			})
			for range 2 { // commit times have whole seconds: the second run may remove more
				l.does(l.verb("compact", "--keep", keep))
			}
			l.does(l.verb("label", "night=0", "kept=yes"))
			stop()
			if err := errors.Join(readers.Wait(), l.answer(db, want, keep == "0")); err != nil {
				t.Error(err)
			}
			l.expect("a new reader", is(truth(labeled, plain, plain)))
		})
	}
}

// answer queries an open store for its state, which must be right. With gone, an error about
// missing files is allowed.
func (l *life) answer(db *queries.DB, want state, gone bool) error {
	got, err := stateOf(l.Context(), db)
	switch {
	case err != nil && gone && (strings.Contains(err.Error(), "Cannot access file") || strings.Contains(err.Error(), "No such file")):
		return nil // the error names the missing file
	case err == nil && !maps.Equal(got, want):
		err = fmt.Errorf("an open store has %v", got)
	}
	return err
}

// Concurrent commands that change a store, some of them killed, have the same effect as one after
// the other, or none.
func TestLivesMeet(t *testing.T) {
	l := newLife(t)
	rounds := 1
	if *long {
		rounds = 40
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		l.begin("")
		l.does(l.verb("ingest", "DIR/night-0"))
		l.does(l.verb("ingest", "DIR/night-1"))
		last := [][]string{{"forget", "night=0"}, {"label", "night=1", "kept=yes"}, {"ingest", "DIR"}, {"compact"}, {"resymbolize", "--symfs", "SYMBOLS"}}
		var g errgroup.Group
		for i, verb := range append(last, []string{"compact", "--keep", "0", "--target-size", "1M"}, []string{"ingest", "DIR/night-2"}) {
			command, killed := l.verb(verb...), random.IntN(3) == 0
			g.Go(func() error { return l.perhaps(command, killed && i > 0) })
		}
		if err := g.Wait(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		what := fmt.Sprintf("round %d", round)
		// An experiment that was deleted first stays deleted, whatever else ran or was killed.
		l.expect(what, func(got state) bool {
			return got.among(truth("", plain), truth("", plain, plain), truth("", named, named), truth("", labeled), truth("", both))
		})
		for _, verb := range last[1:] {
			l.does(l.verb(verb...))
		}
		l.expect(what+", and again", is(truth("", both, named)))
		if left := leftovers(t, l.store); len(left) > 0 {
			t.Errorf("round %d: left %v", round, left)
		}
	}
}

// perhaps runs a command to its end, or kills it soon.
func (l *life) perhaps(command []string, killed bool) error {
	cmd := exec.Command(command[0], command[1:]...)
	if killed {
		cmd = exec.Command("timeout", append([]string{"-s", "KILL", "0.3"}, command...)...)
	}
	if out, err := cmd.CombinedOutput(); err != nil && !killed {
		return fmt.Errorf("%q: %w\n%s", command[1:], err, out)
	}
	return nil
}
