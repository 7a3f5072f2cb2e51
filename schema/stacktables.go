package schema

// Stacks.
var (
	// These tables imply the stack in a mode: it is the path from a node of the tree to the root,
	// without nodes and frames that the mode does not show.
	RecordedStacks = &Table{Name: "recorded_stacks", Row: "one distinct recorded stack of a process while the mappings it touches stay the same", Key: key("stack"), Columns: []Column{
		experimentID,
		{"stack", Int32, Delta, "", false, "Its number within the experiment, in the order of first samples."},
		process,
		{"from_ns", Int64, Dict, "ns", true, "The time from which its words mean these stacks; missing: from the start."},
		{"node", Int32, Delta, "", false, "The node of `stack_tree` that it is the path to."},
		{"user_up", Int32, Dict, "", false, "How far before `node` is the node of its leaf in user mode."},
		{"expert_up", Int32, Dict, "", false, "The same in expert mode."},
		{"machine_up", Int32, Dict, "", false, "The same in machine mode."},
		{"reason", String, Dict, "", false, "Why the stack is empty or cut, empty if it is neither."},
		{"first_up", Int32, Dict, "", false, "How far before it the first row of the same words is, which mean something else here: other code is mapped, or the thread is one of the Java virtual machine's own; 0 for that row itself."},
		{"form", Int32, Dict, "", true, "How it was recorded: the place in the list `forms` of `recordings.content`, from 0; missing if no stack was."},
	}, Computed: []DerivedColumn{rawStackID}}
	StackTree = &Table{Name: "stack_tree", Row: "one node of the tree of an experiment's stacks, merged from their roots: a frame and the path to it", Key: key("node"), Columns: []Column{
		experimentID,
		{"node", Int32, Delta, "", false, "Its number: the nodes below a node follow it directly. 0 is the root, which is no frame."},
		{"up", Int32, PlainOrDelta, "", false, "How far before it its parent is: the frame's caller. 0 for the root."},
		{"below", Int32, Dict, "count", false, "How many nodes are below it: the next so many."},
		{"frame", Int32, PlainOrDelta, "", false, "Its frame; 0 for the root."},
	}, Computed: []DerivedColumn{
		{"parent", Int32, "CASE WHEN up > 0 THEN node - up END", "Its parent; missing for the root."},
		{"last", Int32, "node + below", "The last node below it, itself if there is none: a stack passes the node if the node of its leaf lies between the two."},
	}}
	TreeFrames = &Table{Name: "tree_frames", Row: "one frame as nodes of the tree of stacks have it: what was recorded, and what the rules made of it in each mode", Key: key("frame"), Columns: []Column{
		experimentID,
		{"frame", Int32, Delta, "", false, "Its number within the experiment, from 0, which is the frame of the root."},
		{"part", Label, Dict, "", false, "Where it was recorded: `native`, `java` or `openmp`; empty for a frame that a rule inserted."},
		{"word", Int64, DictOrDelta, "", true, "The PC or marker, or the method's id of a Java frame; missing for a frame that a rule inserted."},
		{"bci", Int64, Delta, "", true, "The byte code index of a Java frame."},
		{"location", Int32, Delta, "", true, "What the word means by itself, before any rule: `locations.location`; missing for a marker and without a word."},
		{"user_location", Int32, Delta, "", true, "The instruction that user mode shows; missing if it does not show the frame."},
		{"user_rule", Label, Dict, "", false, "The rule that put the frame in, changed or dropped it in user mode; empty for a frame as recorded."},
		{"expert_location", Int32, Delta, "", true, "The instruction that expert mode shows; missing if it does not show the frame."},
		{"expert_rule", Label, Dict, "", false, "The same in expert mode."},
		{"machine_location", Int32, Delta, "", true, "The instruction that machine mode shows; missing if it does not show the frame."},
		{"machine_rule", Label, Dict, "", false, "The rule in machine mode."},
	}}
)
