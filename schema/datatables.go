package schema

// Data objects.
var (
	DataObjects = &Table{Name: "data_objects", Row: "one data object that a sample's memory access hit, that contains such an object, or that is another member of an aggregate that was hit", Key: key("data_object_id"), Columns: []Column{
		experimentID,
		{"data_object_id", Int64, Plain, "", false, "Hash of scope, descriptor and offset in the aggregate."},
		{"parent_id", Int64, Dict, "", true, "The data object that contains this one: the aggregate of which it is an element, `<Scalars>`, `<Unknown>` or `<Total>`; missing for `<Total>`."},
		{"descriptor", String, Dict, "", false, "Type and name as the manual spells them (S28); for an element, preceded by the descriptors of the aggregates that contain it."},
		{"kind", String, Dict, "", false, "`total`, `scalars`, `unknown`, `unknown_element` (a reason), `aggregate`, `element` or `scalar`."},
		{"scope", String, Dict, "", false, "The load object, compilation unit or function in which the data object is declared (S29); empty for artificial objects such as `<Total>`."},
		{"scope_kind", String, Dict, "", false, "The kind of the scope: `load object`, `compilation unit` or `function`; empty for artificial objects."},
		{"load_object_id", Int64, Dict, "", true, "The load object whose debug information describes the data object; missing for artificial objects."},
		{"name", String, Dict, "", false, "The name of the variable or member; empty if it has none."},
		{"type", String, Dict, "", false, "The type as the descriptor spells it."},
		{"offset", Int64, Delta, "bytes", true, "For an element: its offset in its aggregate; missing for other objects."},
		{"size", Int64, Dict, "bytes", true, "The size of the data object; missing if unknown."},
		{"element_size", Int64, Dict, "bytes", true, "For an array (of any number of dimensions): the size of one element; for other objects, their size."},
		{"bit_offset", Int32, Dict, "bits", false, "For a bit field: where in the byte at `offset` it begins; 0 for other objects."},
		{"bit_size", Int32, Dict, "bits", false, "For a bit field: its width; 0 for other objects."},
	}}
	MemoryRegions = &Table{Name: "memory_regions", Row: "one region of a process's memory in which data was accessed", Key: key("memory_region_id"), Columns: []Column{
		experimentID,
		{"memory_region_id", Int64, Plain, "", false, "Hash of process, kind, name, address, size and load object."},
		process,
		{"kind", String, Dict, "", false, "`segment` (of a file), `stack`, `heap` (memory from `brk`), `heap block` (an allocation that was traced), `anonymous`, `kernel` or `unknown`."},
		{"name", String, Dict, "", false, "The name of the mapped file (for a load object, also the permissions), `[stack]` or `[heap]`; empty for other memory."},
		{"address", Int64, Plain, "", false, "The first address of the region."},
		{"size", Int64, Plain, "bytes", false, "The size of the region; 0 if unknown."},
		{"load_object_id", Int64, Dict, "", true, "For a segment: its load object."},
	}}
	DataSamples = &Table{Name: "data_samples", Row: "one sample whose counter or event measures memory accesses, with the data object that it accessed", Key: key("sample"), Columns: []Column{
		experimentID, sampleNo, dataObject, triggerAt, dataMethod,
		{"memory_region_id", Int64, Dict, "", true, "The region that contains the sample's data address; missing if there is no data address."},
		agreement, embedding,
	}}
	dataObject = Column{"data_object_id", Int64, Dict, "", false, "The accessed data object: the innermost one that is known, or an artificial one that is the reason why none is known."}
	triggerAt  = Column{"location_id", Int64, Dict, "", true, "The instruction that accessed memory or, if that was not found, the one at the recorded PC; missing if no PC was recorded."}
	dataMethod = Column{"method", Label, Dict, "", false, "What identified the data object: `variable` (debug information of the registers used), `global`, `stack`, `thread-local`, `register` (a type followed through registers), `container` (the only type that contains what such a register points to and has something of the accessed size at that place) or `address` (only the data address); empty if the data object is unknown."}
	agreement  = Column{"agreement", Label, Dict, "", false, "Whether the data address confirms the data object that the instruction names: `agrees`; `disagrees` (another object is at that address; if both are variables, or the instruction says little, the address decided); or `unchecked` (no data address, or one that cannot confirm it)."}
	embedding  = Column{"embedding_object_id", Int64, Dict, "", true, "The data object at the data address, if the instruction names another one: the object that contains the named one, the bytes in which the named one was placed or, with `disagrees`, the object that is there instead. Missing if both are the same object, or if nothing is known about the address."}
)
