-- row: one mode: a way to show stacks
--
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
SELECT * FROM (VALUES ('user'), ('expert'), ('machine')) AS m(mode)
