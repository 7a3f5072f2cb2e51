package serve

import "strings"

// remedy is what helps against a reason why something is unknown.
type remedy struct {
	reason  string // a part of the reason
	help    string
	command string // a command for people to complete and run; $OBJECT is replaced by the load object's name. May be empty
}

const (
	recordWithStacks = "perf record -g -o night.data -- PROGRAM"
	resymbolize      = "stackmill resymbolize --store STORE --debug-dir DIRECTORY"
)

// remedies lists what helps. The first one whose reason is a part of the unknown's reason applies.
var remedies = []remedy{
	{"PC in no load object", "The code was generated while the program ran, or its file was not mapped when it was recorded. Compilers that generate code can announce it: Java with perf-map-agent, V8 with --perf-basic-prof, others by jitdump. Then give the directory of their files.",
		"stackmill resymbolize --store STORE --perf-map-dir DIRECTORY"},
	{"generated code", "The program generated the code and told nobody its name. Let it write a perf map or a jitdump, or announce it by gprofng's collector API.",
		"stackmill resymbolize --store STORE --perf-map-dir DIRECTORY"},
	{"address space not recorded", "The mappings of the process are missing: it ran before perf started, or records were lost. Record from the start of the process, or let perf write the existing mappings (without --synth=no).",
		recordWithStacks},
	{"PC in a data section", "The address is in data: it comes from a damaged stack, or from code that the program wrote there. Record stacks by call frame information.",
		"perf record --call-graph dwarf -o night.data -- PROGRAM"},
	{"in the kernel", "The names of the kernel's functions were not recorded, because only root may read them. Give a copy of /proc/kallsyms of that boot that root made, or record as root.",
		"stackmill resymbolize --store STORE --kallsyms FILE"},
	{"function not known to the profile", "The profile has an address without a function: it was written without symbols. Write it by a program with symbols, or with the program beside it.", ""},
	{"Java method not recorded", "gprofng did not record the names of Java methods. Record with Java profiling on.", "gprofng collect app -j on -o night.er java PROGRAM"},
	{"call instruction not recorded", "The caller's instruction was taken from its return address, because the code was not found. Give the file of $OBJECT.",
		"stackmill resymbolize --store STORE --symfs DIRECTORY"},
	{"not compiled with -xhwcprof", "$OBJECT has no debug information: compile with -g, install its debug package, or name the directory that has it.", resymbolize},
	{"find a valid branch target", "The function's code cannot be read: give the recorded files themselves.", "stackmill resymbolize --store STORE --symfs DIRECTORY"},
	{"traversed a branch target", "A jump leads between the access and the recorded PC: record events with exact PCs.", "perf mem record -o night.data -- PROGRAM"},
	{"prevented by a jump or call", "A jump or a call lies between the access and the recorded PC: record events with exact PCs.", "perf mem record -o night.data -- PROGRAM"},
	{"did not find trigger PC", "The instruction that accessed memory was not found near the recorded PC: record events with exact PCs.", "perf mem record -o night.data -- PROGRAM"},
	{"registers changed", "The registers that told the address changed before it was recorded: record events with data addresses.", "perf mem record -o night.data -- PROGRAM"},
	{"did not specify a valid VA", "The recorded data address is none: record with an event of the processor that has data addresses.", "perf mem record -o night.data -- PROGRAM"},
	{"No type information", "The instruction accesses no memory: a page of its code was missing, or the event counts other things as well. Nothing is to be done about these.", ""},
	{"No identifying descriptor", "The function has no debug information of its own, as assembly has none. Compile it with -g, if it is C or C++.", resymbolize},
	{"symbolic information", "The operand is relative to a value without variable or type: a temporary, an optimized variable, or untyped memory. Compilers keep more variables with -Og.", ""},
	{"no call stack recorded", "The event was recorded without stacks.", recordWithStacks},
	{"call stack missing", "The recording has lost the stack: its files were cut or damaged. Copy the recording again, or record again.", ""},
	{"part of the call stack", "The recording has lost a part of the stack: its files were cut or damaged. Copy the recording again, or record again.", ""},
	{"circle", "The recording is damaged. Copy it again, or record again.", ""},
	{"longer than the kernel records", "The kernel cuts stacks at a number of frames. Raise it before recording.", "sudo sysctl kernel.perf_event_max_stack=1024"},
	{"longer than", "The stack is longer than the recorder keeps.", "perf record --call-graph dwarf,65528 -o night.data -- PROGRAM"},
	{"when the thread was switched out", "Context switches were recorded without stacks. Record the tracepoint of the scheduler with stacks.",
		"perf record -k CLOCK_MONOTONIC -e cpu-clock -e sched:sched_switch -g --switch-events -o night.data -- PROGRAM"},
	{"on a CPU", "The thread ran for less than a period of the clock. Sample more often.", "perf record -F 4000 -g -o night.data -- PROGRAM"},
}

// whatHelps returns what helps against a reason in a load object, and a command, or empty texts.
func whatHelps(reason, loadObject string) (help, command string) {
	for _, r := range remedies {
		if strings.Contains(reason, r.reason) {
			object := loadObject
			if object == "" || strings.HasPrefix(object, "<") {
				object = "the load object"
			}
			return strings.ReplaceAll(r.help, "$OBJECT", object), r.command
		}
	}
	return "", ""
}
