/**
 * Texts that are the same wherever the same hardware, system or profiler is in use. A value stays when it is one of
 * these; what else it might be is not asked.
 */
const WORDS = /[A-Za-z]+|[^A-Za-z]+/g;

/** Numbers, switches and versions made of numbers. */
export const isPlain = (text: string): boolean =>
  /^(?:true|false|null|none|-?\d+(?:\.\d+){0,2}(?:e[+-]?\d+)?|0x[0-9a-f]+)?$/i.test(text);

/** Lists of numbers, in brackets or not: shapes, ranks, splits. */
export const isNumbers = (text: string): boolean =>
  /^[[\](){}\d\s,.;:+-]*$/.test(text) && !/\d+(?:\.\d+){3}/.test(text);

/** `2025.3.1.90-253135822126v0`, `580.105.08`, `2.11.0+cu130`: numbers, and the few letters that builds carry. */
export const isVersion = (text: string): boolean =>
  /^v?\d+(?:\.\d+)*(?:[-+.]?(?:a|b|rc|dev|post|cu|rocm|v|fb|nv)?\d[\dv.]*)*$/i.test(text);

export const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?[+-]\d{4}(?: [A-Z]{3,4})?|Z)?$|^[\d.]+ sec$/.test(text);

/** PCI places of devices. */
export const isBusLocation = (text: string): boolean =>
  /^[0-9a-f]{4,8}(?::[0-9a-f]{2}){2}\.\d$|^$/i.test(text);

const GPU_WORDS = new Set(
  `NVIDIA AMD Intel Tesla GeForce Quadro GRID TITAN Instinct Radeon Pro RTX GTX Ada Generation Blackwell Server Edition
   Workstation Max Q Ti SUPER Laptop GPU Super Graphics Device Data Center SXM PCIe NVL HBM HBM2 HBM3 HBM3e GB MIG Xp V
   DGX Spark Display Black Z Grace Hopper GH GB A B C D E F G H I L M P S T X MI XT OAM OEM vGPU PG GA AD TU GV GP GM gfx ga gb mhz`.split(
    /\s+/,
  ),
);
const OS_WORDS = new Set(
  `Ubuntu Debian GNU Linux Red Hat Enterprise CentOS Stream Rocky AlmaLinux Oracle Fedora SUSE SLES openSUSE Leap Server SP
   Amazon CBL Mariner Azure Windows Microsoft LTS bookworm bullseye trixie jammy noble Plow Ootpa Core Silverblue Linux Alpine Arch
   Pop OS Mint WSL Container Optimized Google Flatcar Tumbleweed bit x x86 aarch arm`.split(/\s+/),
);

const madeOf = (text: string, words: ReadonlySet<string>): boolean =>
  text.length <= 100 && (text.match(WORDS) ?? []).every(part => !/[A-Za-z]/.test(part) || words.has(part));

export const isGpuName = (text: string): boolean => madeOf(text, GPU_WORDS);
export const isOsName = (text: string): boolean => madeOf(text, OS_WORDS) && !/\d+(?:\.\d+){3}/.test(text);

/** Words of the profiler's own settings. */
const SETTING_WORDS = new Set(
  `Node Graph Immediate Delayed ProcessTree SystemWide Process LaunchAnother Unix Linux Windows SQLite Software Hardware
   OSRuntime Cuda NvtxEvents Graphics CuBLAS CuDNN Nvtx CUDA NVTX OpenGL Vulkan OpenACC OpenMP MPI UCX NvVideo
   CudaProfilerApi cudaProfilerApi CudaProfiler NvtxCaptureRange HotKey hotkey None none Auto auto Sampling Sched
   GpuMetrics GpuContextSwitch Nvmedia NvMedia CuSolver CuSparse CudaUmPageFaults GpuCtxSw Syscall Python
   linux-desktop osx-desktop windows-desktop linux-server x64 arm64 sbsa x86_64 aarch64`.split(/\s+/),
);
export const isSetting = (text: string): boolean =>
  isPlain(text) || SETTING_WORDS.has(text) || text === 'NVIDIA Nsight Systems' || text === 'Local (CLI)';

/** What PyTorch calls the types of arguments. */
const TYPE_NAMES =
  /^(?:(?:unsigned )?(?:char|short|int|long|long long|long int|short int)|float|double|bool|Scalar|ScalarList|TensorList|GenericList|Tensor|Device|Stream|None|Byte|Char|Short|Int|Long|Half|Float|Double|Bool|BFloat16|Float8_e\w{4,9}|ComplexFloat|ComplexDouble|c10::(?:Half|BFloat16|Float8_e\w{4,9}|complex<(?:float|double|c10::Half)>|SymInt|q?u?int\d*)|unsigned char|)$/;
export const isTypeName = (text: string): boolean => TYPE_NAMES.test(text);

/** `Memcpy HtoD (Pinned -> Device)`, `Stream Sync`: kinds as CUPTI and ROCm call them. */
const KIND_WORDS = new Set(
  `Context Stream Event Device Wait Sync Synchronize Dispatch Kernel Task Barrier Marker Memcpy Memset Pinned Pageable
   Array Managed Unified Unknown HtoD DtoH DtoD HtoH PtoP HostToDevice DeviceToHost DeviceToDevice HostToHost Copy
   CopyHostToDevice CopyDeviceToHost CopyDeviceToDevice Fill Buffer`.split(/\s+/),
);
export const isWorkKind = (text: string): boolean => isPlain(text) || madeOf(text, KIND_WORDS);

/** Names that C, C++ and Python allow for a function, with their namespaces and versions. */
export const isIdentifier = (text: string): boolean => /^[A-Za-z_~][\w:~.@$]{0,199}$/.test(text);
