-- row: one of the three representations of a program, with inlined functions as frames of their own
-- rules: S10
--
-- mode VARCHAR: Its name: `user`, `expert` or `machine`.
-- bit INTEGER: Its bit in the column `modes` of the value tables.
SELECT * FROM (VALUES ('user', 8), ('expert', 16), ('machine', 32)) AS m(mode, bit)
