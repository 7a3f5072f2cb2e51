-- row: one range of sizes, by powers of four, as in gprofng's index objects of type Datasize
--
-- above BIGINT: [bytes] The lower bound of the range; the sizes in it are greater.
-- upto BIGINT: [bytes] The upper bound of the range, which is part of it.
-- size_range VARCHAR: The range's name; a KB is 1,024 bytes.
SELECT above::BIGINT AS above, upto::BIGINT AS upto, size_range
FROM (VALUES (-1, 0, '0 Bytes'), (0, 1, '1 Byte'), (1, 4, '1 < n <= 4 Bytes'), (4, 16, '4 < n <= 16 Bytes'),
  (16, 64, '16 < n <= 64 Bytes'), (64, 256, '64 < n <= 256 Bytes'), (256, 1024, '256 < n <= 1KB'), (1024, 4096, '1KB < n <= 4KB'),
  (4096, 16384, '4KB < n <= 16KB'), (16384, 65536, '16KB < n <= 64KB'), (65536, 262144, '64KB < n <= 256KB'), (262144, 1048576, '256KB < n <= 1MB'),
  (1048576, 4194304, '1MB < n <= 4MB'), (4194304, 16777216, '4MB < n <= 16MB'), (16777216, 67108864, '16MB < n <= 64MB'), (67108864, 268435456, '64MB < n <= 256MB'),
  (268435456, 1073741824, '256MB < n <= 1GB'), (1073741824, 4294967296, '1GB < n <= 4GB'), (4294967296, 17179869184, '4GB < n <= 16GB'), (17179869184, 68719476736, '16GB < n <= 64GB'),
  (68719476736, 274877906944, '64GB < n <= 256GB'), (274877906944, 1099511627776, '256GB < n <= 1TB'), (1099511627776, 4398046511104, '1TB < n <= 4TB'), (4398046511104, 17592186044416, '4TB < n <= 16TB'),
  (17592186044416, 70368744177664, '16TB < n <= 64TB'), (70368744177664, 281474976710656, '64TB < n <= 256TB'), (281474976710656, 1125899906842624, '256TB < n <= 1024TB'), (1125899906842624, 9223372036854775807, 'n > 1024TB')) AS ranges(above, upto, size_range)
