/**
 * A Perfetto trace as PyTorch's profiler writes it (torch/csrc/profiler/cuspy/cuspy_pftrace.cpp): GPU work as render
 * stages, and host events in groups, all beginnings before all ends.
 */
import { MessageWriter } from '../src/base/protobuf/message-writer.js';
import {
  AnnotationField,
  ClockId,
  ClocksField,
  EntryField,
  EventField,
  EventType,
  ExtraField,
  GpuStageField,
  InternedField,
  LaunchField,
  PacketField,
  ProcessField,
  SequenceFlag,
  ThreadField,
  TRACE_PACKET,
  TrackField,
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
    time(PacketField.timestamp, 0);
    out.whole(PacketField.sequence, 1);
    message(PacketField.clockSnapshot, () => {
      for (const id of [ClockId.boottime, ClockId.realtime])
        message(ClocksField.clock, () => {
          out.whole(ClocksField.id, id);
          time(ClocksField.timestamp, 0);
        });
    });
  });
  message(TRACE_PACKET, () =>
    message(PacketField.trackDescriptor, () => {
      out.whole(TrackField.uuid, 1);
      message(TrackField.process, () => {
        out.whole(ProcessField.pid, PID);
        out.text(ProcessField.name, 'python');
      });
    }),
  );
  message(TRACE_PACKET, () =>
    message(PacketField.trackDescriptor, () => {
      out.whole(TrackField.uuid, THREAD);
      out.whole(TrackField.parent, 1);
      message(TrackField.thread, () => {
        out.whole(ThreadField.pid, PID);
        out.whole(ThreadField.tid, PID);
        out.text(ThreadField.name, 'thread 4242 (python)');
      });
    }),
  );
  message(TRACE_PACKET, () => {
    out.whole(PacketField.sequence, 1);
    out.whole(PacketField.sequenceFlags, SequenceFlag.cleared);
    message(PacketField.internedData, () => {
      const entries = (
        field: number,
        texts: Iterable<readonly [string, number]>,
        text: number = EntryField.text,
      ) => {
        for (const [name, id] of texts)
          message(field, () => {
            out.whole(EntryField.id, id);
            out.text(text, name);
          });
      };
      entries(InternedField.names, names);
      entries(InternedField.categories, categories);
      entries(InternedField.gpuSpecifications, [
        ...stages.map((stage, i) => [stage, i + 1] as const),
        ...streams.map((stream, i) => [`[${stream}] stream ${stream}`, 1000 + i] as const),
      ]);
      entries(InternedField.computeKernels, names, EntryField.demangled);
    });
  });
  const event = (ns: number, type: number, slice?: TorchSlice) =>
    message(TRACE_PACKET, () => {
      time(PacketField.timestamp, ns);
      out.whole(PacketField.sequence, 1);
      if (slice) out.whole(PacketField.sequenceFlags, SequenceFlag.needed);
      message(PacketField.trackEvent, () => {
        out.whole(EventField.type, type);
        out.whole(EventField.track, THREAD);
        if (!slice) return;
        out.whole(EventField.name, names.get(slice.name)!);
        if (slice.category) out.whole(EventField.category, categories.get(slice.category)!);
        for (const [name, value] of Object.entries(slice.args ?? {}))
          message(EventField.annotation, () => {
            out.text(AnnotationField.nameText, name);
            if (typeof value === 'number') out.signed(AnnotationField.int, value);
            else out.text(AnnotationField.text, value);
          });
      });
    });
  for (const group of groups) {
    for (const slice of group) event(slice.startNs, EventType.begin, slice);
    for (const { endNs } of group) event(endNs, EventType.end);
  }
  for (const { name, stage, startNs, endNs, stream, correlation } of kernels)
    message(TRACE_PACKET, () => {
      time(PacketField.timestamp, startNs);
      out.whole(PacketField.sequence, 1);
      out.whole(PacketField.sequenceFlags, SequenceFlag.needed);
      message(PacketField.gpuStage, () => {
        out.whole(GpuStageField.duration, endNs - startNs);
        out.whole(GpuStageField.gpu, 0);
        out.whole(GpuStageField.queue, 1000 + streams.indexOf(stream));
        out.whole(GpuStageField.stage, stages.indexOf(stage) + 1);
        if (stage === 'Kernel') {
          out.whole(GpuStageField.kernel, names.get(name)!);
          message(GpuStageField.launch, () => {
            for (const field of [LaunchField.grid, LaunchField.block])
              message(field, () => {
                for (const [i, size] of [8, 4, 1].entries()) out.whole(i + 1, size);
              });
          });
        }
        for (const [key, value] of Object.entries({ 'stream id': stream, 'context id': 1, correlation }))
          message(GpuStageField.extra, () => {
            out.text(ExtraField.name, key);
            out.text(ExtraField.value, String(value));
          });
      });
    });
  return out.take();
}
