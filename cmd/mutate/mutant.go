package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// mutation is one way to damage a recording. It returns false if the recording has nothing of that
// kind.
type mutation struct {
	name string
	do   func(d *damage) bool
}

// mutations are all of them.
var mutations = slices.Concat(fileMutations, packetMutations, textMutations, perfMutations, perfFieldMutations, perfLargeMutations, elfMutations, dwarfMutations)

// damage is a recording that is being damaged.
type damage struct {
	*rand.Rand
	rec   *recording
	words []string // descriptions of the damages
	truth truth    // what may differ without an error or warning
	err   error    // a file of the base cannot be read
}

// did records a damage and the number of records that it touches. If kind is in truths, some
// changes may go unnoticed; stackmill must report all others.
func (d *damage) did(kind string, records int, format string, args ...any) bool {
	t := truths[kind]
	t.samples *= records * d.rec.base.events
	d.truth = d.truth.plus(t)
	d.words = append(d.words, fmt.Sprintf(format, args...))
	return true
}

// read returns the content of a random file of the recording that matches.
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

// absurd returns an extreme number.
func (d *damage) absurd() uint64 {
	numbers := []uint64{0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 47, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 1, ^uint64(0) - 4095, d.Uint64(), d.Uint64N(1 << 20)}
	return numbers[d.IntN(len(numbers))]
}

func pick[T any](d *damage, list []T) T { return list[d.IntN(len(list))] }

// mutant is a damaged recording, determined by its seed, base and mutation.
type mutant struct {
	seed     uint64
	base     *base
	mutation mutation
}

func (m mutant) name() string { return fmt.Sprintf("%s-%s-%d", m.base.name, m.mutation.name, m.seed) }

// again returns the command that makes and tests the mutant again.
func (m mutant) again() string {
	return fmt.Sprintf("go run -tags duckdb_arrow ./cmd/mutate -seed %d -base %s -mutation %s -n 1 -keep DIR", m.seed, m.base.name, m.mutation.name)
}

// make damages the base; nil if the mutation does not fit the base.
func (m mutant) make(archive string) (*damage, error) {
	rec, err := newRecording(m.base, archive)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(m.base.name + " " + m.mutation.name))
	d := &damage{Rand: rand.New(rand.NewPCG(m.seed, h.Sum64())), rec: rec}
	for range 8 { // a random choice may not fit
		if m.mutation.do(d) && d.err == nil {
			return d, nil
		}
	}
	return nil, d.err
}

// chooser returns a function that maps seeds to mutants: successive seeds go through all pairs of a
// base and a mutation, including pairs that do not fit.
func chooser(bases []*base, mutations []mutation) func(seed uint64) mutant {
	var pairs []mutant
	for _, mu := range mutations {
		for _, b := range bases {
			pairs = append(pairs, mutant{0, b, mu})
		}
	}
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(pairs)) // shuffled, so that a few mutants are of many kinds
	return func(seed uint64) mutant {
		m := pairs[order[seed%uint64(len(pairs))]]
		m.seed = seed
		return m
	}
}
