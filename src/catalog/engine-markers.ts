/**
 * How inference engines mark their steps, as NVTX ranges or profiler annotations, and what each marker says. Each
 * grammar names where it was read. A user's own pattern uses the same group names.
 */

import { engines } from './engines.js';
import { isPhase, type Phase } from './phases.js';

/** What a marker says about its step; what it does not say is absent. */
export interface StepFacts {
  readonly iteration?: number;
  readonly phase: Phase;
  readonly contextRequests?: number;
  readonly contextTokens?: number;
  /** Tokens prefill attends to: its own and those already cached. */
  readonly contextKvTokens?: number;
  readonly generationRequests?: number;
  readonly generationTokens?: number;
  /** Slots of the graph that is replayed, where the batch is padded to it. */
  readonly paddedRequests?: number;
  /** Sum of the lengths decode attends to. */
  readonly generationKvTokens?: number;
}

export interface MarkerGrammar {
  readonly engine: string;
  /** Groups: iteration, phase, context and generation (requests), contextTokens, generationTokens, batch, tokens. */
  readonly pattern: RegExp;
  readonly source: string;
  /** Where the named groups alone do not tell. */
  readonly read?: (groups: Groups) => StepFacts;
  /** Marks something that may hold several engine steps, or none: any engine's own marker is preferred. */
  readonly generic?: true;
}

type Groups = Readonly<Record<string, string | undefined>>;

const grammars: MarkerGrammar[] = [
  {
    engine: engines.trtllm.label,
    pattern:
      /^\[Executor\] _forward_step(?: (?<iteration>\d+))?: (?<context>\d+) ctx reqs(?:, (?<contextTokens>\d+) ctx tokens)?, (?<generation>\d+) gen reqs$/,
    source: 'tensorrt_llm/_torch/pyexecutor/py_executor.py, all four shapes from 0.17 on',
  },
  {
    engine: engines.vllm.label,
    pattern:
      /^execute_(?:(?<tokens>\d+)_)?context_(?<context>\d+)\((?<contextSums>[^)]*)\)_generation_(?<generation>\d+)\((?<generationSums>[^)]*)\)$/,
    source:
      'vllm/v1/worker/gpu_model_runner.py, native (token counts) and detailed (sq, sk, sqsq, sqsk sums)',
    read: groups => {
      const context = sums(groups.contextSums);
      const generation = sums(groups.generationSums);
      return factsOf({
        context: groups.context,
        generation: groups.generation,
        contextTokens: context.sq,
        contextKv: context.sk,
        generationTokens: generation.sq,
        generationKv: generation.sk,
      });
    },
  },
  {
    engine: engines.sglang.label,
    pattern: /^step\[(?<phase>[A-Za-z_]+)(?<rest>(?: [a-z_]+=\d+)*)\]$/,
    source: 'sglang/srt/model_executor/model_runner.py; with roofline_annotations the c_ and g_ sums follow',
    read: ({ phase = '', rest = '' }) => readSglang(phase.toLowerCase(), pairs(rest)),
  },
  {
    engine: engines.atom.label,
    pattern: /^(?<phase>prefill|decode)\[bs=(?<batch>\d+)(?:\/(?<padded>\d+))? tok=(?<tokens>\d+)[^\]]*/,
    source: 'AMD ATOM model runner; a second number after bs= is the padded batch of the graph',
  },
  {
    engine: engines.agent.label,
    pattern:
      /^stepscope\.step (?<iteration>\d+) ctx=(?<context>\d+)\/(?<contextTokens>\d+) gen=(?<generation>\d+)\/(?<generationTokens>\d+)(?: kv=(?<generationKv>\d+))?$/,
    source: 'our own agent: requests/tokens of prefill and of decode',
  },
  {
    engine: engines.pytorch.label,
    pattern: /^ProfilerStep#(?<iteration>\d+)$/,
    source: 'torch/profiler/profiler.py',
    generic: true,
  },
];

export const markerGrammars: readonly MarkerGrammar[] = grammars;

/** A plugin's, which is tried first. */
export function addMarker(grammar: MarkerGrammar): void {
  grammars.unshift(grammar);
}

