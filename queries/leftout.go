package queries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
	"stackmill/schema/storedir"
)

// UnreadableCommit is a commit that cannot be read. Answers lack its experiments.
type UnreadableCommit struct {
	File        string   // path of the commit, relative to the store
	Experiments []string // names of the missing ones, sorted, as far as known
	Err         error    // why it cannot be read

	batch string
}

// LeftOutPrefix begins each remark about what all answers of the store lack.
const LeftOutPrefix = "left out: "

// String says what is missing, why, and what to do.
func (l *UnreadableCommit) String() string {
	what := "the experiments of "
	switch n := len(l.Experiments); {
	case storedir.IsLabels(l.batch):
		what = "labels of experiments in "
	case storedir.IsTombstone(l.batch):
		what = "deletions, so that deleted experiments may be shown again, in "
	case n == 1:
		what = "the experiment " + l.Experiments[0] + " of "
	case n > 1:
		what = fmt.Sprintf("%d experiments (%s) of ", n, SomeNames(slices.Clone(l.Experiments)))
	}
	return fmt.Sprintf("%s%s%s, which cannot be read: %s (restore the file, or ingest the recordings again; stackmill check says more)", LeftOutPrefix, what, l.File, l.Err)
}

// mostUnreadable is how many unreadable commits are described one by one.
const mostUnreadable = 5

// LeftOut returns remarks about what all answers of the store lack: at most a few.
func (db *DB) LeftOut() (remarks []string) {
	all := db.Unreadable
	for i := range all[:min(len(all), mostUnreadable)] {
		remarks = append(remarks, all[i].String())
	}
	if more := len(all) - mostUnreadable; more > 0 {
		remarks = append(remarks, fmt.Sprintf("%s%s, which cannot be read: %s and others (stackmill check lists them)", LeftOutPrefix, Count(more, "more commit"), all[mostUnreadable].File))
	}
	if len(db.Again) > 0 {
		remarks = append(remarks, damagedRemark(db.Again))
	}
	return remarks
}

// damagedRemark returns a remark that names the experiments that `check --repair` found damaged:
// they are left out until they are ingested again.
func damagedRemark(again []storedir.Entry) string {
	names := make([]string, len(again))
	for i, e := range again {
		names[i] = cmp.Or(e.Experiment, e.ExperimentID)
	}
	what := "the experiment " + names[0] + ", which was"
	if n := len(names); n > 1 {
		slices.Sort(names)
		what = fmt.Sprintf("%d experiments (%s), which were", n, SomeNames(names))
	}
	return LeftOutPrefix + what + " damaged (ingest the recordings again, or take them out by stackmill forget; stackmill check says where they were)"
}

// mentionLeftOut adds what the store leaves out to the error of a selector that matches no
// experiment: the experiment may be left out.
func (db *DB) mentionLeftOut(err error) error {
	if remarks := db.LeftOut(); remarks != nil && errors.Is(err, ErrNone) {
		return fmt.Errorf("%w; %s", err, strings.Join(remarks, "; "))
	}
	return err
}

// leftOutIn returns the unreadable commits, with the experiments that are left out because of each.
func leftOutIn(ctx context.Context, store string, c *storedir.Contents) (all []UnreadableCommit) {
	for i := range c.Damaged {
		d := &c.Damaged[i]
		l := UnreadableCommit{File: d.Path(), Err: d.Err, batch: d.Batch}
		names := experimentsIn(ctx, store, d)
		for id, name := range names {
			if name != "" && c.Latest(id).Rows == "" { // no other batch has it
				l.Experiments = append(l.Experiments, name)
			}
		}
		if slices.Sort(l.Experiments); l.Experiments == nil && len(names) > 0 { // a copy of another commit
			continue
		}
		all = append(all, l)
	}
	return all
}

// experimentsIn returns the names of the experiments in a damaged commit, by id; a forgotten one
// has the name "". It reads them from the commit or, if that is unreadable, from the batch's file
// of the table experiments.
func experimentsIn(ctx context.Context, store string, d *storedir.CommitFile) map[string]string {
	names := map[string]string{}
	for _, e := range d.Experiments {
		if names[e.ExperimentID] = e.Experiment; e.Status == storedir.Forgotten {
			names[e.ExperimentID] = ""
		}
	}
	if len(names) > 0 {
		return names
	}
	dir := filepath.Join(store, storedir.TablesDir, schema.Experiments.Name)
	entries, _ := os.ReadDir(dir) // if this fails, nothing is known
	for _, e := range entries {
		if !e.Type().IsRegular() || storedir.BatchOf(e.Name()) != d.Batch {
			continue
		}
		rows, err := textsOf(ctx, filepath.Join(dir, e.Name()), "experiment_id", "experiment")
		if err != nil {
			continue
		}
		for _, r := range rows {
			names[r[0]] = r[1]
		}
	}
	return names
}

// textsOf returns two columns of strings of a Parquet file.
func textsOf(ctx context.Context, path, first, second string) ([][2]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return rowreader.Texts(ctx, f, first, second)
}

// LostFile is the error of a query that needs a file of the store that is missing, damaged or
// replaced.
type LostFile struct {
	Path  string
	doing string // what failed, with a colon
	cause error
}

func (e *LostFile) Error() string {
	what, help := "is missing or damaged", "stackmill check lists files that are missing or damaged"
	switch err := unix.Access(e.Path, unix.R_OK); {
	case errors.Is(err, fs.ErrPermission):
		what, help = "may not be read", "its owner can give you the right"
	case errors.Is(err, fs.ErrNotExist):
		what, help = "is missing", "repeat the query if a compact with a short --keep has just replaced it; else stackmill check lists what is missing"
	}
	return fmt.Sprintf("%sa file of the store %s: %s (%s)", e.doing, what, e.Path, help)
}

func (e *LostFile) Unwrap() error { return e.cause }

// lost matches what a locked engine says about a lost file: that it may not open the file, or that
// it does not find a directory or pattern of that name.
var lost = lazyregexp.New(`(?s)(?:\w+ Error: )?(?:Cannot access file|No files found that match the pattern|Cannot open file) "([^"]*/tables/(\w+)/([^"/]+)\.parquet)(?:/\*\*/\*\.parquet)?"`)

// FindLostFile returns the LostFile that an error is about, or nil.
func FindLostFile(err error) *LostFile {
	if err == nil {
		return nil
	}
	text := err.Error()
	m := lost().FindStringSubmatch(text)
	if m == nil || !storedir.IsFile(storedir.File{Table: m[2], Path: storedir.FilePath(m[2], m[3])}, storedir.BatchOf(m[3])) {
		return nil
	}
	doing, _, _ := strings.Cut(text, m[0])
	return &LostFile{unescaped.Replace(m[1]), doing, err}
}

// unescaped is the inverse of literal.
var unescaped = strings.NewReplacer("[*]", "*", "[?]", "?", "[[]", "[")
