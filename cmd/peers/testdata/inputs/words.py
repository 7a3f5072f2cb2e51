import collections, json, re, zlib

words = collections.Counter()


class Item:
    def __init__(self, n):
        self.n = n

    def key(self):
        return re.sub("[0-9]+", "n", "%d-%s" % (self.n * 2654435761 % 1000003, hex(self.n)))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


for i in range(60000):
    item = Item(i)
    words[item.key()] += 1
    words[json.dumps({"a": i, "b": [i, str(i)]})[:6]] += 1
    try:
        int(item.key())
    except ValueError:
        pass
print(sum(words.values()), fib(23), zlib.crc32(zlib.compress(b"abc" * 300000)), sorted(words)[:2])
