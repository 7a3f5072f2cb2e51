package schema

// Rule is one of the manual's rules that add or change frames. The values may change from one
// version of the program to the next, so tables contain the rules' identifiers (String).
type Rule uint8

// The rules. docs/semantics.md describes them, and those that decide what functions are.
const (
	NoRule        Rule = iota // a frame as recorded
	RulePLT                   // a leaf in the PLT was dropped below the frame
	RuleLinker                // it replaces the linker's frames of a first call
	RuleLeafCheck             // it was taken from the return register, or from a recorded call
	RuleTruncated             // it replaces lost frames
	RuleOutline               // it is the artificial call of an outline function
	RuleTrap                  // it trapped into the kernel, whose frames were dropped
	RuleJava                  // it is of the recorded Java stack
	RuleOpenMP                // it is of the recorded OpenMP stack or state, or made from the runtime's frames
	RuleBody                  // it is in a body, and shown in the function that the body was made from
	RuleInferred              // it is a caller that was not recorded, which the machine code identifies
	RuleMissing               // it replaces callers that were not recorded
	RuleChain                 // the frame pointer led to it, but it is no caller
	RuleWait                  // it is the state of a thread that waited
	RuleCalls                 // it makes all callers' frames, so no frame needs to carry it
)

// rules has the identifiers of the rules, and their titles: sentences on what each does to a stack.
var rules = [...]struct{ id, title string }{
	NoRule:        {"", ""},
	RulePLT:       {"S22", "a leaf in the procedure linkage table is time of the call instruction"},
	RuleLinker:    {"S23", "the dynamic linker's frames of a first call are one frame of the procedure linkage table"},
	RuleLeafCheck: {"S7", "a leaf's return register, or a recorded call into it, is its caller only while the leaf may have no frame of its own"},
	RuleTruncated: {"S18", "frames that were lost are one artificial frame at the root end"},
	RuleOutline:   {"S12", "an outline function is jumped to, its function is put in as its caller"},
	RuleTrap:      {"S25", "time in the kernel is time of the instruction or system call that entered it"},
	RuleJava:      {"S14", "the recorded Java stack is shown, with native methods' own frames; compiled versions of a method are one"},
	RuleOpenMP:    {"S17", "a leaf inside an OpenMP runtime is what the thread does there, and the runtime's other frames are hidden"},
	RuleBody:      {"S11", "the body of a parallel region is shown in the function that holds the region, in one frame with the call that enters it"},
	RuleInferred:  {"S22 inferred", "a chain of frame pointers lacks the caller of code without a frame: the machine code identifies it"},
	RuleMissing:   {"S22 missing", "a chain of frame pointers lacks callers of code without a frame, which nothing identifies"},
	RuleChain:     {"S26", "a chain of frame pointers ends where its thread begins, or before a word to which no call returns"},
	RuleWait:      {"S33", "a wait's leaf is the state of the thread, called by the function that waited"},
	RuleCalls:     {"S21", "a caller's frame is its call, not the address that it returns to"},
}

// String returns the rule's identifier, as frames.rule has it; empty for NoRule.
func (r Rule) String() string { return rules[r].id }

// Title returns a sentence that says what the rule does to a stack; empty for NoRule.
func (r Rule) Title() string { return rules[r].title }

// Rules returns all rules but NoRule.
func Rules() []Rule {
	all := make([]Rule, len(rules)-1)
	for i := range all {
		all[i] = Rule(i + 1)
	}
	return all
}

// FrameRules returns the values of frames.rule, indexed by Rule.
func FrameRules() []string {
	var ids []string
	for _, r := range rules[:RuleCalls] {
		ids = append(ids, r.id)
	}
	return ids
}

// RuleOf returns the rule with an identifier; NoRule if there is none.
func RuleOf(id string) Rule {
	for r := range rules {
		if rules[r].id == id {
			return Rule(r)
		}
	}
	return NoRule
}
