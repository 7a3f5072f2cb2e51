package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The recording of heap calls is of a single-threaded program that makes and frees lists, at 32
// depths of the stack. Half of its heap calls allocate.
const (
	listsFile  = "lists.er"
	listsCalls = 4_000_000
	listsCode  = `#include <stdlib.h>
#include <string.h>
struct list { struct list *next; char text[40]; };
static struct list *push(struct list *l, int n) { struct list *e = malloc(sizeof *e); e->next = l; memset(e->text, n, sizeof e->text); return e; }
static void drop(struct list *l) { while (l) { struct list *n = l->next; free(l); l = n; } }
static int nested(int depth, int n) {
  if (depth) return nested(depth - 1, n) + 1;
  struct list *l = 0;
  for (int i = 0; i < n; i++) l = push(l, i);
  drop(l);
  return 0;
}
int main(int argc, char **argv) { int s = 0; for (int n = atoi(argv[1]); n > 0; n -= 200) s += nested(n / 200 % 32, 100); return s & 1; }
`
)

// heapCalls compares how fast stackmill and gprofng read the heap calls of a program
// that it records.
func (b *bench) heapCalls() error {
	const work = "gprofng heap"
	path, err := lists(b.dir)
	if skip, err := b.unrecorded(work, err); skip {
		return err
	}
	return b.hold(contest{work: work, path: path, samples: listsCalls, peer: functionList(path), ratio: 0.25, bytes: 1.8})
}

// lists returns the path of the recording, which it makes if it is missing.
func lists(dir string) (string, error) {
	return made(filepath.Join(dir, listsFile), recordLists)
}

func recordLists(path string) error {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		return fmt.Errorf("%w: there is no gcc", errUnrecorded)
	}
	gprofng, err := exec.LookPath("gprofng")
	if err != nil {
		return fmt.Errorf("%w: there is no gprofng", errUnrecorded)
	}
	source, program := filepath.Join(filepath.Dir(path), "lists.c"), filepath.Join(filepath.Dir(path), "lists")
	if err := os.WriteFile(source, []byte(listsCode), 0o666); err != nil {
		return err
	}
	for _, command := range [][]string{
		{compiler, "-g", "-O0", source, "-o", program}, // without optimization, which would remove the calls
		{gprofng, "collect", "app", "-p", "off", "-H", "on", "-o", path, program, fmt.Sprint(listsCalls)},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %v: %w: %s", errUnrecorded, command, err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// server compares how fast stackmill and gprofng read the heap calls in a composed recording of a
// server, with eight threads and thousands of stacks.
func (b *bench) server() error {
	path, err := recording(b.dir, b.records)
	if err != nil {
		return err
	}
	return b.hold(contest{work: "gprofng heap, a server", path: path, samples: b.records, cold: true, peer: functionList(path), ratio: 0.25})
}

// functionList is the contender in which gprofng lists the functions of a recording.
func functionList(path string) contender {
	c := contender{name: "gprofng display text -functions"}
	if gprofng, err := exec.LookPath("gprofng"); err == nil {
		c.args = []string{gprofng, "display", "text", "-limit", "0", "-functions", path}
	}
	return c
}
