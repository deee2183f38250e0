/**
 * The file of `stepscope load`: the types are its documentation, load-schema.ts is the same for machines. Times are
 * nanoseconds, rates per second. What was not measured is absent. It holds no key, no header's value, no prompt and no
 * answer.
 */
import type { Note } from '../base/notes.js';
import type {
  BenchCounts,
  BenchLoad,
  BenchRequest,
  BenchThroughput,
  Distribution,
  LatencyName,
} from '../model/bench-run.js';

export const LOAD_SCHEMA = 'stepscope-load/1';

export interface LoadDocument {
  readonly schema: typeof LOAD_SCHEMA;
  readonly version: string;
  /** When it began, by the wall clock. */
  readonly date: string;
  readonly target: LoadTarget;
  readonly settings: LoadSettings;
  readonly levels: readonly LevelResult[];
}

interface LoadTarget {
  /** Without credentials and query. */
  readonly url: string;
  readonly api: string;
  readonly model: string;
  /** As the server says in its list of models. */
  readonly framework?: string;
  readonly frameworkVersion?: string;
}

interface LoadSettings {
  readonly stream: boolean;
  readonly seed: number;
  /** `synthetic`, or the name of the dataset. */
  readonly prompts: string;
  readonly inputTokens?: string;
  readonly outputTokens: string;
  /** `unique`, `seeded`, `shared:N`; of synthetic prompts. */
  readonly prefix?: string;
  readonly arrivals: string;
  readonly warmup: number;
  readonly rampNs: number;
  readonly timeoutNs: number;
  readonly mostInFlight: number;
  /** Whether the server was told to make answers as long as asked. */
  readonly exactLength: boolean;
  readonly sampling: Readonly<Record<string, number | boolean>>;
  /** Names of further fields of the body, and of headers. */
  readonly otherFields: readonly string[];
  readonly headers: readonly string[];
}

export interface LevelResult {
  readonly level: string;
  /** Ended by Ctrl-C: fewer requests than asked for. */
  readonly interrupted?: true;
  readonly load: BenchLoad;
  readonly counts: BenchCounts & {
    readonly completed: number;
    readonly errors: number;
    /** Under way when the level was ended; neither answered nor failed. */
    readonly unfinished: number;
  };
  readonly durationNs?: number;
  readonly throughput: BenchThroughput;
  readonly latency: Readonly<Partial<Record<LatencyName, Distribution>>>;
  readonly timing: LevelTiming;
  readonly tokens: {
    /** Who counted: the server, or nobody, so words or pieces stand for tokens. */
    readonly input: 'usage' | 'words' | 'ids' | 'unknown';
    readonly output: 'usage' | 'pieces' | 'unknown';
    readonly perPiece?: number;
  };
  readonly errors: readonly LevelError[];
  readonly requests?: readonly LoadRequest[];
  readonly notes: readonly Note[];
}

/** What is not the engine's. */
export interface LevelTiming {
  /** Until the first bytes of the answer, its headers. */
  readonly firstByte?: Distribution;
  /** Resolving the name and connecting, of requests that needed a new connection. */
  readonly connect?: Distribution;
  readonly dns?: Distribution;
  readonly newConnections: number;
  /** Of an open loop: from when a request was due to when it was sent. Latencies contain it. */
  readonly sendDelay?: Distribution;
  /** How late this program came to look at its connections: percentile 99. */
  readonly clientLagNs: number;
}

interface LevelError {
  readonly kind: string;
  readonly count: number;
  /** What one of them said. */
  readonly example: string;
}

export interface LoadRequest extends BenchRequest {
  readonly id: number;
  readonly startNs: number;
  readonly sendDelayNs?: number;
  readonly connectNs?: number;
  readonly firstByteNs?: number;
  readonly pieces?: number;
  readonly status?: number;
  readonly error?: string;
}
