package storedir

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// bareStore makes a store with many metadata commits, some of them repeated by others or obsolete.
func bareStore(t *testing.T) (store string) {
	store = t.TempDir()
	var ids []string
	for i := range 2 * maxMetadataCommits {
		ids = append(ids, fmt.Sprintf("x%03d", i))
	}
	made(t, store, 0, "b1", strings.Join(ids, " "), own("k", "0"))
	made(t, store, 1, "b2", "y z w", nil)
	for i, id := range ids[:maxMetadataCommits+5] {
		status := Forgotten
		if i%3 == 0 {
			status = Summary
		}
		made(t, store, 2, fmt.Sprintf("f%03d", i), id+".2", out(status))
		made(t, store, 2, fmt.Sprintf("l%03d", i), ids[len(ids)-1-i%7]+" y", labels(1+i*5%11, fmt.Sprint("k", i%4), fmt.Sprint(i)))
	}
	made(t, store, 3, "b3", ids[1]+".3", own("k", "3", "l001"))
	made(t, store, 4, "f9", ids[1]+".4 "+ids[2]+".3", out(Forgotten))
	made(t, store, 4, "f8", "z.2", takesOut)
	made(t, store, 5, "b4", ids[4]+".3", nil)
	return store
}

// Merging metadata commits keeps their content: whichever program merges them, whatever is
// committed meanwhile, and whichever are removed before the program is killed.
func TestMergeBare(t *testing.T) {
	for seed := range uint64(8) {
		store := bareStore(t)
		look := func() *Contents {
			t.Helper()
			c, err := ReadContents(store)
			if err != nil || len(c.Damaged) > 0 {
				t.Fatal(err, c.Damaged)
			}
			return c
		}
		first, second := look(), look()
		merge := func(c *Contents) {
			t.Helper()
			if _, err := c.CompactMetadata(Keep, ""); err != nil {
				t.Fatal(err)
			}
		}
		if seed%2 == 1 {
			made(t, store, 6, "b5", "x005.3", nil)
			made(t, store, 6, "f7", "x007.3 w.2", out(Forgotten))
			made(t, store, 6, "l7", "y", labels(100, "k1", "new"))
			if seed%4 == 1 {
				second = look()
			}
		}
		want := visible(look())
		merge(first)
		merge(second)
		if got := visible(look()); got != want {
			t.Fatalf("merged: %s\nwant %s", got, want)
		}
		r := rand.New(rand.NewPCG(seed, 0))
		c := look()
		for _, x := range c.Replaced { // killed while it sweeps
			if !c.keepsOthersObsolete(x, c.lowestGenerations()) && r.IntN(2) == 0 {
				if err := os.Remove(commitPath(store, x.Batch)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := visible(look()); got != want {
			t.Fatalf("half removed: %s\nwant %s", got, want)
		}
		c = look()
		for i := range c.Replaced { // long ago
			c.Replaced[i].Since = time.Unix(0, 0)
		}
		c.Sweep(Keep)
		if c = look(); visible(c) != want || len(c.Metadata) > 8 || c.Latest("x002").Status != Forgotten || c.Latest("x002").Generation != 3 {
			t.Errorf("swept: %s, %d commits without files\nwant %s", visible(c), len(c.Metadata), want)
		}
		if l := c.Latest("x001"); l.Status != Forgotten || l.Generation != 4 || l.Was != "complete" {
			t.Errorf("%+v", l)
		}
	}
}

// A few metadata commits are not merged, nor are young ones.
func TestMergeFewBare(t *testing.T) {
	store := bareStore(t)
	c, err := ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.CompactMetadata(math.MaxInt64, ""); n != 0 || err != nil {
		t.Error(n, err)
	}
	n, err := c.CompactMetadata(Keep, "")
	if n <= 2*maxMetadataCommits || err != nil {
		t.Error(n, err)
	}
	names := func() (list []string) {
		for _, d := range c.Metadata {
			list = append(list, d.Batch)
		}
		return list
	}
	before := names()
	if n, err := c.CompactMetadata(Keep, ""); n != 0 || err != nil || !slices.Equal(before, names()) {
		t.Error(n, err, before, names())
	}
	next := c.NextGeneration("x000")
	if err := c.Label(Labels{Experiments: []string{"y"}, Set: map[string]string{"k1": "last"}}, ""); err != nil {
		t.Fatal(err)
	}
	if l := c.Latest("y"); l.Labels["k1"] != "last" || next != 3 {
		t.Error(l, next)
	}
}
