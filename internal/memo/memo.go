// Package memo caches results in maps.
package memo

// Get returns the value of a key. If the map lacks it, Get calls find and keeps the result.
func Get[K comparable, V any](known map[K]V, key K, find func() V) V {
	v, ok := known[key]
	if !ok {
		v = find()
		known[key] = v
	}
	return v
}
