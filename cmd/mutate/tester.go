package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"stackmill/schema/storedir"
)

// tester makes mutants and tests them.
type tester struct {
	flags
	work, archive string
	program       program
	oracle        oracle
	next          func(uint64) mutant
	want          map[*base]*contents
	out           io.Writer

	mu  sync.Mutex // guards out and the fields below
	sum *summary
}

// prepare unpacks the bases and ingests them without damage.
func (t *tester) prepare(ctx context.Context) error {
	t.archive = filepath.Join(t.work, "archives")
	if err := os.Mkdir(t.archive, 0o755); err != nil {
		return err
	}
	if err := unpack(t.archive); err != nil {
		return err
	}
	t.want, t.sum = map[*base]*contents{}, &summary{counts: map[string]int{}}
	store := filepath.Join(t.work, "undamaged")
	for _, b := range bases {
		if t.chosen(b) {
			h, err := t.undamaged(ctx, store, b)
			if err != nil {
				return fmt.Errorf("%s, undamaged: %w", b.name, err)
			}
			t.want[b] = h
		}
	}
	return nil
}

// chosen reports whether the flags select mutants of a base.
func (t *tester) chosen(b *base) bool {
	for i := range uint64(len(bases) * len(mutations)) {
		if t.next(i).base == b {
			return true
		}
	}
	return false
}

func (t *tester) undamaged(ctx context.Context, store string, b *base) (*contents, error) {
	rec, err := newRecording(b, t.archive)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(t.work, b.name)
	if err := rec.write(dir); err != nil {
		return nil, err
	}
	o, h, err := t.ingest(ctx, store, dir, b)
	switch {
	case err != nil:
		return nil, err
	case o.Status != 0 || h == nil || h.count == 0:
		return nil, fmt.Errorf("exit status %d\n%s", o.Status, o.stderr)
	}
	return h, nil
}

// ingest ingests the recording in a mutant's folder. It returns what the store has of it, or nil if
// nothing was stored.
func (t *tester) ingest(ctx context.Context, store, dir string, b *base) (outcome, *contents, error) {
	path := filepath.Join(dir, b.recordingName())
	args := []string{"ingest", "--jobs", "2", "--memory", "256M", "--store", store, "--cache", filepath.Join(t.work, "cache"), "--no-system-debug"}
	for _, a := range b.args {
		args = append(args, strings.ReplaceAll(a, "@", dir))
	}
	o, err := t.program.run(ctx, append(args, path)...)
	if err != nil {
		return o, nil, err
	}
	o.judge(2 * memory)
	commits, err := storedir.Commits(store)
	if errors.Is(err, storedir.ErrNoStore) {
		return o, nil, nil
	}
	if err != nil {
		return o, nil, err
	}
	for _, c := range commits {
		if slices.ContainsFunc(c.Experiments, func(e storedir.Entry) bool { return e.Path == path }) {
			h, err := t.oracle.read(ctx, store, c)
			if err != nil {
				o.failures = append(o.failures, "store: its tables cannot be read: "+err.Error())
			}
			return o, h, nil
		}
	}
	return o, nil, nil
}

// all makes and tests all mutants, in groups that run at the same time.
func (t *tester) all(ctx context.Context) (*summary, error) {
	var g errgroup.Group
	g.SetLimit(t.jobs)
	seeds := make(chan uint64)
	done := make(chan struct{})
	go func() {
		defer close(seeds)
		for s := t.seed; ; s++ {
			select {
			case seeds <- s:
			case <-done:
				return
			}
		}
	}()
	for left := t.count; left > 0; left -= t.group {
		n := min(left, t.group)
		g.Go(func() error { return t.runGroup(ctx, seeds, n) })
	}
	err := g.Wait()
	close(done)
	return t.sum, err
}

// specimen is a mutant whose files are written, and its result.
type specimen struct {
	mutant
	*damage
	dir    string
	failed []string
	o      outcome
}

