-- row: one of the three representations of a program
--
-- mode VARCHAR: Its name: `user`, `expert` or `machine`.
-- bit INTEGER: Its bit in the column `modes` of the value tables.
SELECT * FROM (VALUES ('user', 1), ('expert', 2), ('machine', 4)) AS m(mode, bit)
