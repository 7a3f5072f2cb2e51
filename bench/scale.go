package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stackmill/acceptance/corpus"
)

// scaleQuestions are what people ask a store of many experiments; JOB stands for one.
var scaleQuestions = []struct{ name, args string }{
	{"functions of one experiment", "report functions --limit 10 --experiment JOB"},
	{"top functions of all", "query SELECT function, sum(exclusive) AS value FROM function_metrics WHERE mode = 'user' AND metric = 'heapallocbytes' AND kind <> 'artificial' GROUP BY 1 ORDER BY 2 DESC LIMIT 10"},
	{"trend of one function", "query SELECT experiment, inclusive FROM function_metrics WHERE mode = 'user' AND metric = 'heapallocbytes' AND function = 'malloc' ORDER BY 1"},
	{"list of experiments", "experiments"},
}

// What a store of many experiments may cost (ms of processor time, files and kilobytes
// for each experiment; ms for the program to answer).
const (
	scaleCPU    = 10
	scaleFiles  = 2
	scaleBytes  = 25
	scaleAgain  = 1000
	scaleAnswer = 250
	scaleCores  = 1.8
)

// scale measures a store of many small experiments: what each costs, and what questions
// over all of them do.
func (b *bench) scale() error {
	root, err := many(b.dir, b.experiments)
	if err != nil {
		return err
	}
	n := float64(b.experiments)
	first := b.ingest("", root, "--recursive")
	if err := takeTurns(1, []contender{first}); err != nil { // fills the cache
		return err
	}
	ingest := []contender{first}
	if err := takeTurns(b.rounds, ingest); err != nil {
		return err
	}
	stored, err := tableSizes(b.store())
	if err != nil {
		return err
	}
	files, err := filesBelow(b.store())
	if err != nil {
		return err
	}
	fmt.Printf("\n%d experiments: %.1f s, %v\n", b.experiments, ingest[0].runs.elapsed().Seconds(), stored)
	b.figures.add(figure{work: "CPU of a small experiment", value: float64(ingest[0].runs.cpu()) / float64(time.Millisecond) / n, unit: "ms", target: scaleCPU})
	b.figures.add(figure{work: "processors busy, small experiments", value: ingest[0].runs.cores(), target: scaleCores, atLeast: true})
	b.figures.add(figure{work: "files of a small experiment", value: float64(files) / n, target: scaleFiles})
	b.figures.add(figure{work: "bytes of a small experiment", value: float64(stored.total()) / 1e3 / n, unit: "kB", target: scaleBytes})

	asked := []contender{{args: first.args}}
	for _, q := range scaleQuestions {
		verb, rest, _ := strings.Cut(q.args, " ")
		args := []string{b.program, verb, "--store", b.store()}
		if verb == "query" {
			args = append(args, rest)
		} else {
			args = append(args, strings.Fields(strings.ReplaceAll(rest, "JOB", fmt.Sprintf("job-%05d.er", b.experiments/2)))...)
		}
		asked = append(asked, contender{args: args})
	}
	if err := takeTurns(b.rounds, asked); err != nil {
		return err
	}
	ms := func(c contender) float64 { return float64(c.runs.elapsed()) / float64(time.Millisecond) }
	b.figures.add(figure{work: "ingest of nothing new among many", value: ms(asked[0]), unit: "ms", target: scaleAgain})
	for i, q := range scaleQuestions {
		b.figures.add(figure{work: q.name, value: ms(asked[i+1]), unit: "ms", target: scaleAnswer})
	}
	return os.RemoveAll(b.store())
}

// filesBelow counts the files below a folder.
func filesBelow(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

// nightSize is how many experiments are in one folder.
const nightSize = 100

// many returns a folder with n small experiments that differ in their samples, stacks and
// threads, of three load objects that they share. It makes those that are not there.
func many(dir string, n int) (string, error) {
	root := filepath.Join(dir, fmt.Sprintf("scale-%d", n))
	shared, err := sharedObjects(filepath.Join(dir, "scale-objects"))
	if err != nil {
		return "", err
	}
	for i := range n {
		path := filepath.Join(root, fmt.Sprintf("night-%03d", i/nightSize), fmt.Sprintf("job-%05d.er", i))
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		part := filepath.Join(filepath.Dir(path), "unfinished")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.RemoveAll(part)); err != nil {
			return "", err
		}
		like := shape{seed: uint64(i) + 100, records: 200 + 37*(i%41), threads: 1 + i%4, stacks: 20 + i%60, of: 200, objects: shared}
		if err := errors.Join(compose(part, like), os.Rename(part, path)); err != nil {
			return "", err
		}
	}
	return root, nil
}

// sharedObjects puts the load objects of composed recordings into a folder.
func sharedObjects(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	files, err := corpus.Dir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	for _, object := range objects {
		file, err := archived(files, object)
		if err != nil {
			return "", err
		}
		content, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(object)), content, 0o777)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}
