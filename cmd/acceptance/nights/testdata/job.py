"""JSON, dictionaries, regular expressions and arithmetic."""
import collections
import json
import re

rows = [{"id": i, "name": "n%d" % (i * 7919 % 10007), "tags": ["t%d" % (i % k) for k in (3, 5, 7)], "v": i * 1.5}
        for i in range(12000)]
text = json.dumps(rows)
sums = collections.Counter()
for row in json.loads(text):
    for tag in row["tags"]:
        sums[tag] += row["v"]
names = sorted(re.findall(r'"n(\d+)"', text), key=lambda name: (len(name), name))
n = 0
for i in range(900000):
    n = (n * 31 + i) % 1000003
print(len(names), sums.most_common(2), n)
