-- row: one range of sizes, as gprofng's statistics of allocations and of I/O count them
--
-- above BIGINT: [bytes] The lower bound of the range; the sizes in it are greater.
-- upto BIGINT: [bytes] The upper bound of the range, which is part of it.
-- size_range VARCHAR: The range's name; a KB is 1,024 bytes.
SELECT above::BIGINT AS above, upto::BIGINT AS upto, size_range
FROM (VALUES (-1, 1024, '0KB - 1KB'), (1024, 8192, '1KB - 8KB'), (8192, 32768, '8KB - 32KB'), (32768, 131072, '32KB - 128KB'),
  (131072, 262144, '128KB - 256KB'), (262144, 524288, '256KB - 512KB'), (524288, 1024000, '512KB - 1000KB'),
  (1024000, 10485760, '1000KB - 10MB'), (10485760, 104857600, '10MB - 100MB'), (104857600, 1073741824, '100MB - 1GB'),
  (1073741824, 10737418240, '1GB - 10GB'), (10737418240, 107374182400, '10GB - 100GB'), (107374182400, 1099511627776, '100GB - 1TB'),
  (1099511627776, 10995116277760, '1TB - 10TB'), (10995116277760, 9223372036854775807, 'over 10TB')) AS ranges(above, upto, size_range)
