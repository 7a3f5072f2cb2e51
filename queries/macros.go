package queries

// pathPart makes the macro path_part(id, place): a number of 63 bits. The identifier of a
// path is the sum of those of its frames modulo 2^63, so that running sums over the numbers
// of nodes give the identifiers of all nodes of a tree. What is added must not be linear in
// the place or in the identifier, or recursion would make paths with equal sums. The
// product of two such numbers fits in 128 bits.
const pathPart = `CREATE OR REPLACE MACRO path_part(id, place) AS path_mix(path_mix(path_mix(
	(id::HUGEINT + place::HUGEINT * 7046029254386353131) & 9223372036854775807, 31, 4354685564936845355), 29, 3202034522624059733), 32, 1)::BIGINT`

// pathMix makes the macro that is a step of path_part.
const pathMix = `CREATE OR REPLACE MACRO path_mix(n, bits, factor) AS xor(n, n >> bits) * factor::HUGEINT & 9223372036854775807`

// functionKey makes the macro that computes function_rollup.function_key, as package rollup
// does.
const functionKey = `CREATE OR REPLACE MACRO function_key(load_object, module, name) AS
	(('0x' || left(md5(concat(load_object, chr(9), split_part(module, '/', -1), chr(9), name)), 16))::UBIGINT >> 1)::BIGINT`
