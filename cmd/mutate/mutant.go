package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// mutation is a way to damage a recording. do returns false if it does not apply to the recording.
type mutation struct {
	name string
	do   func(d *damage) bool
}

// mutations are all ways to damage a recording.
var mutations = slices.Concat(fileMutations, packetMutations, textMutations, perfMutations, perfFieldMutations, perfLargeMutations, wallMutations, wallBombs, elfMutations, dwarfMutations)

// damage is a recording that is being damaged.
type damage struct {
	*rand.Rand
	rec   *recording
	words []string // what was damaged, as text
	truth truth    // which differences stackmill cannot notice
	err   error    // error of reading a file of the base
}

// did notes a damage, and how many records it changes. kind is a key of truths, or "" for damage that
// stackmill must report. did always returns true, which mutation.do can return.
func (d *damage) did(kind string, records int, format string, args ...any) bool {
	t := truths[kind]
	t.samples *= records * d.rec.base.events
	d.truth = d.truth.plus(t)
	d.words = append(d.words, fmt.Sprintf(format, args...))
	return true
}

// read returns the name and content of a random file of the recording that matches a pattern.
func (d *damage) read(patterns ...string) (name string, data []byte) {
	names := d.rec.names(patterns...)
	if len(names) == 0 {
		return "", nil
	}
	name = names[d.IntN(len(names))]
	data, err := d.rec.read(name)
	if err != nil {
		d.err = err
	}
	return name, data
}

func (d *damage) write(name string, data []byte) { d.rec.changed[name] = data }

// absurd returns an unlikely number, such as the highest of a type.
func (d *damage) absurd() uint64 {
	numbers := []uint64{0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 47, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 1, ^uint64(0) - 4095, d.Uint64(), d.Uint64N(1 << 20)}
	return numbers[d.IntN(len(numbers))]
}

func pick[T any](d *damage, list []T) T { return list[d.IntN(len(list))] }

// mutant identifies a damaged recording: the same seed, base and mutation always make the same one.
type mutant struct {
	seed     uint64
	base     *base
	mutation mutation
}

func (m mutant) name() string { return fmt.Sprintf("%s-%s-%d", m.base.name, m.mutation.name, m.seed) }

// again returns the command that makes and tests this mutant only.
func (m mutant) again() string {
	return fmt.Sprintf("go run -tags duckdb_arrow ./cmd/mutate -seed %d -base %s -mutation %s -n 1 -keep DIR", m.seed, m.base.name, m.mutation.name)
}

// make damages the base. It returns nil if the mutation does not apply to the base.
func (m mutant) make(archive string) (*damage, error) {
	rec, err := newRecording(m.base, archive)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(m.base.name + " " + m.mutation.name))
	d := &damage{Rand: rand.New(rand.NewPCG(m.seed, h.Sum64())), rec: rec}
	for range 8 { // it may fail because of a random choice
		if m.mutation.do(d) && d.err == nil {
			return d, nil
		}
	}
	return nil, d.err
}

// chooser returns a function that maps seeds to mutants. Successive seeds go through all pairs of a
// base and a mutation, whether the mutation applies to the base or not.
func chooser(bases []*base, mutations []mutation) func(seed uint64) mutant {
	var pairs []mutant
	for _, mu := range mutations {
		for _, b := range bases {
			pairs = append(pairs, mutant{0, b, mu})
		}
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(pairs)) // shuffled, so that even a few mutants vary
	return func(seed uint64) mutant {
		m := pairs[order[seed%uint64(len(pairs))]]
		m.seed = seed
		return m
	}
}
