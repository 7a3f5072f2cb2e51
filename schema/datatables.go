package schema

// Data objects.
var (
	DataObjects = &Table{Name: "data_objects", Row: "one data object: hit by a sample's memory access, containing such an object, or another member of an aggregate that was hit", Key: key("data_object_id"), Columns: []Column{
		experimentID,
		{"data_object_id", Int64, Plain, "", false, "Hash of scope, descriptor and place in the aggregate."},
		{"parent_id", Int64, Dict, "", true, "The aggregate that it is an element of, or `<Scalars>`, `<Unknown>` or `<Total>`; missing for `<Total>`."},
		{"descriptor", String, Dict, "", false, "Type and name as the manual spells them (S28); of an element, after its aggregates' descriptors."},
		{"kind", String, Dict, "", false, "`total`, `scalars`, `unknown`, `unknown_element` (a reason), `aggregate`, `element` or `scalar`."},
		{"scope", String, Dict, "", false, "The load object, compilation unit or function in which it is known (S29); empty for artificial ones."},
		{"scope_kind", String, Dict, "", false, "`load object`, `compilation unit` or `function`; empty for artificial ones."},
		{"load_object_id", Int64, Dict, "", true, "The load object whose debug information describes it; missing for artificial ones."},
		{"name", String, Dict, "", false, "The name of the variable or member; empty if it has none."},
		{"type", String, Dict, "", false, "The type as the descriptor spells it."},
		{"offset", Int64, Delta, "bytes", true, "Where in its aggregate it begins; missing unless it is an element."},
		{"size", Int64, Dict, "bytes", true, "Its size; missing if unknown."},
		{"element_size", Int64, Dict, "bytes", true, "Of an array, through all dimensions, the size of one element; of others the size."},
		{"bit_offset", Int32, Dict, "bits", false, "Where in the byte at `offset` a bit field begins; 0 for others."},
		{"bit_size", Int32, Dict, "bits", false, "The width of a bit field; 0 for others."},
	}}
	MemoryRegions = &Table{Name: "memory_regions", Row: "one region of a process's memory in which data was accessed", Key: key("memory_region_id"), Columns: []Column{
		experimentID,
		{"memory_region_id", Int64, Plain, "", false, "Hash of process, kind, name, address, size and load object."},
		process,
		{"kind", String, Dict, "", false, "`segment` (of a file), `stack`, `heap` (what `brk` gives), `heap block` (an allocation that was traced), `anonymous`, `kernel` or `unknown`."},
		{"name", String, Dict, "", false, "The file, of a load object its name and the permissions there, or `[stack]` and `[heap]`; empty for other memory."},
		{"address", Int64, Plain, "", false, "The first address."},
		{"size", Int64, Plain, "bytes", false, "The size; 0 if unknown."},
		{"load_object_id", Int64, Dict, "", true, "Of a segment, its load object."},
	}}
	DataSamples = &Table{Name: "data_samples", Row: "one sample that has data objects: its counter or event samples memory accesses", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo, dataObject, triggerAt, dataMethod,
		{"memory_region_id", Int64, Dict, "", true, "The region in which its data address lies; missing without one."},
		agreement, embedding,
	}}
	dataObject = Column{"data_object_id", Int64, Dict, "", false, "The data object: the innermost that is known, or the reason why none is."}
	triggerAt  = Column{"location_id", Int64, Dict, "", true, "The instruction that accessed memory, or the one at the recorded PC if it was not found; missing without a PC."}
	dataMethod = Column{"method", Label, Dict, "", false, "What identified the data object: `variable` (debug information of the registers used), `global`, `stack`, `thread-local`, `register` (a type followed through registers), `container` (that, and what holds such a thing) or `address` (the data address alone); empty if nothing did."}
	agreement  = Column{"agreement", Label, Dict, "", false, "Whether the data address confirms what the instruction says: `agrees`, `disagrees` (something else lies there; between variables, and where the instruction says little, the address decided), or `unchecked` without an address that can."}
	embedding  = Column{"embedding_object_id", Int64, Dict, "", true, "The data object that lies at the data address, where the instruction names another one: what that is embedded in, the bytes that it was placed in, or with `disagrees` what lies there in its place; missing if it is the same one, or nothing is known there."}
)
