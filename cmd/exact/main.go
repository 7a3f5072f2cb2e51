// Exact compares what stackmill shows about test programs with what these programs log about
// themselves. It is run by hand, and records with perf:
//
//	go run ./cmd/exact -out DIR [-run REGEXP]
//
// Start reading with views.go, which compares. The programs in programs/ touch pages. Each touch is
// a page fault, which perf records with the page's address and the stack. The program logs where it
// touched each page: function, line, inlining, callers and thread. The programs are compiled in
// many ways (builds.go). In all modes, each stack must equal the log or be marked as incomplete
// (match.go), and each view must be the sum of the stacks (views.go).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
)

func main() {
	out := flag.String("out", "", "folder for programs, recordings and the store; it is not removed")
	run := flag.String("run", "", "only builds whose names match this regular expression")
	list := flag.Bool("list", false, "list the builds")
	flag.Parse()
	builds := chosen(regexp.MustCompile(*run))
	if *list {
		for _, b := range builds {
			fmt.Println(b.name)
		}
		return
	}
	if *out == "" {
		fmt.Fprintln(os.Stderr, "exact: -out is missing")
		os.Exit(2)
	}
	builds = slices.DeleteFunc(builds, func(b *build) bool {
		err := b.available()
		if err != nil {
			fmt.Printf("%s: skipped: %v\n", b.name, err)
		}
		return err != nil
	})
	findings, err := examine(context.Background(), *out, builds)
	for _, f := range findings {
		fmt.Println(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "exact:", err)
	}
	if err != nil || len(findings) > 0 {
		os.Exit(1)
	}
}

func chosen(names *regexp.Regexp) []*build {
	return slices.DeleteFunc(buildList(), func(b *build) bool { return !names.MatchString(b.name) })
}
