"""Sets of time as sorted, disjoint [start, end) pairs, from their definition."""


def union(pairs):
    merged = []
    for start, end in sorted(pairs):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        elif end > start:
            merged.append([start, end])
    return merged


def length(pairs):
    return sum(end - start for start, end in pairs)


def clip(pairs, start, end):
    return [[max(a, start), min(b, end)] for a, b in pairs if a < end and b > start]


def common(left, right):
    """What two unions share."""
    shared, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if start < end:
            shared.append([start, end])
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared


def without(left, right):
    """What of one union lies outside of another."""
    rest = []
    for start, end in left:
        at = start
        for a, b in clip(right, start, end):
            if a > at:
                rest.append([at, a])
            at = max(at, b)
        if at < end:
            rest.append([at, end])
    return rest


def gaps(busy, start, end):
    return without([[start, end]], busy)
