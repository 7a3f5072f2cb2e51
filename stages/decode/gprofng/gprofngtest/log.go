package gprofngtest

import (
	"fmt"
	"strings"

	"stackmill/schema"
)

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// stamp writes a time as logs do (gprofng-experiment 2.2).
func stamp(ns int64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }

// Log adds a line to log.xml unchanged, after the run event.
func (e *Experiment) Log(format string, args ...any) {
	fmt.Fprintf(&e.log, format+"\n", args...)
}

// Sample adds a sample point to the log: the label of an overview record. The
// first one has id 0.
func (e *Experiment) Sample(time int64, id int, label string) {
	e.Log(`<event kind="sample" tstamp="%s" id="%d" label="%s"/>`, stamp(time), id, escape.Replace(label))
}

// JavaThread adds the life of a Java thread to the log. If until is 0, it leaves out the end.
func (e *Experiment) JavaThread(thread int64, name, group string, from, until int64) {
	e.Log(`<event kind="jthread_start" name="%s" grpname="%s" prntname="" tid="%#x" jthr="%#x" jenv="%#x" tstamp="%s"/>`,
		escape.Replace(name), escape.Replace(group), thread, thread, thread, stamp(from))
	if until != 0 {
		e.Log(`<event kind="jthread_end" tid="%#x" jthr="%#x" jenv="%#x" tstamp="%s"/>`, thread, thread, thread, stamp(until))
	}
}

// Kinds is the number of event kinds that gprofng records. They are the first kinds in schema.Kind.
const Kinds = schema.Perf

// profileNames are the names of the profile elements.
var profileNames = [Kinds]string{
	schema.Clock: "profile", schema.Sync: "synctrace", schema.IO: "iotrace", schema.HWC: "hwcounter",
	schema.Heap: "heaptrace", schema.OMP: "omptrace", schema.Race: "datarace", schema.Deadlock: "deadlock",
}

// fileNames are the names of the files with the kinds' events.
var fileNames = [Kinds]string{
	schema.Clock: "profile", schema.Sync: "synctrace", schema.IO: "iotrace", schema.HWC: "hwcounters",
	schema.Heap: "heaptrace", schema.OMP: "omptrace", schema.Race: "dataraces", schema.Deadlock: "deadlocks",
}

// Declare writes to the log that the process was recorded with a kind of data. Without layouts, it
// uses the layouts of the experiment's form. attrs are further attributes of the profile element,
// such as `ptimer="997" numstates="1"`.
func (e *Experiment) Declare(kind schema.Kind, attrs string, layouts ...Layout) {
	if len(layouts) == 0 {
		layouts = e.Layouts(kind)
	}
	e.layouts = append(e.layouts, declaration{kind, attrs, layouts})
}

// Counter declares a hardware counter. attrs are further attributes, as for Declare.
func (e *Experiment) Counter(tag int, name string, interval int64, attrs string) {
	e.Log(`<profile name="hwcounter" hwcname="%s" int_name="%s" interval="%d" tag="%d" %s/>`, escape.Replace(name), escape.Replace(name), interval, tag, attrs)
}

func (e *Experiment) logText() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`<experiment version="%s">`, e.Version)
	line(`<collector>%s</collector>`, e.Collector)
	line(`</experiment>`)
	pages := fmt.Sprintf(` pagesz="%d" npages="1000"`, e.PageSize)
	if e.Form == Studio123 {
		pages = ""
	}
	line(`<system hostname="%s" arch="%s" os="%s"%s>`, e.Host, e.Arch, e.OS, pages)
	for i := range e.CPUs {
		line(`  <cpu id="%d" clk="%d"/>`, i, e.ClockMHz)
	}
	line(`</system>`)
	e.process(line)
	for _, d := range e.layouts {
		describe(line, d)
	}
	run := fmt.Sprintf(`<event kind="run" tstamp="%s" time="%d" tm_zone="0"/>`, stamp(e.Start), e.Wall)
	line("%s", run)
	b.WriteString(e.log.String())
	if !e.Unclosed {
		if e.Form != Studio123 {
			line("%s", run)
		}
		line(`<event kind="exit" tstamp="%s"/>`, stamp(e.End))
	}
	return b.String()
}

// process writes the log's description of the process: an element for each attribute, or one
// element for all (studio-experiment 4).
func (e *Experiment) process(line func(string, ...any)) {
	directory, command := escape.Replace(e.WorkingDirectory), escape.Replace(e.Command)
	if e.Form == Studio123 {
		line(`<process pid="%d" ppid="%d" pgrp="%d" sid="%d" cwd="%s" pagesz="%d" wsize="%d" stackbase="0x7fffe7d728e8">%s </process>`,
			e.PID, e.PPID, e.PID, e.PPID, directory, e.PageSize, e.WordBits, command)
		return
	}
	line(`<process pid="%d"></process>`, e.PID)
	line(`<process ppid="%d"></process>`, e.PPID)
	line(`<process cwd="%s"></process>`, directory)
	line(`<process wsize="%d"></process>`, e.WordBits)
	line(`<process>%s</process>`, command)
}

// describe writes the description of a data file (gprofng-experiment 2.5).
func describe(line func(string, ...any), d declaration) {
	line(`<profile name="%s" %s>`, profileNames[d.kind], d.attrs)
	line(`  <profdata fname="%s"/>`, fileNames[d.kind])
	for _, l := range d.layout {
		line(`  <profpckt kind="%d" uname="Packets">`, l.Type)
		for _, f := range l.Fields {
			line(`    <field name="%s" uname="%s" offset="%d" type="%s"/>`, f.Name, f.Name, f.Offset, f.Type)
		}
		line(`  </profpckt>`)
	}
	line(`</profile>`)
}