/** `sq8155sk8430sqsq…sqsk…`, or a bare token count. */
function sums(text = ''): Record<string, string> {
  if (/^\d+$/.test(text)) return { sq: text };
  return Object.fromEntries(
    [...text.matchAll(/(sqsq|sqsk|sq|sk)(\d+)/g)].map(([, name, value]) => [name, value]),
  );
}

const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(' ')
      .filter(Boolean)
      .map(pair => pair.split('=')),
  );

function readSglang(mode: string, p: Record<string, string>): StepFacts {
  if (mode === 'mixed') {
    return factsOf({
      phase: 'mixed',
      context: p.c,
      generation: p.g ?? p.dec,
      contextTokens: p.c_sq ?? p.ext,
      contextKv: p.c_sk,
      generationTokens: p.g_sq ?? p.g ?? p.dec,
      generationKv: p.g_sk,
    });
  }
  if (mode === 'extend' || mode === 'prefill') {
    return factsOf({
      phase: 'prefill',
      context: p.bs,
      generation: '0',
      contextTokens: p.toks ?? p.c_sq,
      contextKv: p.c_sk,
    });
  }
  if (mode === 'decode') {
    return factsOf({
      context: '0',
      generation: p.bs,
      generationTokens: p.g_sq ?? p.bs,
      generationKv: p.g_sk,
    });
  }
  // TARGET_VERIFY, DRAFT_EXTEND and the like; IDLE is a padding step without requests.
  const isIdle = mode === 'idle';
  return factsOf({
    phase: isIdle ? 'unknown' : mode.startsWith('draft') ? 'draft' : 'speculative',
    context: '0',
    generation: isIdle ? '0' : p.bs,
    generationTokens: p.g_sq ?? p.toks,
    generationKv: p.g_sk,
  });
}

/** Numbers from the groups of a pattern, and the phase where counts or the marker itself tell it. */
function factsOf(groups: Groups): StepFacts {
  const number = (name: string) => (groups[name] === undefined ? undefined : Number(groups[name]));
  const told = groups.phase === undefined ? undefined : phaseWord(groups.phase);
  const batch = number('batch');
  const tokens = number('tokens');
  const context = number('context') ?? (told === 'prefill' ? batch : told === 'decode' ? 0 : undefined);
  const generation = number('generation') ?? (told === 'decode' ? batch : told === 'prefill' ? 0 : undefined);
  const contextTokens = number('contextTokens') ?? (told === 'prefill' ? tokens : undefined);
  const generationTokens = number('generationTokens') ?? (told === 'decode' ? tokens : undefined);
  const facts = {
    iteration: number('iteration'),
    phase: told ?? phaseOfCounts(context, generation, generationTokens),
    contextRequests: context,
    contextTokens,
    contextKvTokens: number('contextKv'),
    generationRequests: generation,
    generationTokens,
    generationKvTokens: number('generationKv'),
    paddedRequests: number('padded'),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, v]) => v !== undefined)) as unknown as StepFacts;
}

function phaseWord(word: string): Phase {
  const lower = word.toLowerCase();
  if (/^(prefill|context|extend|ctx)/.test(lower)) return 'prefill';
  if (/^(decode|generation|gen)/.test(lower)) return 'decode';
  if (/draft/.test(lower)) return 'draft';
  if (/verify|spec/.test(lower)) return 'speculative';
  return isPhase(lower) ? lower : 'unknown';
}

/** More decode tokens than decode requests means several tokens are tried per request. */
export function phaseOfCounts(context?: number, generation?: number, generationTokens?: number): Phase {
  if (context === undefined && generation === undefined) return 'unknown';
  if ((context ?? 0) > 0) return (generation ?? 0) > 0 ? 'mixed' : 'prefill';
  if ((generation ?? 0) === 0) return 'unknown';
  return generationTokens !== undefined && generationTokens > generation! ? 'speculative' : 'decode';
}

export interface MarkerMatch {
  readonly grammar: MarkerGrammar;
  readonly facts: StepFacts;
}

export function matchMarker(text: string, tried = markerGrammars): MarkerMatch | undefined {
  for (const grammar of tried) {
    const match = grammar.pattern.exec(text);
    if (match) return { grammar, facts: (grammar.read ?? factsOf)({ ...match.groups }) };
  }
  return undefined;
}
