/**
 * As much of an answer as is asked for: some fields, some rows, or as many as fit into a number of bytes. What is left
 * out is listed, with the options that give it.
 */
import type { Cut, Envelope } from '../base/envelope.js';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { documentLine, documentText } from './document-text.js';

export interface Shape {
  readonly fields?: readonly string[];
  /** Rows of each list. */
  readonly limit?: number;
  readonly offset?: number;
  /** Bytes of the whole text. */
  readonly budget?: number;
  /** A line for the answer without its rows, then a line for each row. */
  readonly lines?: boolean;
}

type Members = Readonly<Record<string, unknown>>;
type Row = Members;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists of numbers and names up to this length are part of what they stand in. */
const SHORT_LIST = 16;

/** A list of rows: they have keys, or hold no list of objects themselves. Others are searched for lists. */
function isTable(value: readonly unknown[]): boolean {
  if (value.length === 0) return false;
  if (!value.every(isObject)) return value.length > SHORT_LIST;
  return value.every(row => 'key' in row) || !value.some(holdsTable);
}

const holdsTable = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(item => isObject(item))
    : isObject(value) && Object.values(value).some(holdsTable);

type Visit = (path: string, rows: readonly unknown[]) => readonly unknown[];

/** The same value with each of its tables replaced. */
function withTables(value: unknown, visit: Visit, path = ''): unknown {
  const under = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`);
  if (Array.isArray(value))
    return isTable(value) ? visit(path, value) : value.map((item, i) => withTables(item, visit, under(i)));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withTables(member, visit, under(name))]),
  );
}

const changed = (data: Members, visit: Visit): Members => withTables(data, visit) as Members;

/** How to ask for the next rows: of an analysis alone, if it is one. */
function more(path: string, next: number): string {
  const analysis = /^analyses\.([^.]+)\.rows$/.exec(path)?.[1];
  return `${analysis === undefined ? '' : `--only ${analysis} `}--offset ${next}`;
}

/** `rowsOf`: how many rows of a table fit. */
function cutTo(
  envelope: Envelope,
  offset: number,
  rowsOf: (path: string, rows: readonly unknown[]) => number,
): Envelope {
  const truncated: Cut[] = [...envelope.truncated];
  const data = changed(envelope.data, (path, rows) => {
    const from = Math.min(offset, rows.length);
    const shown = rows.slice(from, from + rowsOf(path, rows.slice(from)));
    if (shown.length < rows.length)
      truncated.push({
        ...{ path, from, shown: shown.length, of: rows.length },
        more: from + shown.length < rows.length ? more(path, from + shown.length) : '--offset 0',
      });
    return shown;
  });
  return { ...envelope, truncated, data };
}

function withFields(envelope: Envelope, fields: readonly string[]): Envelope {
  const seen = new Set<string>();
  changed(envelope.data, (_, rows) => {
    for (const row of rows) if (isObject(row)) for (const name of Object.keys(row)) seen.add(name);
    return rows;
  });
  const unknown = fields.find(name => !seen.has(name));
  if (unknown !== undefined && seen.size > 0)
    throw new UserError(
      'usage',
      `No row has a field ${JSON.stringify(unknown)}.`,
      `Fields: ${[...seen].slice(0, 40).join(', ')}${seen.size > 40 ? ' …' : ''}`,
    );
  const wanted = new Set(['key', ...fields]);
  const chosen = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => wanted.has(name)));
  const data = changed(envelope.data, (_, rows) => rows.map(row => (isObject(row) ? chosen(row) : row)));
  return { ...envelope, data };
}

/** Rows by lines: the first has everything but them. */
function rowLines(envelope: Envelope): string {
  const rows: string[] = [];
  const data = changed(envelope.data, (table, all) => {
    for (const row of all) rows.push(documentLine({ table, row }));
    return [];
  });
  return `${documentLine({ ...envelope, data })}${rows.join('')}`;
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** What an answer leads with is worth more than any other part of it. */
const LEAD = 8;

/** Each table gets the same share, the first one more; those that need less leave it to others. */
function fitted(envelope: Envelope, offset: number, limit: number, budget: number, lines: boolean): string {
  const sizes = new Map<string, number[]>();
  changed(envelope.data, (path, rows) => {
    // With the comma, the line end and the indentation; what stands before a row in lines is longer.
    const extra = lines ? path.length + 24 : 2 + 2 * path.split('.').length;
    const shown = rows.slice(offset, offset + limit);
    sizes.set(
      path,
      shown.map(row => bytesOf(JSON.stringify(row)) + extra),
    );
    return rows;
  });
  const [lead] = sizes.keys();
  const rowsFor = (path: string, share: number): number => {
    let room = path === lead ? LEAD * share : share;
    const all = sizes.get(path) ?? [];
    const end = all.findIndex(size => {
      room -= size;
      return room < 0;
    });
    return end < 0 ? all.length : end;
  };
  const text = (whole: Envelope, share: number) =>
    render(
      cutTo(whole, offset, path => rowsFor(path, share)),
      lines,
    );
  const fits = (printed: string) => bytesOf(printed) <= budget;
  const everything = text(envelope, Number.POSITIVE_INFINITY);
  if (fits(everything)) return everything;
  // Where the answer without a row is too large already, its last parts go first, and leave room for rows.
  const bare = (whole: Envelope) => bytesOf(text(whole, 0));
  const left = bare(envelope) <= budget ? envelope : roomiest(envelope, budget, bare);
  let best = text(left, 0);
  if (!fits(best))
    throw new UserError(
      'usage',
      `A budget of ${formatBytes(budget)} is too small for this answer.`,
      `Without its data it has ${formatBytes(bytesOf(best))}. Give a larger --budget.`,
    );
  let [low, high] = [0, budget];
  while (high - low > 64) {
    const middle = (low + high) >> 1;
    const tried = text(left, middle);
    if (fits(tried)) [low, best] = [middle, tried];
    else high = middle;
  }
  // Rows differ in size: what is left may still hold some, of the first tables first.
  let room = budget - bytesOf(best);
  const counts = new Map<string, number>();
  for (const [path, all] of sizes) {
    let count = rowsFor(path, low);
    while (count < all.length && all[count] <= room) room -= all[count++];
    counts.set(path, count);
  }
  const fuller = render(
    cutTo(left, offset, path => counts.get(path) ?? 0),
    lines,
  );
  return fits(fuller) ? fuller : best;
}

/** Half of the budget for rows, unless that would cost the part that the answer leads with. */
function roomiest(envelope: Envelope, budget: number, bytes: (left: Envelope) => number): Envelope {
  const half = withoutLastParts(envelope, budget / 2, bytes);
  const most = withoutLastParts(envelope, budget, bytes);
  return Object.keys(half.data).length < Object.keys(most.data).length ? most : half;
}

function withoutLastParts(envelope: Envelope, budget: number, bytes: (left: Envelope) => number): Envelope {
  let left = envelope;
  for (const [name, member] of Object.entries(envelope.data).reverse()) {
    const parts = isObject(member) ? Object.entries(member) : [];
    for (let kept = parts.length - 1; kept >= 1; kept--) {
      const shorter = {
        ...left,
        data: { ...left.data, [name]: Object.fromEntries(parts.slice(0, kept)) },
        truncated: [
          ...envelope.truncated,
          { path: name, from: 0, shown: kept, of: parts.length, more: partMore(name, parts[kept][0]) },
          ...left.truncated.filter(({ path }) => path !== name),
        ],
      };
      if (bytes(shorter) <= budget) return shorter;
    }
    const { [name]: _, ...others } = left.data;
    const truncated = left.truncated.filter(({ path }) => path !== name);
    const cut = { path: name, from: 0, shown: 0, of: Math.max(1, parts.length), more: partMore(name) };
    left = { ...left, data: others, truncated: [...truncated, cut] };
    if (bytes(left) <= budget) return left;
  }
  return left;
}

const partMore = (part: string, next?: string): string =>
  part === 'analyses' && next !== undefined ? `--only ${next}` : 'a larger --budget';

const render = (envelope: Envelope, lines: boolean): string =>
  lines ? rowLines(envelope) : documentText(envelope);

/** The text of an answer, as much of it as was asked for. */
export function shapedText(envelope: Envelope, shape: Shape = {}): string {
  const { fields, limit = Number.POSITIVE_INFINITY, offset = 0, budget, lines = false } = shape;
  const chosen = fields ? withFields(envelope, fields) : envelope;
  if (budget !== undefined) return fitted(chosen, offset, limit, budget, lines);
  const cut = shape.limit === undefined && offset === 0 ? chosen : cutTo(chosen, offset, () => limit);
  return render(cut, lines);
}
