package symbolize

import "strings"

// counterFunctions are the functions of the collector's library that are on stacks of counts
// which no code of the program caused, without the leading underscores that some have (S20;
// manual: Functions Related to Hardware Counter Overflow Profiling; newer collectors have the
// last two).
var counterFunctions = map[string]bool{
	"collector_not_program_related":  true,
	"collector_hwcs_out_of_range":    true,
	"collector_hwcs_frozen":          true,
	"collector_hwc_ABORT":            true,
	"collector_record_counter":       true,
	"collector_hwc_samples_lost":     true,
	"collector_lost_profile_context": true,
}

// counterFunction returns the name of the artificial function for a function of a load object,
// empty for other functions.
func counterFunction(linkage, object string) string {
	name := strings.TrimLeft(linkage, "_")
	if !counterFunctions[name] || !strings.HasPrefix(object, "libgp-collector.so") && !strings.HasPrefix(object, "libcollector.so") {
		return ""
	}
	return name
}
