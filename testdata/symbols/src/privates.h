extern volatile long sink;
void second(int);

#define SPIN(units) \
	for (long i_ = 0; i_ < (units) * 10000L; i_++) \
		sink += i_
