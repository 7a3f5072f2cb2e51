package main

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"stackmill/internal/corpus"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// shape describes a recording to compose, of a server that allocates memory on several threads.
type shape struct {
	seed                     uint64
	records, threads, stacks int
	of                       int    // number of stacks of the program, of which the recording has some; 0: it has all
	objects                  string // folder of the load objects; "": they are in the recording's archive
	wall                     int64  // when the recording was made, in seconds since 1970; 0: a fixed day
}

const (
	minDepth = 5
	maxDepth = 40
	step     = 2_000 // mean time between two calls of a thread, in ns
)

// objects are the load objects in composed recordings. Their files are from the archive of a real
// recording of a C++ program.
var objects = []string{"/tmp/corpus/bin/cxx", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "/usr/lib/x86_64-linux-gnu/libc.so.6"}

// recording returns the path of a composed recording, and makes it if it is missing.
func recording(dir string, records int) (string, error) {
	return made(filepath.Join(dir, fmt.Sprintf("heap-%d.er", records)), func(part string) error {
		return compose(part, shape{seed: 1, records: records, threads: 8, stacks: 6000})
	})
}

func compose(dir string, like shape) error {
	files, err := corpus.Dir()
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(like.seed, 2)) // a fixed seed, so that the recording is always the same
	code := rnd
	if like.of > 0 {
		code = rand.New(rand.NewPCG(1, 2)) // another seed for the code: all experiments run the same program
	}
	e := gprofngtest.New(dir)
	e.Command = "/tmp/corpus/bin/cxx"
	if like.wall != 0 {
		e.Wall = like.wall
	}
	e.End = int64(like.records) * step / int64(like.threads)
	e.Declare(schema.Heap, "", gprofngtest.Layouts[schema.Heap][0])
	var pcs []uint64
	for i, object := range objects {
		file := filepath.Join(like.objects, filepath.Base(object))
		if like.objects != "" {
			object = file
		} else if file, err = archive(e, files, object); err != nil {
			return err
		}
		found, err := mapText(e, object, file, uint64(i+1)<<32, code)
		if err != nil {
			return err
		}
		pcs = append(pcs, found...)
	}
	paths := walks(pcs, max(like.of, like.stacks), code)
	if like.of > 0 {
		rnd.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	}
	calls(e, like, paths[:like.stacks], rnd)
	return e.Close()
}

// archived returns the path of a load object's file in the archive of the real recording.
func archived(files, object string) (string, error) {
	found, err := filepath.Glob(filepath.Join(files, "exp", "all.er", "archives", filepath.Base(object)+"_*"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d archived files for %s: %w", len(found), object, err)
	}
	return found[0], nil
}

// archive copies a load object into the archive of a composed recording, and returns the path of
// its file.
func archive(e *gprofngtest.Experiment, files, object string) (string, error) {
	file, err := archived(files, object)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(file)
	e.Archive(object, content)
	return file, err
}

// mapText maps the text of a load object at the address base, and returns PCs in its functions.
func mapText(e *gprofngtest.Experiment, object, file string, base uint64, rnd *rand.Rand) ([]uint64, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text *elf.Prog
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			text = p
		}
	}
	symbols, err := f.DynamicSymbols()
	if own, e := f.Symbols(); e == nil {
		symbols, err = own, nil
	}
	if err != nil || text == nil {
		return nil, fmt.Errorf("%s: no text or symbols: %w", file, err)
	}
	const page = 4096
	start := base + text.Off/page*page
	e.Segment(0, start, (text.Off%page+text.Filesz+page-1)/page*page, text.Off/page*page, 5, object)
	var pcs []uint64
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size < 16 || s.Value < text.Vaddr || s.Value >= text.Vaddr+text.Filesz {
			continue
		}
		for range 2 {
			pcs = append(pcs, base+text.Off+s.Value-text.Vaddr+rnd.Uint64N(s.Size))
		}
	}
	return pcs, nil
}

// walks returns random stacks of the PCs, the leaf first. Sixteen in a row share their outer frames.
func walks(pcs []uint64, stacks int, rnd *rand.Rand) [][]uint64 {
	paths := make([][]uint64, 0, stacks)
	var trunk []uint64 // the shared outer frames, from the root
	for len(paths) < stacks {
		if len(paths)%16 == 0 {
			trunk = trunk[:0]
			for range minDepth + rnd.IntN(maxDepth-minDepth-3) {
				trunk = append(trunk, pcs[rnd.IntN(len(pcs))])
			}
		}
		stack := append([]uint64{}, trunk...)
		for range 1 + rnd.IntN(3) {
			stack = append(stack, pcs[rnd.IntN(len(pcs))])
		}
		slices.Reverse(stack)
		paths = append(paths, stack)
	}
	return paths
}

// Operations in heap packets (gprofng-experiment 3.4).
const (
	opMalloc, opFree, opRealloc = 0, 1, 2
)

// calls writes the heap calls. Of 100 calls, about 50 allocate, 45 free and 5 reallocate. Some
// blocks are never freed, so they leak.
func calls(e *gprofngtest.Experiment, like shape, paths [][]uint64, rnd *rand.Rand) {
	ids := make([]uint64, len(paths))      // by stack: its id in the recording; 0: not recorded yet
	popular := make([]float64, len(paths)) // by stack: sum of the weights up to it; the weight of the n-th stack is 1/n
	sum := 0.0
	for i := range popular {
		sum += 1 / float64(i+1)
		popular[i] = sum
	}
	w := e.Events(schema.Heap)
	layout := &gprofngtest.Layouts[schema.Heap][0]
	live := make([][]int64, like.threads)
	next, times := int64(0x5000_0000_0000), make([]int64, like.threads)
	for n := range like.records {
		t := n % like.threads
		times[t] += 1 + rnd.Int64N(2*step)
		path := sort.SearchFloat64s(popular, rnd.Float64()*sum)
		if ids[path] == 0 {
			ids[path] = e.Frame(paths[path]...)
		}
		p := gprofngtest.Packet{Thread: int64(1001 + t), CPU: int32(t % 4), Time: times[t], Stack: ids[path]}
		size, op := 16*(1+rnd.Int64N(64)), opMalloc
		if r := rnd.IntN(100); len(live[t]) > 0 && r >= 50 {
			op = opFree
			if r >= 95 {
				op = opRealloc
			}
		}
		address, old := next, int64(0)
		if op != opMalloc {
			k := rnd.IntN(len(live[t]))
			old = live[t][k]
			live[t][k] = live[t][len(live[t])-1]
			live[t] = live[t][:len(live[t])-1]
		}
		if op == opFree {
			size, address, old = 0, old, 0
		} else {
			live[t] = append(live[t], address)
			next += 1024
		}
		p.Values = []int64{int64(op), size, address, old}
		w.Put(t, layout, p)
	}
}