// runGroup ingests n mutants, one after the other, into the same store, and checks the store. If
// check finds defects, it ingests each of them again, into a store of its own.
func (t *tester) runGroup(ctx context.Context, seeds <-chan uint64, n int) error {
	dir, err := os.MkdirTemp(t.work, "group-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store := filepath.Join(dir, "store")
	var list []*specimen
	for misses := 0; len(list) < n; {
		s, err := t.specimen(dir, <-seeds)
		if err != nil {
			return err
		}
		if s == nil {
			if misses++; misses > 5000 {
				return errors.New("no mutation fits a recording")
			}
			continue
		}
		if err := t.test(ctx, store, s); err != nil {
			return fmt.Errorf("%s: %w", s.name(), err)
		}
		list = append(list, s)
	}
	if bad, err := t.check(ctx, store); err != nil {
		return err
	} else if bad != "" {
		if err := t.findWrong(ctx, dir, list, bad); err != nil {
			return err
		}
	}
	for _, s := range list {
		if err := t.report(s); err != nil {
			return err
		}
	}
	return nil
}

// specimen writes the mutant that a seed chooses. It returns nil if the mutation does not apply to
// the base.
func (t *tester) specimen(dir string, seed uint64) (*specimen, error) {
	m := t.next(seed)
	d, err := m.make(t.archive)
	if d == nil || err != nil {
		return nil, err
	}
	s := &specimen{mutant: m, damage: d, dir: filepath.Join(dir, m.name())}
	return s, d.rec.write(s.dir)
}

// test ingests a mutant and compares its samples with those of the base.
func (t *tester) test(ctx context.Context, store string, s *specimen) error {
	o, h, err := t.ingest(ctx, store, s.dir, s.base)
	if err != nil {
		return err
	}
	if h == nil && o.Status == 0 { // the store already has a recording with the same content
		own := s.dir + ".store"
		if o, h, err = t.ingest(ctx, own, s.dir, s.base); err != nil {
			return err
		}
		bad, err := t.check(ctx, own)
		if err != nil {
			return err
		}
		if bad != "" {
			s.failed = append(s.failed, "check: "+bad)
		}
	}
	s.o = o
	s.failed = append(s.failed, o.failures...)
	if h == nil {
		h = &contents{}
	}
	if len(o.failures) == 0 {
		s.failed = append(s.failed, verdict(h, t.want[s.base], s.truth, o.Status)...)
	}
	return nil
}

// check runs stackmill check on a store, and returns the defects that it finds.
func (t *tester) check(ctx context.Context, store string) (string, error) {
	if _, err := storedir.Commits(store); errors.Is(err, storedir.ErrNoStore) {
		return "", nil
	}
	o, err := t.program.run(ctx, "check", "--store", store)
	if err != nil {
		return "", err
	}
	o.judge(1 << 40) // no limit, because memory grows with the store
	switch {
	case len(o.failures) > 0:
		return strings.Join(o.failures, "; ") + "\n" + o.stderr, nil
	case o.Status != 0:
		return fmt.Sprintf("exit status %d\n%s%s", o.Status, o.stdout, o.stderr), nil
	}
	return "", nil
}

// findWrong finds out which mutants of a group cause the defects (bad) that check found, and marks
// them as failed.
func (t *tester) findWrong(ctx context.Context, dir string, list []*specimen, bad string) error {
	found := false
	for _, s := range list {
		store := filepath.Join(dir, "alone-"+s.name())
		if _, _, err := t.ingest(ctx, store, s.dir, s.base); err != nil {
			return err
		}
		alone, err := t.check(ctx, store)
		if err != nil {
			return err
		}
		if alone != "" {
			s.failed = append(s.failed, "check: "+alone)
			found = true
		}
	}
	if !found {
		list[0].failed = append(list[0].failed, "check: only of the whole group: "+bad)
	}
	return nil
}
