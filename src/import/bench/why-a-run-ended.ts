/**
 * Why a benchmark ended before it printed its result, as its log tells: what ran out, or the last words of Python.
 * Tried on every line of a stranger's log, so each pattern is short.
 */
import type { LogLine } from './log-lines.js';

interface Cause {
  readonly pattern: RegExp;
  readonly what: string;
  readonly hint: string;
}

const SMALLER =
  'Run it with a smaller --max_batch_size, --max_num_tokens or --kv_cache_free_gpu_mem_fraction, or on more GPUs (--tp).';
const LOOK = 'Check the log at that line, and run it again.';

/** The first that is found is the cause: what follows it in a log (broken pipes, lost ranks) are its consequences. */
const causes: readonly Cause[] = [
  {
    pattern:
      /\bOutOfMemoryError\b|CUDA out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|CUDA runtime error in .{0,80}out of memory/,
    what: 'the GPU ran out of memory',
    hint: SMALLER,
  },
  {
    pattern: /oom[-_]kill|Out of memory: Killed process|OOM Killed|OOMKilled/i,
    what: 'the host ran out of memory and killed it',
    hint: 'Give the job more host memory.',
  },
  {
    pattern: /DUE TO TIME LIMIT/,
    what: 'the job reached its time limit',
    hint: 'Give the job more time, or fewer requests (--num_requests).',
  },
  {
    pattern: /Keyboard interrupt, exiting benchmark|^KeyboardInterrupt\b/,
    what: 'it was interrupted',
    hint: 'Let it run to completion.',
  },
  { pattern: /Requests failed: \S/, what: 'requests failed', hint: LOOK },
  { pattern: /CUDA error: \S|NCCL error|NCCL WARN .{0,80}failed/, what: 'CUDA or NCCL failed', hint: LOOK },
  {
    pattern: /Segmentation fault|signal 11|SIGSEGV/,
    what: 'it crashed',
    hint: LOOK,
  },
  { pattern: /^\s*Killed\s*$|signal 9\b|SIGKILL/, what: 'it was killed', hint: LOOK },
  {
    pattern: /^[A-Za-z_][\w.]{0,80}(?:Error|Exception): \S/,
    what: 'Python exited with an error',
    hint: LOOK,
  },
];

interface Ending {
  readonly what: string;
  readonly hint: string;
  /** `line 57: torch.OutOfMemoryError: …` */
  readonly where: string;
}

const MOST_CHARACTERS = 160;

const BEGINS = /Preparing to run (?:throughput|latency) benchmark/;

/** Hears every line of a log, and knows whether the last run of it came to its result. */
export class EndingListener {
  private first = new Map<Cause, LogLine>();
  private begun = false;

  hear(line: LogLine): void {
    if (BEGINS.test(line.text)) {
      this.first = new Map();
      this.begun = true;
    }
    for (const cause of causes)
      if (!this.first.has(cause) && cause.pattern.test(line.text)) this.first.set(cause, line);
  }

  /** The run so far has its result: whatever was said before did not end it. */
  resultCame(): void {
    this.first = new Map();
    this.begun = false;
  }

  /** A run was begun, and no result came. */
  get isUnfinished(): boolean {
    return this.begun;
  }

  get ending(): Ending | undefined {
    const cause = causes.find(known => this.first.has(known));
    if (cause === undefined) return undefined;
    const { number, text } = this.first.get(cause)!;
    const words = text.trim();
    const quoted = words.length > MOST_CHARACTERS ? `${words.slice(0, MOST_CHARACTERS)}…` : words;
    return { what: cause.what, hint: cause.hint, where: `line ${number}: ${quoted}` };
  }
}
