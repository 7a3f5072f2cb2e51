-- row: one word of a recorded stack: an address or a marker, as recorded
--
-- experiment_id = recorded_stacks.experiment_id
-- raw_stack_id = recorded_stacks.raw_stack_id
-- part = tree_frames.part: `native`, `java` or `openmp`.
-- position INTEGER: The frame's position in the stack; 0 is the leaf.
-- word = tree_frames.word: The recorded PC or marker; for a Java frame, the method's id.
-- bci = tree_frames.bci
-- location_id = locations.location_id: The frame's instruction before rules apply; missing for a marker.
--
-- invariant raw_frames_known: Every recorded frame has an existing instruction, except markers (the four highest addresses).
--   SELECT f.experiment_id, f.frame, f.word FROM tree_frames f WHERE word IS NOT NULL AND (location IS NULL) <> (word BETWEEN -4 AND -1)
--   UNION ALL
--   SELECT f.experiment_id, f.frame, f.word FROM tree_frames f ANTI JOIN locations l USING (experiment_id, location) WHERE f.location IS NOT NULL
-- invariant parts: Recorded frames have a `part`; frames that a rule inserted have none.
--   SELECT experiment_id, frame, part, word FROM tree_frames WHERE (word IS NULL) <> (part = '') OR part NOT IN ('', 'native', 'java', 'openmp')
WITH
-- As in frames, with parts instead of modes.
recorded AS (
  SELECT experiment_id, node, count(*) AS stacks FROM recorded_stacks GROUP BY ALL
),
framed AS (
  SELECT t.experiment_id, t.node, t.last, t.below, f.part, f.word, f.bci, f.location
  FROM stack_tree_wide t JOIN tree_frames f USING (experiment_id, frame)
),
-- This does not read `framed`: a filter reaches a CTE with two readers, but not a second such CTE
-- that reads the first.
ended AS (
  SELECT t.experiment_id, t.last + 1 AS node, count(*) FILTER (f.part = 'native') AS n, count(*) FILTER (f.part = 'java') AS j, count(*) FILTER (f.part = 'openmp') AS o
  FROM stack_tree_wide t JOIN tree_frames f USING (experiment_id, frame)
  GROUP BY ALL
),
nodes AS (
  SELECT f.*, r.stacks, n.n, n.j, n.o
  FROM framed f LEFT JOIN recorded r USING (experiment_id, node) LEFT JOIN ended n ON n.experiment_id = f.experiment_id AND n.node = f.node
),
counted AS (
  SELECT experiment_id, node, part, word, bci, location,
    count(*) FILTER (part = 'native') OVER before - COALESCE(sum(n) OVER before, 0) AS native,
    count(*) FILTER (part = 'java') OVER before - COALESCE(sum(j) OVER before, 0) AS java,
    count(*) FILTER (part = 'openmp') OVER before - COALESCE(sum(o) OVER before, 0) AS openmp,
    COALESCE(sum(stacks) OVER before - COALESCE(stacks, 0), 0)::BIGINT AS first,
    COALESCE(sum(stacks) OVER (PARTITION BY experiment_id ORDER BY node ROWS BETWEEN CURRENT ROW AND below FOLLOWING), 0)::BIGINT AS inside
  FROM nodes
  WINDOW before AS (PARTITION BY experiment_id ORDER BY node ROWS UNBOUNDED PRECEDING)
),
passed AS (
  SELECT experiment_id, part, CASE part WHEN 'native' THEN native WHEN 'java' THEN java ELSE openmp END AS depth, word, bci, location,
    unnest(range(first, first + inside)) AS leaf
  FROM counted WHERE word IS NOT NULL
),
numbered AS (
  SELECT experiment_id, raw_stack_id, node, row_number() OVER (PARTITION BY experiment_id ORDER BY node, stack) - 1 AS leaf
  FROM recorded_stacks_wide
),
leaves AS (
  SELECT n.experiment_id, n.raw_stack_id, n.leaf, c.native, c.java, c.openmp FROM numbered n JOIN counted c USING (experiment_id, node)
),
placed AS (
  SELECT k.experiment_id, k.raw_stack_id, p.part,
    (CASE p.part WHEN 'native' THEN k.native WHEN 'java' THEN k.java ELSE k.openmp END - p.depth)::INTEGER AS position,
    p.word, p.bci, p.location
  FROM passed p JOIN leaves k USING (experiment_id, leaf)
)
SELECT p.experiment_id, p.raw_stack_id, p.part, p.position, p.word, p.bci, l.location_id
FROM placed p LEFT JOIN locations_wide l USING (experiment_id, location)
