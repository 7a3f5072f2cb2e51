package gprofng

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/gprofng/archive"
)

// The reasons of problems for content that no table stores. Each kind of content is reported
// once, with its count over all processes.
const (
	unusedElement   = "unused-element"
	unusedAttribute = "unused-attribute"
	unusedEvent     = "unused-event"
	unusedRecord    = "unused-record"
	unusedField     = "unused-field"
	unusedFile      = "unused-file"
)

// unusedContent is a kind of content that is not used, in all files with the same name.
type unusedContent struct{ reason, file, what string }

// unusedLog counts the content that is not used.
type unusedLog struct {
	counts     map[unusedContent]int64
	attributes map[unusedAttributeKey]int64
}

// unusedAttributeKey identifies an attribute by its name and the element that has it. kind and
// object are set only for event elements: the event's attributes of these names.
type unusedAttributeKey struct{ file, element, kind, object, name string }

// maxUnused is the maximum number of kinds of unused content that are counted: real recordings
// have a few dozen.
const maxUnused = 1 << 10

func (l *unusedLog) add(reason, file, what string, count int64) {
	if l.counts == nil {
		l.counts = map[unusedContent]int64{}
	}
	u := unusedContent{reason, file, what}
	if _, known := l.counts[u]; known || len(l.counts) < maxUnused {
		l.counts[u] += count
	}
}

// report reports each kind of unused content, and the unused attributes of each file.
func (l *unusedLog) report(log *diagnostic.Log) {
	order := func(a, b unusedContent) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.file, b.file), cmp.Compare(a.what, b.what))
	}
	add := func(reason, file string, count int64, message string) {
		log.Add(diagnostic.Problem{Severity: diagnostic.Info, File: file, Offset: diagnostic.NoOffset, Reason: reason, Message: message, Count: count})
	}
	for _, u := range slices.SortedFunc(maps.Keys(l.counts), order) {
		add(u.reason, u.file, l.counts[u], u.what+" is not used")
	}
	attributes, total := map[string][]string{}, map[string]int64{}
	for u, count := range l.attributes {
		words := slices.DeleteFunc([]string{u.element, u.kind, u.object, u.name}, func(s string) bool { return s == "" })
		attributes[u.file], total[u.file] = append(attributes[u.file], strings.Join(words, " ")), total[u.file]+count
	}
	for _, file := range slices.Sorted(maps.Keys(attributes)) {
		slices.Sort(attributes[file])
		add(unusedAttribute, file, total[file], "attributes are not used: "+strings.Join(attributes[file], ", "))
	}
}

// noteAttributes counts the attributes of a tag that were not read.
func (e *experiment) noteAttributes(file string, t *tag) {
	if t.closes || t.ignored {
		return
	}
	l := &e.opener.unused
	for _, a := range t.attrs {
		if a.read {
			continue
		}
		u := unusedAttributeKey{file: file, element: t.name, name: a.name}
		if t.name == "event" {
			u.kind, u.object = t.get("kind"), t.get("object")
		}
		if l.attributes == nil {
			l.attributes = map[unusedAttributeKey]int64{}
		}
		if _, known := l.attributes[u]; known || len(l.attributes) < maxUnused {
			l.attributes[u]++
		}
	}
}

// ignore marks a tag as ignored and counts it as unused content.
func (e *experiment) ignore(reason, file string, t *tag, what string) {
	t.ignored = true
	e.opener.unused.add(reason, file, what, 1)
}

// usedFields has, by kind, the packet fields that become columns, or that assign a packet to a
// thread, time or stack.
var usedFields = func() (used [kinds]map[string]bool) {
	for kind := range used {
		used[kind] = map[string]bool{"LWPID": true, "THRID": true, "CPUID": true, "TSTAMP": true, "FRINFO": true, "LEAFPC": true, "IOFNAME": true}
		for _, c := range payload[kind] {
			used[kind][c.field] = true
		}
		for _, state := range microStates {
			used[kind][state] = true
		}
	}
	return used
}()

// noteFields counts the described fields of an event file that are not used.
func (e *experiment) noteFields(f *eventFile, l *layout) {
	note := func(name string) {
		if !usedFields[f.kind][name] {
			e.opener.unused.add(unusedField, eventFiles[f.kind], fmt.Sprintf("the field %s of packets of type %d", name, l.typ), f.packets)
		}
	}
	for name := range l.fields {
		note(name)
	}
	for name := range l.text {
		note(name)
	}
	for _, name := range l.unread {
		note(name)
	}
}

// usedFiles are the files of an experiment that are read, and the archivers' logs, which say
// nothing about the program.
var usedFiles = append(append([]string{archive.Dir}, ownFiles...), archiveLogs...)

// noteFiles counts files and folders of an experiment that are not read.
func (e *experiment) noteFiles() {
	entries, _ := os.ReadDir(e.dir) // the readers of its files report errors
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains(usedFiles, name) || e.sub == "" && strings.HasPrefix(name, "_") && isExperimentName(name) {
			continue
		}
		e.opener.unused.add(unusedFile, name, "the file "+filepath.Base(name)+" of the experiment", 1)
	}
}
