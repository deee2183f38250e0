/** What `stepscope host --json` prints, declared: the call tree of the host over the selected steps. */
import Type from 'typebox';
import { choice, document, flag, integer, list, number, string } from '../../base/document.js';
import { hostNameKinds } from '../../catalog/host-names.js';
import type { CallNode } from './call-tree.js';

const node = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'kind', 'module', 'selfNs', 'totalNs', 'count', 'children'],
  properties: {
    name: string('without instance numbers, addresses and folders'),
    kind: choice(
      [...hostNameKinds, 'smaller', 'all'],
      'how the name was learned; smaller: several nodes added up; all: the root',
    ),
    module: { type: ['string', 'null'], description: 'innermost class of a module on the way' },
    selfNs: number('in the node itself'),
    totalNs: number('selfNs and the totalNs of all children'),
    count: integer('calls behind the time'),
    children: { type: 'array', items: { $ref: '#/$defs/node' }, description: 'largest first' },
  },
};

const schema = document(
  'stepscope-host/1',
  'Call tree of the host',
  'What the host does in the selected steps, by call path: weighted by the GPU idle time it causes, or by its own time.',
  {
    files: list(string('base name')),
    weight: choice(
      ['idle', 'time'],
      'idle: GPU idle time caused by the host; time: time of the threads that run the steps',
    ),
    inverted: flag('what takes the time on top, its callers below'),
    steps: integer('selected steps; 0: the whole trace'),
    windows: integer('what means are taken over: steps times devices for idle, steps for time; at least 1'),
    totalNs: number('totalNs of the tree: over all windows'),
    namedNs: number('of it inside something recorded'),
    placedNs: number('of it without a recorded event, before a recorded operator, range or function'),
    tree: Type.Unsafe<CallNode>({ $ref: '#/$defs/node' }),
  },
);

export const hostSchema: typeof schema = { ...schema, $defs: { node } } as typeof schema;
