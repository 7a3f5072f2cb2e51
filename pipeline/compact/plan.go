package compact

import (
	"cmp"
	"slices"
	"time"

	"stackmill/schema/storedir"
)

// A merge is larger than the largest batch that it merges, at least by half: what is in a
// store for long was written again as often as its batch has grown so.
const growsFrom, growsTo = 2, 3

// hiddenShare is the part of a batch's experiments that do not count from which on it is
// written again for their sake.
const hiddenShare = 8

// mostExperiments is how many experiments a merged batch has at most: each program that
// opens the store reads its commit, which says something of each of them, as a whole.
const mostExperiments = 16384

// cursorMemory is about what reading a file of function_rollup takes.
const cursorMemory = 1 << 20

// candidate is a batch that may be merged.
type candidate struct {
	*storedir.Batch
	since time.Time // when the first of its experiments was put in
	bytes int64     // of its largest table
	count int       // of its experiments that count
}

// plan returns the groups of batches that are worth merging: neighbours in time, which
// together have about the target size, and so many experiments, at most; and alone those with many experiments that
// do not count. Batches that are left alone part the others.
func plan(o *Options, c *storedir.Contents, left map[string]bool) (groups [][]*storedir.Batch) {
	var all []candidate
	for i := range c.Batches {
		all = append(all, newCandidate(&c.Batches[i]))
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.Batch.Batch, b.Batch.Batch))
	})
	for len(all) > 0 {
		n := o.neighbours(all, left)
		if n == 0 {
			if b := all[0].Batch; !left[b.Batch] && wasteful(c, b, o.Purge) {
				n = 1
			}
		}
		if n > 0 {
			var group []*storedir.Batch
			for _, x := range all[:n] {
				group = append(group, x.Batch)
			}
			groups = append(groups, group)
		}
		all = all[max(n, 1):]
	}
	return groups
}

func newCandidate(b *storedir.Batch) candidate {
	x := candidate{Batch: b}
	for i := range b.Experiments {
		if at := b.Experiments[i].IngestedAt(b.Ingested); i == 0 || at.Before(x.since) {
			x.since = at
		}
	}
	for range b.Visible {
		x.count++
	}
	for _, f := range b.Files {
		x.bytes = max(x.bytes, f.Bytes)
	}
	return x
}

// neighbours returns how many batches from the first on are worth merging; 0 if none are.
func (o *Options) neighbours(all []candidate, left map[string]bool) (n int) {
	var total, largest int64
	count := 0
	most := max(fewestFiles, int(o.Memory/memoryShare/cursorMemory))
	for i, x := range all {
		total, largest, count = total+x.bytes, max(largest, x.bytes), count+x.count
		if left[x.Batch.Batch] || largest > o.TargetSize/2 || total > o.TargetSize || count > mostExperiments || i == most {
			break
		}
		if i > 0 && growsFrom*total >= growsTo*largest {
			n = i + 1
		}
	}
	return n
}

// fewestFiles is how many batches may be merged with the least memory.
const fewestFiles = 8

// wasteful reports whether a batch is written again for the sake of rows that do not count:
// those of experiments that are hidden, or have become summaries since it was written.
func wasteful(c *storedir.Contents, b *storedir.Batch, purge bool) bool {
	n := len(b.Hidden)
	for _, id := range b.Summaries {
		if c.Latest(id).Batch != b.Batch {
			n++
		}
	}
	return n*hiddenShare >= len(b.Experiments) || purge && n > 0
}
