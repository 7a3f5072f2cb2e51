package storedir

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"stackmill/schema"
)

// bareMost is how many commits of a kind that have no files stay side by side.
const bareMost = 32

// MergeBare merges the commits without files that are older than keep, if there are many:
// those that take experiments out become one, and those that label experiments. It returns
// how many it has merged. What is said of an experiment stays as it is, so that it does not
// matter what other programs commit or merge meanwhile.
func (c *Contents) MergeBare(keep time.Duration, program string) (merged int, err error) {
	for _, kind := range []struct {
		prefix string
		is     func(*Commit) bool
	}{{outPrefix, (*Commit).takesOut}, {labelsPrefix, func(d *Commit) bool { return len(d.given()) > 0 }}} {
		var list []Commit
		for _, d := range c.Bare {
			if kind.is(&d) && time.Since(d.Ingested) > keep {
				list = append(list, d)
			}
		}
		if len(list) <= bareMost {
			continue
		}
		out := together(list, program)
		out.Batch = c.unused(kind.prefix + c.MergedName(out.Replaces, out.Experiments)[len(manyPrefix):])
		if err := c.commit(out); err != nil && !errors.Is(err, ErrExists) { // somebody else has merged them
			return merged, err
		}
		merged += len(list)
	}
	return merged, c.Refresh()
}

// RewriteBare writes commits without files of schema.OlderVersion again, each by itself.
func (c *Contents) RewriteBare(program string) error {
	for _, d := range c.Bare {
		if d.StoreVersion != schema.OlderVersion {
			continue
		}
		out, prefix := together([]Commit{d}, program), outPrefix
		if len(d.given()) > 0 {
			prefix = labelsPrefix
		}
		out.Batch = newName(prefix)
		if err := c.commit(out); err != nil {
			return err
		}
	}
	return nil
}

// takesOut reports whether a commit without files takes out what nobody wants any more, and
// nothing that is to be ingested again.
func (c *Commit) takesOut() bool {
	return len(c.Experiments) > 0 && len(c.Files) == 0 && !slices.ContainsFunc(c.Experiments, func(e Entry) bool { return wins(&e) <= 0 })
}

// together says what all of some commits say. Of an experiment with several entries the one
// that counts stays.
func together(list []Commit, program string) Commit {
	out := Commit{Program: program, Experiments: []Entry{}}
	entries := map[string]Entry{}
	for _, d := range list {
		out.Replaces = append(out.Replaces, d.Batch)
		out.Given = append(out.Given, d.given()...)
		for _, e := range d.Experiments {
			was, ok := entries[e.ExperimentID]
			if !ok || e.Generation > was.Generation || e.Generation == was.Generation && wins(&e) > wins(&was) {
				entries[e.ExperimentID] = e
			}
		}
	}
	out.Experiments = slices.AppendSeq(out.Experiments, maps.Values(entries))
	slices.SortFunc(out.Experiments, func(a, b Entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	slices.SortFunc(out.Given, func(a, b Given) int { return strings.Compare(a.Commit, b.Commit) })
	out.Given = slices.CompactFunc(out.Given, func(a, b Given) bool { return a.Commit == b.Commit })
	return out
}

// says reports whether a commit says all that those say that it replaces, which have no files.
func (c *Contents) says(d *Damaged) bool {
	return len(d.Replaces) > 0 && !slices.ContainsFunc(d.Replaces, func(name string) bool {
		r := c.found[name]
		return r != nil && (r.Err != nil || len(r.Files) > 0)
	})
}
