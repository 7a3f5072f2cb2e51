package storedir

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"stackmill/schema"
)

// maxMetadataCommits is how many tombstones, or label commits, are kept before they are merged.
const maxMetadataCommits = 32

// CompactMetadata merges metadata commits (commits without files) that are older than keep, if
// there are more than maxMetadataCommits of a kind: tombstones into one commit, label commits into
// another. It returns how many it has merged. The state of every experiment stays the same,
// whatever other programs commit or merge meanwhile.
func (c *Contents) CompactMetadata(keep time.Duration, program string) (merged int, err error) {
	for _, kind := range []struct {
		prefix string
		is     func(*Commit) bool
	}{{tombstonePrefix, (*Commit).isTombstone}, {labelsPrefix, func(d *Commit) bool { return len(d.labelChanges()) > 0 }}} {
		var list []Commit
		for _, d := range c.Metadata {
			if kind.is(&d) && time.Since(d.Ingested) > keep {
				list = append(list, d)
			}
		}
		if len(list) <= maxMetadataCommits {
			continue
		}
		out := mergeMetadata(list, program)
		out.Batch = c.unusedName(kind.prefix + c.MergedName(out.Replaces, out.Experiments)[len(manyPrefix):])
		if err := c.commit(out); err != nil && !errors.Is(err, ErrExists) { // another process has merged them
			return merged, err
		}
		merged += len(list)
	}
	return merged, c.Refresh()
}

// RewriteMetadata rewrites each metadata commit of schema.OlderVersions.
func (c *Contents) RewriteMetadata(program string) error {
	for _, d := range c.Metadata {
		if !schema.IsOlder(d.StoreVersion) {
			continue
		}
		out, prefix := mergeMetadata([]Commit{d}, program), tombstonePrefix
		if len(d.labelChanges()) > 0 {
			prefix = labelsPrefix
		}
		out.Batch = newName(prefix)
		if err := c.commit(out); err != nil {
			return err
		}
	}
	return nil
}

// isTombstone reports whether a metadata commit only deletes or summarizes experiments on request.
func (c *Commit) isTombstone() bool {
	return len(c.Experiments) > 0 && len(c.Files) == 0 && !slices.ContainsFunc(c.Experiments, func(e Entry) bool { return precedence(&e) <= 0 })
}

// mergeMetadata merges metadata commits into one. If an experiment has several entries, it keeps
// the one that counts.
func mergeMetadata(list []Commit, program string) Commit {
	out := Commit{Program: program, Experiments: []Entry{}}
	entries := map[string]Entry{}
	for _, d := range list {
		out.Replaces = append(out.Replaces, d.Batch)
		out.LabelChanges = append(out.LabelChanges, d.labelChanges()...)
		for _, e := range d.Experiments {
			was, ok := entries[e.ExperimentID]
			if !ok || e.Generation > was.Generation || e.Generation == was.Generation && precedence(&e) > precedence(&was) {
				entries[e.ExperimentID] = e
			}
		}
	}
	out.Experiments = slices.AppendSeq(out.Experiments, maps.Values(entries))
	slices.SortFunc(out.Experiments, func(a, b Entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	slices.SortFunc(out.LabelChanges, func(a, b LabelChange) int { return strings.Compare(a.Commit, b.Commit) })
	out.LabelChanges = slices.CompactFunc(out.LabelChanges, func(a, b LabelChange) bool { return a.Commit == b.Commit })
	return out
}

// restatesReplaced reports whether the commits that d replaces are all readable and without files:
// then d repeats everything in them.
func (c *Contents) restatesReplaced(d *CommitFile) bool {
	return len(d.Replaces) > 0 && !slices.ContainsFunc(d.Replaces, func(name string) bool {
		r := c.commits[name]
		return r != nil && (r.Err != nil || len(r.Files) > 0)
	})
}
