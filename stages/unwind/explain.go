package unwind

// titles says what each rule does to a stack, in a sentence.
var titles = map[string]string{
	"S7":           "a leaf's return register, or a recorded call into it, is its caller only while the leaf may have no frame of its own",
	"S11":          "the body of a parallel region is shown in the function that holds the region, in one frame with the call that enters it",
	"S12":          "an outline function is jumped to, its function is put in as its caller",
	"S14":          "the recorded Java stack is shown, with native methods' own frames; compiled versions of a method are one",
	"S17":          "a leaf inside an OpenMP runtime is what the thread does there, and the runtime's other frames are hidden",
	"S18":          "frames that were lost are one artificial frame at the root end",
	"S21":          "a caller's frame is its call, not the address that it returns to",
	"S22":          "a leaf in the procedure linkage table is time of the call instruction",
	"S22 inferred": "a chain of frame pointers lacks the caller of code without a frame: the machine code tells it",
	"S22 missing":  "a chain of frame pointers lacks callers of code without a frame, which nothing tells",
	"S23":          "the dynamic linker's frames of a first call are one frame of the procedure linkage table",
	"S25":          "time in the kernel is time of the instruction or system call that entered it",
}

// Title returns what a rule that can change a stack does, by its id.
func Title(rule string) string { return titles[rule] }

// IsProgram reports whether a load object, by its base name, is the program's
// own: neither an OpenMP runtime nor a part of the system, whose frames S17 hides.
func IsProgram(object string) bool { return !isOneOf(object, runtimes) && !isOneOf(object, systems) }
