-- row: one of the three representations of a program
--
-- mode VARCHAR: The representation: `user`, `expert` or `machine`.
SELECT * FROM (VALUES ('user'), ('expert'), ('machine')) AS m(mode)
