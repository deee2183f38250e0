/** Traces in which most is usual and anything may be odd: values, keys and their order, white space, single bytes. */
export type Random = () => number;

/** Of the clock of a session, since 1970, and where doubles end. */
const STARTS = [3_852_574_043_478, 1_623_142_623_460_111, 9_007_199_254_740_000];

export function randomTrace(random: Random): Uint8Array {
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)];
  const seldom = <T>(usual: T, ...odd: readonly T[]): T => (random() < 0.97 ? usual : pick(...odd));
  const space = () => seldom(pick('', ' ', '\n    '), '\t', '\r\n', '  \n\n', '\f', '\u00a0');
  const number = () =>
    seldom(
      pick('0', '7', '12', '3456', '1234567', '0.06', '17.25', '-1'),
      ...['1e3', '1E-2', '-0', '012', '1.', '.5', '+1', '123456789012345678', 'NaN', '-Infinity', 'null'],
      ...['"12"', '"0x1f"', 'true', '[]', '{}', '1.2345', '-', '99999999999999999999999999'],
    );
  const text = () =>
    seldom(
      pick(
        '""',
        '"a"',
        '"void f<int, 4>(float*)"',
        '"aten::copy_ of a long, long name with (all) [kinds] {of}"',
      ),
      ...['"\\n\\"x\\\\"', '"\\u00e9"', '"\\x"', '"é"', '"\u0001"', '"\\', '"open', '12', 'null', '["a"]'],
    );
  const value = (depth: number): string => {
    if (depth > 3 || random() < 0.5) return pick(number, text)();
    const inner = () => value(depth + 1);
    const items = Array.from({ length: Math.floor(random() * 4) }, () =>
      pick(0, 1) === 0 ? inner() : number(),
    );
    if (random() < 0.6) return `[${items.join(`,${space()}`)}${seldom('', ',', ' ')}]`;
    return `{${items.map(item => `${text()}:${space()}${item}`).join(',')}}`;
  };
  const object = (members: readonly (readonly [string, string])[]) => {
    const own = [...members];
    if (members.length > 0 && random() < 0.05) own.push(pick(...members));
    if (random() < 0.1) own.sort(() => random() - 0.5);
    const colon = pick(':', ': ');
    const between = () => seldom(',', ', ', ' ,', ',,', ' ', ';');
    const body = own.map(([key, item]) => `${space()}"${key}"${seldom(colon, ' : ', '')}${item}`);
    return `{${body.reduce((all, next) => (all === '' ? next : all + between() + next), '')}${space()}}`;
  };
  const args = () => {
    const known = [
      ...[
        'External id',
        'correlation',
        'stream',
        'device',
        'Ev Idx',
        'Python id',
        'bytes',
        'graph id',
        'Seq',
      ],
      ...[
        'graph node id',
        'shared memory',
        'registers per thread',
        'est. achieved occupancy %',
        'Group size',
      ],
    ];
    const nested = ['Input Dims', 'Input type', 'Concrete Inputs', 'grid', 'block', 'something'];
    const texts = ['Collective name', 'dtype', 'kind', 'Call stack', 'labels', 'name', 'unknown "key"'];
    const members = Array.from({ length: Math.floor(random() * 7) }, (): [string, string] => {
      const kind = random();
      if (kind < 0.5) return [pick(...known), number()];
      if (kind < 0.75)
        return [pick(...nested), seldom(pick('[8, 1, 1]', '[[4, 4096], []]', value(0)), text())];
      return [pick(...texts), text()];
    });
    return seldom(object(members), value(0));
  };
  let time = pick(...STARTS);
  const event = () => {
    time += Math.floor(random() * 50) * (random() < 0.05 ? 20 : 1);
    const category = pick(
      ...['cpu_op', 'cpu_op', 'python_function', 'kernel', 'kernel', 'cuda_runtime', 'ac2g', 'ac2g'],
      ...['gpu_memcpy', 'user_annotation', 'gpu_user_annotation', 'cuda_sync', 'Trace', 'new', 'cuda_driver'],
    );
    const phase = category === 'ac2g' ? pick('s', 'f', 't') : seldom('X', 'i', 'B', 'E', 'M', 'xx', '');
    const members: [string, string][] = [
      ['ph', seldom(`"${phase}"`, text(), '1')],
      ['cat', seldom(`"${category}"`, text(), '1')],
      ['name', text()],
      ['pid', seldom(pick('0', '1407', '"word"', '"stream 7"'), number(), '1099511627777', '"\\u0041"')],
      ['tid', seldom(pick('7', '1407', '"word"', '"other word"'), number(), text())],
      ['ts', seldom(`${time}${pick('', '.5', '.25', '.125')}`, number(), `"${time}"`, `${time}.1234`)],
    ];
    if (phase === 'X') members.push(['dur', seldom(pick('1', '2.5', '15.655', '0'), number())]);
    if (category === 'ac2g') members.push(['id', number()], ['bp', '"e"']);
    if (random() < 0.7) members.push(['args', args()]);
    return seldom(object(members), value(0));
  };
  const first = Array.from({ length: 2 + Math.floor(random() * 30) }, event);
  // Steps repeat: the same events with other numbers, of which some are written in another way.
  const digits = () => seldom(pick('7', '12', '3852574043999', '123456', '1000'), '01', '', '-5', '1e3', '"');
  const again = (text: string) =>
    random() < 0.3 ? text : text.replace(/\d{2,}/g, all => (random() < 0.6 ? all : digits()));
  const rounds = Array.from({ length: Math.floor(random() * 5) }, () => first.map(again));
  const events = [...first, ...rounds.flat()];
  const list = events.reduce((all, next) => all + seldom(`,${space()}`, ',,', ' ', '] ,') + next);
  const whole = `{"schemaVersion": 1, "traceEvents": [${list}${seldom('', ',')}], "traceName": "x"}`;
  return damaged(Buffer.from(whole), random);
}

/** Now and then single bytes are others, missing, or the end is. */
function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  const changes = random() < 0.6 ? 0 : 1 + Math.floor(random() * 3);
  let out = bytes;
  for (let n = 0; n < changes; n++) {
    const at = Math.floor(random() * out.length);
    const kind = random();
    if (kind < 0.5) out[at] = '"\\{}[],: \n0e.-\0\u00e9'.charCodeAt(Math.floor(random() * 16));
    else if (kind < 0.8) out = Buffer.concat([out.subarray(0, at), out.subarray(at + 1)]);
    else if (kind < 0.9) out = out.subarray(0, at);
    else out = Buffer.concat([out.subarray(0, at), out.subarray(Math.floor(random() * out.length))]);
  }
  return out.length === 0 ? Buffer.from('{') : out;
}
