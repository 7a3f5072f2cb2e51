package queries

// pathPart makes the macro path_part(id, place), a hash of 63 bits. The identifier of a path is the
// sum of the parts of its frames modulo 2^63, so that running sums over numbered nodes give the
// identifiers of all nodes of a tree. A part must not be linear in the place or the identifier, or
// paths with recursion would have equal sums. The product of two such numbers fits in 128 bits.
//
// The three steps are lambdas, which name the number that they need twice: written out, each step
// would double what the engine has to plan wherever a view has an identifier.
const pathPart = `CREATE OR REPLACE MACRO path_part(id, place) AS list_transform(list_transform(list_transform(
	[(id::HUGEINT + place::HUGEINT * 7046029254386353131) & 9223372036854775807],
	lambda n: xor(n, n >> 31) * 4354685564936845355::HUGEINT & 9223372036854775807),
	lambda n: xor(n, n >> 29) * 3202034522624059733::HUGEINT & 9223372036854775807),
	lambda n: xor(n, n >> 32))[1]::BIGINT`

// functionKey makes the macro that computes function_rollup.function_key as package rollup does,
// from functions.name_scope and function_id, the short paths of load object and module, and names.
const functionKey = `CREATE OR REPLACE MACRO function_key(scope, id, load_object, module, linkage, name) AS
	CASE WHEN scope = 'build' THEN id
	ELSE (('0x' || left(md5(concat(load_object, chr(9), CASE WHEN scope <> 'object' THEN module END, chr(9), COALESCE(NULLIF(linkage, ''), name))), 16))::UBIGINT >> 1)::BIGINT END`

// byMode makes the macro that chooses a mode's value, NULL for an unknown mode. byModeAndInlined
// also chooses whether inlined functions are frames of their own.
const (
	byMode = `CREATE OR REPLACE MACRO by_mode(mode, in_user, in_expert, in_machine) AS
	CASE mode WHEN 'user' THEN in_user WHEN 'expert' THEN in_expert WHEN 'machine' THEN in_machine END`
	byModeAndInlined = `CREATE OR REPLACE MACRO by_mode_and_inlined(mode, inlined, in_user, in_expert, in_machine, in_user_inlined, in_expert_inlined, in_machine_inlined) AS
	CASE WHEN inlined THEN by_mode(mode, in_user_inlined, in_expert_inlined, in_machine_inlined) ELSE by_mode(mode, in_user, in_expert, in_machine) END`
)
