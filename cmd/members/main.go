// Members writes C and C++ programs that access members of random structures and log which member
// each access is to. It is run by hand:
//
//	go run ./cmd/members -out DIR -programs 20 -seed 1
//	testdata/guarded/src/make.sh OUT DIR/*.c
//
// Each function of a program accesses one member (or a few), in one of the ways in ops.go.
// testdata/guarded/src/guard.c makes each access to the structures a page fault, of which perf
// records the exact instruction and address.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", ".", "folder for the programs")
	programs := flag.Int("programs", 10, "number of programs of each language")
	seed := flag.Uint64("seed", 1, "seed of the first program; the next ones have the next numbers")
	structures := flag.Int("structures", 4, "structures in each program")
	functions := flag.Int("functions", 24, "functions for each structure")
	flag.Parse()
	for i := range uint64(*programs) {
		for _, language := range []string{"c", "cpp"} {
			n := *seed + i
			g := &generator{Rand: rand.New(rand.NewPCG(n, uint64(len(language)))), cpp: language == "cpp"}
			path := filepath.Join(*out, fmt.Sprintf("g%d.%s", n, language))
			if err := os.WriteFile(path, g.program(*structures, *functions), 0o666); err != nil {
				fmt.Fprintln(os.Stderr, "members:", err)
				os.Exit(1)
			}
		}
	}
}
