/** Putting rows in order of a key without moving them: profiler files are nearly sorted, so runs are merged. */

/** True when keys never decrease. */
export function isSorted(keys: ArrayLike<number>): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i] < keys[i - 1]) return false;
  return true;
}

/**
 * Row numbers in order of key, equal keys in row order. A natural merge sort: already sorted stretches are found
 * first, so a file with few out-of-order rows costs little more than reading it.
 */
export function orderBy(keys: Float64Array): Int32Array {
  const count = keys.length;
  let order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  let runs = [0];
  for (let i = 1; i < count; i++) if (keys[i] < keys[i - 1]) runs.push(i);
  runs.push(count);
  let spare = new Int32Array(count);
  while (runs.length > 2) {
    const merged = [0];
    for (let r = 0; r + 1 < runs.length; r += 2) {
      const from = runs[r];
      const middle = runs[r + 1];
      const to = runs[r + 2] ?? middle;
      merge(keys, order, spare, from, middle, to);
      merged.push(to);
    }
    [order, spare] = [spare, order];
    runs = merged;
  }
  return order;
}

function merge(
  keys: Float64Array,
  from: Int32Array,
  into: Int32Array,
  left: number,
  middle: number,
  right: number,
) {
  let a = left;
  let b = middle;
  for (let i = left; i < right; i++) {
    if (a < middle && (b >= right || keys[from[a]] <= keys[from[b]])) into[i] = from[a++];
    else into[i] = from[b++];
  }
}
