/** What a misspelt word was meant to be. */

/** The known word with fewest changed letters, where that is few enough to be a slip. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase().slice(0, 64);
  const most = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let fewest = most + 1;
  for (const candidate of known) {
    const changes = distance(wanted, candidate.toLowerCase());
    if (changes < fewest) {
      fewest = changes;
      best = candidate;
    }
  }
  return best;
}

/** Letters added, removed, replaced, or swapped with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2] + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length];
}
