/* A static function of one name in each of two units, work differs. */
#define SPIN(units) \
	for (long i_ = 0; i_ < (units) * 100000L; i_++) \
		sink += i_
