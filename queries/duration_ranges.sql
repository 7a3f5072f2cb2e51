-- row: one range of durations, by powers of ten, as in gprofng's index objects of type Duration
--
-- above BIGINT: [ns] The lower bound of the range; the durations in it are longer.
-- upto BIGINT: [ns] The upper bound of the range, which is part of it.
-- duration_range VARCHAR: The range's name.
SELECT above::BIGINT AS above, upto::BIGINT AS upto, duration_range
FROM (VALUES (-1, 0, '0s'), (0, 1000, '0s < n <= 1us'), (1000, 10000, '1us < n <= 10us'), (10000, 100000, '10us < n <= 100us'),
  (100000, 1000000, '100us < n <= 1ms'), (1000000, 10000000, '1ms < n <= 10ms'), (10000000, 100000000, '10ms < n <= 100ms'), (100000000, 1000000000, '100ms < n <= 1s'),
  (1000000000, 10000000000, '1s < n <= 10s'), (10000000000, 100000000000, '10s < n <= 100s'), (100000000000, 1000000000000, '100s < n <= 1000s'), (1000000000000, 10000000000000, '1000s < n <= 10000s'),
  (10000000000000, 9223372036854775807, 'n > 10000s')) AS ranges(above, upto, duration_range)
