package queries

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
)

// The help texts of the options that hide functions.
const (
	HideHelp    = `hide the functions of these load objects; their time moves to their callers. A name, with or without its version (libc.so), a path, or a pattern (libstdc*)`
	APIOnlyHelp = `show only the entry points of these load objects: the functions that other load objects call`
)

// Library is a load object of which all functions are hidden, or all but its entry points.
type Library struct {
	Name, Path string
	APIOnly    bool
}

// libraries finds the load objects of the store that the filter names.
func (f *Filter) libraries(ctx context.Context, db *DB) (found []Library, err error) {
	if !f.hides() {
		return nil, nil
	}
	// Artificial load objects stand for code that belongs to none.
	known, err := db.Records(ctx, "SELECT DISTINCT name, path FROM load_objects WHERE kind NOT IN ('artificial', 'unknown') ORDER BY ALL")
	if err != nil {
		return nil, err
	}
	for _, of := range []struct {
		patterns []string
		apiOnly  bool
	}{{f.Hide, false}, {f.APIOnly, true}} {
		for _, pattern := range of.patterns {
			named, err := librariesOf(pattern, known)
			if err != nil {
				return nil, &FilterError{err}
			}
			for _, l := range named {
				if slices.Contains(found, Library{l.Name, l.Path, !of.apiOnly}) {
					return nil, &FilterError{fmt.Errorf("load object %s is in both --hide and --api-only", l.Name)}
				}
				if l.APIOnly = of.apiOnly; !slices.Contains(found, l) {
					found = append(found, l)
				}
			}
		}
	}
	return found, nil
}

// librariesOf returns the load objects that a pattern matches.
func librariesOf(pattern string, known []Record) (found []Library, err error) {
	// gprofng writes names of load objects in angle brackets.
	text := strings.TrimSuffix(strings.TrimPrefix(pattern, "<"), ">")
	var names []string
	for _, k := range known {
		l := Library{Name: k.Text("name"), Path: k.Text("path")}
		if l.is(text) {
			found = append(found, l)
		}
		names = append(names, l.Name, unversioned(l.Name))
	}
	if found == nil {
		slices.Sort(names)
		return nil, fmt.Errorf("no load object %q%s (stackmill report objects lists them)", pattern, Suggest(text, slices.Compact(names)))
	}
	return found, nil
}

// is reports whether a text names the load object: it is the name or path, with or without the
// version, or a pattern that matches.
func (l Library) is(text string) bool {
	name := strings.Trim(l.Name, "<>")
	if strings.Contains(text, "/") {
		name = l.Path
	}
	if text == name || text == unversioned(name) {
		return true
	}
	if rest, ok := strings.CutPrefix(name, text+"."); ok && strings.Contains(text, ".so") && strings.Trim(rest, "0123456789.") == "" {
		return true
	}
	matches, err := path.Match(text, name)
	return err == nil && matches
}

// HiddenFunctions returns texts that say which functions a filtered session hides.
func (db *DB) HiddenFunctions() (all []string) {
	for _, apiOnly := range []bool{false, true} {
		var names []string
		for _, l := range db.Libraries {
			if l.APIOnly == apiOnly {
				names = append(names, l.Name)
			}
		}
		if names != nil {
			all = append(all, "functions of "+SomeNames(names)+map[bool]string{true: " that others do not call"}[apiOnly]+": their time goes to their callers")
		}
	}
	return all
}

// fewNames is how many names are written out in a sentence.
const fewNames = 5

// SomeNames returns a text that lists a few of the names, each once.
func SomeNames(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if more := len(names) - fewNames; more > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:fewNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

// versions matches the parts of a shared object's name that may contain its version.
var versions = lazyregexp.New(`-\d[\d.]*(\.so)\b|(\.so)(?:\.\d+)+$`)

// unversioned returns a load object's name without its version.
func unversioned(name string) string {
	for range 2 { // for both parts
		name = versions().ReplaceAllString(name, "$1$2")
	}
	return name
}
