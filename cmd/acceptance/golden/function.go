package golden

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Function is one entry of the function summary.
type Function struct {
	Name       string
	Size       int64
	Offset     int64 // in the load object's file
	LoadObject string
	Linkage    string // empty when it is the name
	Aliases    []string
}

// ReadFunctions reads a function summary (`fsummary`).
func ReadFunctions(path string) ([]Function, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var fs []Function
	body := false
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		switch {
		case line == "":
			body = true // the lines before the first blank one are the head
		case !body:
		case !strings.HasPrefix(line, "\t"):
			fs = append(fs, Function{Name: line})
		case len(fs) > 0:
			if err := fs[len(fs)-1].set(strings.TrimSpace(line)); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
	}
	return fs, sc.Err()
}

func (f *Function) set(line string) (err error) {
	key, value, found := strings.Cut(line, ":")
	if !found {
		return fmt.Errorf("no value in %q", line)
	}
	value = strings.TrimSpace(value)
	switch key {
	case "Size":
		f.Size, err = strconv.ParseInt(value, 10, 64)
	case "PC Address":
		_, offset, _ := strings.Cut(value, ":")
		f.Offset, err = strconv.ParseInt(offset, 0, 64)
	case "Load Object":
		f.LoadObject = value
	case "Mangled Name":
		f.Linkage = value
	case "Aliases":
		f.Aliases = []string{value}
		if !strings.Contains(value, "(") { // C++ names have commas of their own
			f.Aliases = strings.Fields(strings.ReplaceAll(value, ",", " "))
		}
	}
	return err
}

// NoFunctions reports whether gprofng made the function up for PCs beyond what it takes for the end
// of the text: such rows swallow parts of real functions (gprofng-experiment 6.6).
func (f Function) NoFunctions() bool { return strings.HasSuffix(f.Name, "no functions found") }
