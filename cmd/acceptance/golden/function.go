package golden

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Function is an entry of gprofng's function summary.
type Function struct {
	Name       string
	Size       int64
	Offset     int64 // offset in the load object's file
	LoadObject string
	Linkage    string // linkage name; "" if that is Name
	Aliases    []string
}

// ReadFunctions reads a function summary, which gprofng's command fsummary prints.
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
			body = true // before the first blank line is the head
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
		if !strings.Contains(value, "(") { // not a C++ name, which may have commas
			f.Aliases = strings.Fields(strings.ReplaceAll(value, ",", " "))
		}
	}
	return err
}

// NoFunctions reports whether gprofng made the function up, for PCs after what it takes for the end
// of the text. Such functions include parts of real ones (gprofng-experiment 6.6).
func (f Function) NoFunctions() bool { return strings.HasSuffix(f.Name, "no functions found") }
