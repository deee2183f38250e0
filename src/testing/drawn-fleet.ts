/**
 * Profiles of many runs, as files of the PyTorch profiler: each rank computes, then all ranks meet in an all-reduce.
 * What each rank needs, and what each step takes, is known to the microsecond.
 *
 *   rank 0   ▄▄▄▄▒▒▒███        ▄ own work, ▒ waits for rank 1, █ transfers
 *   rank 1   ▄▄▄▄▄▄▄███
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { DrawnTrace, traceText } from './drawn-trace.js';

export interface DrawnFleetRun {
  readonly name: string;
  readonly ranks: number;
  readonly steps: number;
  /** Of a GEMM before the collective, in microseconds. */
  readonly gemmUs: (rank: number, step: number) => number;
  /** Of an attention kernel before it. */
  readonly attentionUs?: number;
  readonly transferUs?: number;
  /** Seconds since 1970. */
  readonly startedAt: number;
  readonly worldSize?: number;
  readonly requests?: number;
  /** The engine does not number its steps. */
  readonly unnumbered?: true;
  /** What the clock of a rank shows more, in microseconds. */
  readonly clockUs?: (rank: number) => number;
}

const LAUNCH_US = 5;
const PAUSE_US = 20;

/** Wall time of a step on every rank: launches, the slowest rank's work, the transfer, the pause. */
export const drawnStepUs = (run: DrawnFleetRun, step: number): number =>
  LAUNCH_US + slowestUs(run, step) + (run.transferUs ?? 30) + PAUSE_US;

const slowestUs = ({ ranks, gemmUs, attentionUs = 100 }: DrawnFleetRun, step: number): number =>
  attentionUs + Math.max(...Array.from({ length: ranks }, (_, rank) => gemmUs(rank, step)));

export function drawnRankText(run: DrawnFleetRun, rank: number): string {
  const { attentionUs = 100, transferUs = 30, requests = 8 } = run;
  const trace = new DrawnTrace(1000 + rank, 0);
  let at = 1000 + (run.clockUs?.(rank) ?? 0);
  for (let step = 0; step < run.steps; step++) {
    const end = at + drawnStepUs(run, step);
    const number = run.unnumbered ? '' : ` ${step + 10}`;
    trace.range(`[Executor] _forward_step${number}: 0 ctx reqs, ${requests} gen reqs`, at, end - 1);
    const begin = at + LAUNCH_US;
    const arrived = begin + attentionUs + run.gemmUs(rank, step);
    const ended = begin + slowestUs(run, step) + transferUs;
    trace.replay(1, at, [
      ['flash_fwd_splitkv_kernel', begin, begin + attentionUs],
      ['sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64', begin + attentionUs, arrived],
      ['ncclDevKernel_AllReduce_Sum_bf16_RING_LL', arrived, ended],
    ]);
    at = end;
  }
  return traceText(trace.all(), {
    rank,
    worldSize: run.worldSize ?? run.ranks,
    more: { baseTimeNanoseconds: Math.round(run.startedAt * 1e9) },
  });
}

/** `FOLDER/RUN/trace_rank0.json` …; gives the paths. */
export function writeDrawnRun(folder: string, run: DrawnFleetRun): string[] {
  const own = path.join(folder, run.name);
  mkdirSync(own, { recursive: true });
  return Array.from({ length: run.ranks }, (_, rank) => {
    const file = path.join(own, `trace_rank${rank}.json`);
    writeFileSync(file, drawnRankText(run, rank));
    return file;
  });
}
