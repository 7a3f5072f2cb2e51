package storedir

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Sweep removes batches that have not counted for longer than keep: their files, and then their
// commits. A commit that replaces others is removed after these. What cannot be removed is left for
// the next Sweep.
func (c *Contents) Sweep(keep time.Duration) {
	if c.snapshot { // it may be old
		return
	}
	for again := true; again; {
		again = false
		older := c.lowestGenerations()
		c.Replaced = slices.DeleteFunc(c.Replaced, func(r ReplacedCommit) bool {
			if !c.olderThan(r.Since, keep) || c.keepsOthersObsolete(r, older) || !removeReplaced(c.store, r) {
				return false
			}
			delete(c.commits, r.Batch)
			again = true
			return true
		})
	}
}

// olderThan reports whether a commit made at `since` is older than keep. In a remote store, it asks
// the storage for the commit's age, because the machines' clocks may differ.
func (c *Contents) olderThan(since time.Time, keep time.Duration) bool {
	remote := remoteOf(c.store)
	if remote == nil {
		return time.Since(since) > keep
	}
	var names []string
	for name, d := range c.commits {
		if d.Ingested.Equal(since) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return false
	}
	age, err := remote.Age(names)
	return err == nil && age > keep
}

// lowestGenerations returns the lowest generation of each experiment in any commit.
func (c *Contents) lowestGenerations() map[string]int {
	lowest := map[string]int{}
	for _, d := range c.commits {
		for _, e := range d.Experiments {
			if n, ok := lowest[e.ExperimentID]; !ok || e.Generation < n {
				lowest[e.ExperimentID] = e.Generation
			}
		}
	}
	return lowest
}

// keepsOthersObsolete reports whether r must stay: without it, commits that still exist would count
// again, and no newer commit hides them.
func (c *Contents) keepsOthersObsolete(r ReplacedCommit, lowest map[string]int) bool {
	if r.Err == nil && slices.ContainsFunc(r.Replaces, func(name string) bool { return c.commits[name] != nil }) {
		return true
	}
	stem, n := splitName(r.Batch)
	for _, lower := range c.numbers[stem] {
		if lower < n && c.commits[numberedName(stem, lower)] != nil {
			return true
		}
	}
	if len(r.Files) > 0 || len(c.replacedBy[r.Batch]) > 0 {
		return false
	}
	return slices.ContainsFunc(r.Experiments, func(e Entry) bool { return lowest[e.ExperimentID] < e.Generation })
}

// removeReplaced removes the files of a replaced batch, then its commit, and reports whether they
// are gone.
func removeReplaced(store string, r ReplacedCommit) bool {
	var files []string
	for _, f := range r.Files {
		if IsFile(f, r.Batch) {
			files = append(files, f.Path)
		}
	}
	if r.Err != nil { // its list of files may be damaged
		for _, attempt := range []string{"", "-*"} {
			found, _ := fs.Glob(os.DirFS(store), path.Join(TablesDir, "*", globEscape.Replace(r.Batch)+attempt+fileSuffix))
			files = append(files, found...)
		}
	}
	if remote := remoteOf(store); remote != nil && remote.Remove(&r.CommitFile) != nil {
		return false
	}
	for _, f := range files {
		if removeFile(store, f) != nil {
			return false
		}
	}
	return ignoreMissing(os.Remove(commitPath(store, r.Batch))) == nil
}

// globEscape escapes the special characters of patterns.
var globEscape = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
