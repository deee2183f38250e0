/**
 * A Perfetto trace as PyTorch's profiler writes it (torch/csrc/profiler/cuspy/cuspy_pftrace.cpp): GPU work as render
 * stages, and host events in groups, all beginnings before all ends.
 */
import { MessageWriter } from '../src/base/protobuf/message-writer.js';
import {
  Annotation,
  ClockId,
  Clocks,
  Entry,
  Event,
  EventType,
  Extra,
  GpuStage,
  Interned,
  Launch,
  Packet,
  Process,
  SequenceFlag,
  Thread,
  TRACE_PACKET,
  Track,
} from '../src/catalog/perfetto-fields.js';

export interface TorchSlice {
  readonly name: string;
  readonly category?: string;
  readonly startNs: number;
  readonly endNs: number;
  readonly args?: Readonly<Record<string, number | string>>;
}

export interface TorchKernel {
  readonly name: string;
  readonly stage: 'Kernel' | 'Memcpy' | 'Memset';
  readonly startNs: number;
  readonly endNs: number;
  readonly stream: number;
  readonly correlation: number;
}

export const TORCH_BASE_NS = 1_794_709_526_293_802_497n;
const PID = 4242;
const THREAD = 2;
const LOW = 2n ** 35n;

/** `groups`: host events that are written together. */
export function torchTrace(
  groups: readonly (readonly TorchSlice[])[],
  kernels: readonly TorchKernel[],
): Uint8Array {
  const out = new MessageWriter();
  const message = (field: number, write: () => void) => {
    const at = out.open(field);
    write();
    out.close(at);
  };
  const time = (field: number, ns: number) => {
    const at = TORCH_BASE_NS + BigInt(ns);
    out.split(field, Number(at / LOW), Number(at % LOW));
  };
  const ids = (texts: readonly string[]) => new Map([...new Set(texts)].map((text, i) => [text, i + 1]));
  const slices = groups.flat();
  const names = ids([...slices.map(({ name }) => name), ...kernels.map(({ name }) => name)]);
  const categories = ids(slices.flatMap(({ category }) => category ?? []));
  const stages = ['Kernel', 'Memcpy', 'Memset'];
  const streams = [...new Set(kernels.map(({ stream }) => stream))];
  message(TRACE_PACKET, () => {
    time(Packet.timestamp, 0);
    out.whole(Packet.sequence, 1);
    message(Packet.clockSnapshot, () => {
      for (const id of [ClockId.boottime, ClockId.realtime])
        message(Clocks.clock, () => {
          out.whole(Clocks.id, id);
          time(Clocks.timestamp, 0);
        });
    });
  });
  message(TRACE_PACKET, () =>
    message(Packet.trackDescriptor, () => {
      out.whole(Track.uuid, 1);
      message(Track.process, () => {
        out.whole(Process.pid, PID);
        out.text(Process.name, 'python');
      });
    }),
  );
  message(TRACE_PACKET, () =>
    message(Packet.trackDescriptor, () => {
      out.whole(Track.uuid, THREAD);
      out.whole(Track.parent, 1);
      message(Track.thread, () => {
        out.whole(Thread.pid, PID);
        out.whole(Thread.tid, PID);
        out.text(Thread.name, 'thread 4242 (python)');
      });
    }),
  );
  message(TRACE_PACKET, () => {
    out.whole(Packet.sequence, 1);
    out.whole(Packet.sequenceFlags, SequenceFlag.cleared);
    message(Packet.internedData, () => {
      const entries = (
        field: number,
        texts: Iterable<readonly [string, number]>,
        text: number = Entry.text,
      ) => {
        for (const [name, id] of texts)
          message(field, () => {
            out.whole(Entry.id, id);
            out.text(text, name);
          });
      };
      entries(Interned.names, names);
      entries(Interned.categories, categories);
      entries(Interned.gpuSpecifications, [
        ...stages.map((stage, i) => [stage, i + 1] as const),
        ...streams.map((stream, i) => [`[${stream}] stream ${stream}`, 1000 + i] as const),
      ]);
      entries(Interned.computeKernels, names, Entry.demangled);
    });
  });
  const event = (ns: number, type: number, slice?: TorchSlice) =>
    message(TRACE_PACKET, () => {
      time(Packet.timestamp, ns);
      out.whole(Packet.sequence, 1);
      if (slice) out.whole(Packet.sequenceFlags, SequenceFlag.needed);
      message(Packet.trackEvent, () => {
        out.whole(Event.type, type);
        out.whole(Event.track, THREAD);
        if (!slice) return;
        out.whole(Event.name, names.get(slice.name)!);
        if (slice.category) out.whole(Event.category, categories.get(slice.category)!);
        for (const [name, value] of Object.entries(slice.args ?? {}))
          message(Event.annotation, () => {
            out.text(Annotation.nameText, name);
            if (typeof value === 'number') out.signed(Annotation.int, value);
            else out.text(Annotation.text, value);
          });
      });
    });
  for (const group of groups) {
    for (const slice of group) event(slice.startNs, EventType.begin, slice);
    for (const { endNs } of group) event(endNs, EventType.end);
  }
  for (const { name, stage, startNs, endNs, stream, correlation } of kernels)
    message(TRACE_PACKET, () => {
      time(Packet.timestamp, startNs);
      out.whole(Packet.sequence, 1);
      out.whole(Packet.sequenceFlags, SequenceFlag.needed);
      message(Packet.gpuStage, () => {
        out.whole(GpuStage.duration, endNs - startNs);
        out.whole(GpuStage.gpu, 0);
        out.whole(GpuStage.queue, 1000 + streams.indexOf(stream));
        out.whole(GpuStage.stage, stages.indexOf(stage) + 1);
        if (stage === 'Kernel') {
          out.whole(GpuStage.kernel, names.get(name)!);
          message(GpuStage.launch, () => {
            for (const field of [Launch.grid, Launch.block])
              message(field, () => {
                for (const [i, size] of [8, 4, 1].entries()) out.whole(i + 1, size);
              });
          });
        }
        for (const [key, value] of Object.entries({ 'stream id': stream, 'context id': 1, correlation }))
          message(GpuStage.extra, () => {
            out.text(Extra.name, key);
            out.text(Extra.value, String(value));
          });
      });
    });
  return out.take();
}
