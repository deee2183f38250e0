/**
 * What our own agent wrote beside a capture: iterations with their times, batch and tokens, garbage collections, and
 * the parts of the model in captured graphs, and the times of steps outside windows. Format: docs/agent-format.md. Steps
 * in windows become ranges named as the agent's markers are, so that everything downstream sees what it would have seen
 * had the capture recorded them.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { UserError } from '../../base/user-error.js';
import { fileFormats } from '../../catalog/file-formats.js';
import { GC_WATCHED } from '../../catalog/host-activities.js';
import { ProfileBuilder } from '../../model/builder.js';
import type { Profile } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { Importer } from '../importer.js';
import type { ProfileFile } from '../profile-file.js';
import { addGraphParts } from './graph-parts.js';
import { addNotedSteps } from './quiet-steps.js';
import { calibrated, countIn, ownTraces } from './sidecar-fields.js';
import { stepLogOf } from './step-log.js';

/** The agent keeps at most 50,000 iterations and 20,000 collections. */
const MAX_BYTES = 64 * 1024 * 1024;
const HEAD = /^\s*\{\s*"stepscopeAgent"\s*:\s*\d+\s*[,}]/;

export const agentSidecar: Importer = {
  ...fileFormats.agentSidecar,
  recognizes: head => HEAD.test(new TextDecoder('latin1').decode(head.subarray(0, 200))),
  import: async (file, { tables }) => {
    const document = parse(await textOf(file), file.name);
    const profile = toProfile(document, file);
    if (!tables) return profile;
    const skipped = (['ranges', 'graphParts', 'quietSteps'] as const).filter(name => !tables.has(name));
    const kept = Object.entries(profile.tables).filter(([name]) => !skipped.includes(name as never));
    return { ...profile, tables: Object.fromEntries(kept), skipped };
  },
};

async function textOf(file: ProfileFile): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of file.chunks()) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw damaged(file.name, 'It is far larger than any file the agent writes.');
    parts.push(chunk.slice());
  }
  return Buffer.concat(parts).toString('utf8');
}

function parse(text: string, name: string): JsonObject {
  try {
    const document: unknown = JSON.parse(text);
    if (isJsonObject(document) && document.stepscopeAgent === 1 && Array.isArray(document.iterations))
      return document;
  } catch {
    throw damaged(name, 'It is truncated or modified.');
  }
  throw damaged(name, 'Its version is not supported by this Stepscope, or it was modified.');
}

const damaged = (name: string, why: string) =>
  new UserError(
    'damaged',
    `${name} is not a valid agent file. ${why}`,
    'Copy it again, or omit it: captures can be opened without it.',
  );

function toProfile(document: JsonObject, file: ProfileFile): Profile {
  const builder = new ProfileBuilder();
  builder.clock = 'utc';
  builder.originNs = bigintOf(document.originNs, file.name);
  const process = builder.process('', countIn(document.pid));
  const ranges: { start: number; end: number; thread: number; name: number }[] = [];
  const add = (row: unknown, name: (row: JsonObject) => string) => {
    if (!isJsonObject(row)) return;
    const start = Number(row.startNs);
    const duration = Number(row.durationNs);
    if (!(Number.isFinite(start) && duration >= 0)) {
      builder.notes.add('agent-rows', 'loss', 'agent rows without a timestamp were left out', file.name);
      return;
    }
    ranges.push({
      start,
      end: start + duration,
      thread: builder.thread(process, countIn(row.thread)),
      name: builder.strings.intern(name(row)),
    });
  };
  for (const row of document.iterations as unknown[]) add(row, markerOf);
  if (Array.isArray(document.gcPauses))
    for (const row of document.gcPauses) add(row, pause => `stepscope.gc gen${countIn(pause.generation)}`);
  addGraphParts(builder, process, document, file.name);
  addNotedSteps(builder, process, document, file.name);
  const left = countIn(document.iterationsLeftOut);
  if (left > 0)
    builder.notes.add(
      'agent-left-out',
      'loss',
      'steps were not recorded by the agent (limit reached)',
      file.name,
      left,
    );
  const column = (key: 'start' | 'end' | 'thread' | 'name') => ranges.map(range => range[key]);
  builder.addTable(
    'ranges',
    {
      start: Float64Array.from(column('start')),
      end: Float64Array.from(column('end')),
      thread: Int32Array.from(column('thread')),
      name: Int32Array.from(column('name')),
      kind: new Uint8Array(ranges.length).fill(RangeKind.pushPop),
    },
    ranges.length,
  );
  const worldSize = countIn(document.worldSize);
  const rank = countIn(document.rank);
  const log = stepLogOf(document, builder.originNs, file.name);
  const profile = builder.build({
    profiler: 'agent',
    profilerVersion: '',
    formatVersion: String(document.stepscopeAgent),
    files: [file.name],
    sizeBytes: file.sizeBytes,
    settings: {
      ...(Array.isArray(document.gcPauses) ? { [GC_WATCHED]: 'observed by the agent' } : {}),
      ...ownTraces(document.torchTraces),
      ...calibrated(document.calibrated),
    },
    versions: versionsOf(document.versions),
    ...(worldSize > 1 ? { distributed: { rank, worldSize, backend: '' } } : {}),
    ranks: worldSize > 1 ? [rank] : [],
    environment: { variables: 0, looksSecret: 0 },
    sourceCounts: { iterations: (document.iterations as unknown[]).length },
  });
  return log ? { ...profile, stepLogs: [log] } : profile;
}

function bigintOf(value: unknown, name: string): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  throw damaged(name, 'It does not contain a start time.');
}

function versionsOf(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .slice(0, 50),
  );
}

/** As src/catalog/engine-markers.ts reads it. */
function markerOf(row: JsonObject): string {
  const context = `ctx=${countIn(row.contextRequests)}/${countIn(row.contextTokens)}`;
  const generation = `gen=${countIn(row.generationRequests)}/${countIn(row.generationTokens)}`;
  const kv = row.generationKvTokens === undefined ? '' : ` kv=${countIn(row.generationKvTokens)}`;
  return `stepscope.step ${countIn(row.iteration)} ${context} ${generation}${kv}`;
}
