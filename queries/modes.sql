-- row: one mode: a way to show stacks
--
-- mode VARCHAR: The mode, that is, how stacks are shown: `user`, `expert` or `machine`.
SELECT * FROM (VALUES ('user'), ('expert'), ('machine')) AS m(mode)
