package schema

// Stacks.
var (
	// These tables imply the stack in a mode: it is the path from a node of the tree to the root,
	// without nodes and frames that the mode does not show.
	RecordedStacks = &Table{Name: "recorded_stacks", Row: "one distinct recorded stack of a process. If other code is mapped at one of its addresses later, the same stack gets another row", Key: key("stack"), Columns: []Column{
		experimentID,
		{"stack", Int32, Delta, "", false, "The stack's number within the experiment, in the order of first samples."},
		process,
		{"from_ns", Int64, Dict, "ns", true, "The time from which the row's translation of the recorded words is valid; missing if it is valid from the start."},
		{"node", Int32, Delta, "", false, "The node of `stack_tree` where the stack ends: the stack is the path from the root to it."},
		{"user_up", Int32, Dict, "", false, "The node of the stack's leaf in user mode is `node` minus this number."},
		{"expert_up", Int32, Dict, "", false, "The node of the stack's leaf in expert mode is `node` minus this number."},
		{"machine_up", Int32, Dict, "", false, "The node of the stack's leaf in machine mode is `node` minus this number."},
		{"reason", String, Dict, "", false, "Why the stack is empty or was cut; empty if it is complete."},
		{"first_up", Int32, Dict, "", false, "If an earlier row has the same words: how many rows before this one the first such row is. The words mean something else here, because other code is mapped or the thread is one of the Java virtual machine's own. 0 for the first row."},
		{"form", Int32, Dict, "", true, "How the stack was recorded: an index, from 0, into the list `forms` of `recordings.content`; missing if no stack was recorded."},
	}, Computed: []DerivedColumn{rawStackID}}
	StackTree = &Table{Name: "stack_tree", Row: "one node of the tree into which an experiment's stacks are merged, from their roots: a frame reached by one path of calls", Key: key("node"), Columns: []Column{
		experimentID,
		{"node", Int32, Delta, "", false, "The node's number. The nodes below it have the numbers that follow. 0 is the root, which is not a frame."},
		{"up", Int32, PlainOrDelta, "", false, "The parent, which is the frame's caller, is the node `node - up`; 0 for the root."},
		{"below", Int32, Dict, "count", false, "The number of nodes below this one; they have the numbers that follow its own."},
		{"frame", Int32, PlainOrDelta, "", false, "The node's frame: `tree_frames.frame`; 0 for the root."},
	}, Computed: []DerivedColumn{
		{"parent", Int32, "CASE WHEN up > 0 THEN node - up END", "The parent node, which is the frame's caller; missing for the root."},
		{"last", Int32, "node + below", "The last node below this one, or its own number if there is none. A stack contains the node if its leaf's node is between `node` and `last`."},
	}}
	TreeFrames = &Table{Name: "tree_frames", Row: "one distinct frame of the tree of stacks: what was recorded, and what the rules made of it in each mode", Key: key("frame"), Columns: []Column{
		experimentID,
		{"frame", Int32, Delta, "", false, "The frame's number within the experiment; 0 is the root's frame."},
		{"part", Label, Dict, "", false, "The recorded stack that the frame belongs to: `native`, `java` or `openmp`; empty for a frame that a rule inserted."},
		{"word", Int64, DictOrDelta, "", true, "The recorded PC or marker, or for a Java frame the method's id; missing for a frame that a rule inserted."},
		{"bci", Int64, Delta, "", true, "The byte code index of a Java frame."},
		{"location", Int32, Delta, "", true, "The instruction that the word denotes before rules apply: `locations.location`; missing for markers and for frames without a word."},
		{"user_location", Int32, Delta, "", true, "The instruction that user mode shows; missing if it does not show the frame."},
		{"user_rule", Label, Dict, "", false, "The rule that inserted, changed or dropped the frame in user mode; empty for a frame as recorded."},
		{"expert_location", Int32, Delta, "", true, "The instruction that expert mode shows; missing if it does not show the frame."},
		{"expert_rule", Label, Dict, "", false, "The rule that inserted, changed or dropped the frame in expert mode; empty for a frame as recorded."},
		{"machine_location", Int32, Delta, "", true, "The instruction that machine mode shows; missing if it does not show the frame."},
		{"machine_rule", Label, Dict, "", false, "The rule that inserted, changed or dropped the frame in machine mode; empty for a frame as recorded."},
	}}
)
