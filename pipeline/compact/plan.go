package compact

import (
	"cmp"
	"slices"
	"time"

	"stackmill/schema/storedir"
)

// A merged batch must have at least growsTo/growsFrom times the size of the largest batch in it: so
// each row is rewritten only a logarithmic number of times.
const growsFrom, growsTo = 2, 3

// hiddenShare: a batch is rewritten to drop hidden experiments when they are 1/hiddenShare of all.
const hiddenShare = 8

// mostExperiments bounds the experiments of a merged batch: each program that opens the store reads
// the whole commit, which describes each of them.
const mostExperiments = 16384

// cursorMemory is the approximate memory for reading a file of function_rollup.
const cursorMemory = 1 << 20

// candidate is a batch that may be merged.
type candidate struct {
	*storedir.Batch
	since time.Time // when its first experiment was stored
	bytes int64     // size of its largest table
	count int       // visible experiments
}

// plan returns the groups of batches to merge. A group has batches that were ingested one after the
// other, with at most the target size and mostExperiments in total, or one batch with many hidden
// experiments. No group spans a skipped batch.
func plan(o *Options, c *storedir.Contents, skipped map[string]bool) (groups [][]*storedir.Batch) {
	var all []candidate
	for i := range c.Batches {
		all = append(all, newCandidate(&c.Batches[i]))
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.Batch.Batch, b.Batch.Batch))
	})
	for len(all) > 0 {
		n := o.neighbors(all, skipped)
		if n == 0 {
			if b := all[0].Batch; !skipped[b.Batch] && wasteful(c, b, o.Purge) {
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

// neighbors returns how many batches from the start of the list to merge into one; 0 if the first
// batch should stay as it is.
func (o *Options) neighbors(all []candidate, skipped map[string]bool) (n int) {
	var total, largest int64
	count := 0
	most := max(fewestFiles, int(o.Memory/memoryShare/cursorMemory))
	for i, x := range all {
		total, largest, count = total+x.bytes, max(largest, x.bytes), count+x.count
		if skipped[x.Batch.Batch] || largest > o.TargetSize/2 || total > o.TargetSize || count > mostExperiments || i == most {
			break
		}
		if i > 0 && growsFrom*total >= growsTo*largest {
			n = i + 1
		}
	}
	return n
}

// fewestFiles is the number of batches that may be merged at once even if memory is scarce.
const fewestFiles = 8

// wasteful reports whether to rewrite a batch, to drop rows that readers no longer see: those of
// hidden experiments, and of experiments that have become summaries.
func wasteful(c *storedir.Contents, b *storedir.Batch, purge bool) bool {
	n := len(b.Hidden)
	for _, id := range b.Summaries {
		if c.Latest(id).Batch != b.Batch {
			n++
		}
	}
	return n*hiddenShare >= len(b.Experiments) || purge && n > 0
}
