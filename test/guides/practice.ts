/** The practice log: two engine builds, compared by benchmark and by profile. */
import { ask, type Chapter } from './statement.js';

const KERNEL =
  'void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8>(T1::Params)';
const UNFUSED =
  'sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize160x128x32_stage4_warpsize2x2x1_tensor16x8x16_execute_kernel_trt';

export const practice: readonly Chapter[] = [
  {
    title: 'Two builds compared',
    statements: [
      ask(
        'E',
        'Read throughput and latency from the log of the benchmark',
        'bench %trtllm-pieces.md',
        'Every figure of both runs, side by side',
        /100\.0/,
        /102\.5/,
      ),
      ask(
        'E',
        'Which setting is faster?',
        'bench %trtllm-pieces.md',
        'The difference of each figure to the first run',
        /\+2\.5%/,
      ),
      ask(
        'E',
        'Is a difference of 2% real?',
        'bench %trtllm-pieces.md',
        'States that one run per side does not show the noise',
        /noise is unknown: run each at least 3 times/,
      ),
      ask(
        'E',
        'Was the load the same?',
        'bench %trtllm-pieces.md',
        'Lists what the logs do not state and could therefore differ',
        /not stated/,
      ),
      ask(
        'E',
        'Top kernels of both builds, from notes',
        'families out/notes.md',
        'Reads the tables as they are in the notes and groups them',
        /4,000/,
        /10,000/,
      ),
      ask(
        'E',
        'How did the kernels change between the builds?',
        'families out/notes.md',
        'The change of each family, and what the tables leave out',
        /auto → disable/,
        /kernels it omits/,
      ),
      ask(
        'E',
        'Are there fewer kernels per iteration?',
        'analyze @eager --only kernels-per-step',
        'Counts kernels of every step: fewest, most and mean',
        /1,016/,
      ),
      ask(
        'E',
        'The timeline is hard to read: what does one iteration consist of?',
        'steps @eager --sequence --rows 6',
        'The kernels of a typical step in order, each with its layer and the gap before it',
        /Iteration 15, decode: the step with the median time/,
      ),
      ask(
        'E',
        'A kernel that is in one profile and not in the other',
        'compare before=@eager after=@graph',
        'Kernels that are new, gone or changed, by name',
        /Kernels that changed most/,
      ),
      ask(
        'E',
        'What is this kernel?',
        `analyze --why '${KERNEL}'`,
        'Family, library, data type, tile and architecture, each with the part of the name that shows it',
        /family +gemm/,
        /dtype +fp16/,
        /256x128/,
      ),
      ask(
        'E',
        'Is it a plugin GEMM?',
        "analyze --why 'cudaCoreGemm'",
        'Recognizes the kernels of the GEMM plugin',
        /family +gemm/,
      ),
      ask(
        'E',
        'Do unfused GEMMs use FP32?',
        `analyze --why '${UNFUSED}'`,
        'Reads the data types from the name, and where they are in it',
        /family +gemm/,
        /dtype +fp16/,
      ),
      ask(
        'E',
        'Attention kernels with short names',
        "analyze --why 'kernel_mha'",
        'Knows them as attention',
        /family +attention/,
      ),
      ask(
        'E',
        'Would another batch size change the picture?',
        'whatif @old23 --batch 16',
        'Predicts the step with another batch, with an interval',
        /With batch 16, decode is predicted .*interval/,
      ),
      ask(
        'E',
        'Would a larger model change the picture?',
        'capture --model llama-3.3-70b --iterations 100-150 -- trtllm-bench --model meta-llama/Llama-3.3-70B throughput',
        'Plans the same capture for another model',
        /80 layers/,
      ),
      ask(
        'E',
        'Record the same benchmark with both engine builds',
        'capture -o auto --iterations 100-150 -- trtllm-bench --model T throughput --dataset s.txt --engine_dir gemm_auto --warmup 0',
        'The same plan for each build, under its own name; compare then shows the difference',
        /-o auto/,
        /--engine_dir gemm_auto/,
      ),
      ask(
        'E',
        'Do not lose the first report to the second run',
        'capture -o profiling/nsys_trtllm -- trtllm-bench --model T throughput',
        'Never overwrites without --force: the plan has no -f true',
        /-o profiling\/nsys_trtllm/,
      ),
    ],
  },
];
