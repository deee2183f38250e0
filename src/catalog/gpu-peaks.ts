/**
 * What GPUs can do at most, as their makers print it. Rates are dense: where a datasheet prints the rate with
 * 2:4 sparsity, half of it stands here. Bandwidths count 10⁹ bytes to the GB, and links one direction.
 */

/** FLOP/s. The fastest unit that multiplies matrices of that type, accumulating in fp32 where makers tell apart. */
export interface DenseFlops {
  readonly fp64?: number;
  readonly fp32: number;
  readonly tf32?: number;
  readonly fp16: number;
  readonly bf16?: number;
  readonly fp8?: number;
  readonly fp4?: number;
  readonly int8?: number;
}

export type FlopsType = keyof DenseFlops;

export interface GpuPeak {
  /** Matches the name as profilers print it, `NVIDIA H200` or `Tesla T4`. */
  readonly pattern: RegExp;
  readonly name: string;
  readonly memoryBandwidthBytesPerSecond: number;
  /** As the datasheet rounds it; what a profile states is exact. */
  readonly memoryBytes: number;
  readonly denseFlops: DenseFlops;
  /** All NVLink (on AMD: Infinity Fabric) links to other GPUs together, one direction. */
  readonly nvlinkBytesPerSecond?: number;
  readonly pcieBytesPerSecond?: number;
  readonly boostClockHz?: number;
  /** Compute units on AMD. */
  readonly smCount: number;
  readonly source: string;
}

interface Body {
  readonly gbPerSecond: number;
  readonly gb: number;
  readonly sms: number;
  readonly boostMhz?: number;
  readonly linkGb?: number;
  readonly pcie: 3 | 4 | 5 | 6;
}

/** 16 lanes, after line coding. */
const pcieGb = { 3: 15.75, 4: 31.5, 5: 63, 6: 126 };

function gpu(name: string, pattern: RegExp, body: Body, teraflops: DenseFlops, source: string): GpuPeak {
  const scaled = Object.entries(teraflops).map(([type, rate]) => [type, rate * 1e12]);
  return {
    pattern,
    name,
    memoryBandwidthBytesPerSecond: body.gbPerSecond * 1e9,
    memoryBytes: body.gb * 1e9,
    denseFlops: Object.fromEntries(scaled) as unknown as DenseFlops,
    nvlinkBytesPerSecond: body.linkGb === undefined ? undefined : body.linkGb * 1e9,
    pcieBytesPerSecond: pcieGb[body.pcie] * 1e9,
    boostClockHz: body.boostMhz === undefined ? undefined : body.boostMhz * 1e6,
    smCount: body.sms,
    source,
  };
}

const voltaSxm: DenseFlops = { fp64: 7.8, fp32: 15.7, fp16: 125 };
const a100: DenseFlops = { fp64: 19.5, fp32: 19.5, tf32: 156, fp16: 312, bf16: 312, int8: 624 };
const a100Body = { sms: 108, boostMhz: 1410, linkGb: 300, pcie: 4 } as const;
const hopperSxm: DenseFlops = {
  fp64: 66.9,
  fp32: 66.9,
  tf32: 494.7,
  fp16: 989.4,
  bf16: 989.4,
  fp8: 1978.9,
  int8: 1978.9,
};
const hopperBody = { sms: 132, boostMhz: 1980, linkGb: 450, pcie: 5 } as const;
const hopperNvl: DenseFlops = {
  fp64: 60,
  fp32: 60,
  tf32: 417.5,
  fp16: 835.5,
  bf16: 835.5,
  fp8: 1670.5,
  int8: 1670.5,
};
const h20: DenseFlops = { fp64: 1, fp32: 44, tf32: 74, fp16: 148, bf16: 148, fp8: 296, int8: 296 };
const cdna3: DenseFlops = {
  fp64: 163.4,
  fp32: 163.4,
  tf32: 653.7,
  fp16: 1307.4,
  bf16: 1307.4,
  fp8: 2614.9,
  int8: 2614.9,
};

/** The more specific pattern stands first: the first that matches is taken. */
export const gpuPeaks: readonly GpuPeak[] = [
  gpu(
    'V100S PCIe',
    /\bV100S-PCIE-32GB$/,
    { gbPerSecond: 1134, gb: 32, sms: 80, boostMhz: 1597, pcie: 3 },
    { fp64: 8.2, fp32: 16.4, fp16: 130 },
    'NVIDIA V100 Tensor Core GPU datasheet, January 2020',
  ),
  gpu(
    'V100 SXM2',
    /\bV100-SXM2-(?:16|32)GB$/,
    { gbPerSecond: 900, gb: 32, sms: 80, boostMhz: 1530, linkGb: 150, pcie: 3 },
    voltaSxm,
    'NVIDIA V100 Tensor Core GPU datasheet, January 2020',
  ),
  gpu(
    'V100 DGX Station',
    /\bV100-DGXS-(?:16|32)GB$/,
    { gbPerSecond: 900, gb: 32, sms: 80, boostMhz: 1530, linkGb: 100, pcie: 3 },
    voltaSxm,
    'NVIDIA DGX Station datasheet: 500 TFLOPS in four GPUs',
  ),
  gpu(
    'V100 PCIe',
    /\bV100-PCIE-(?:16|32)GB$/,
    { gbPerSecond: 900, gb: 32, sms: 80, boostMhz: 1380, pcie: 3 },
    { fp64: 7, fp32: 14, fp16: 112 },
    'NVIDIA V100 Tensor Core GPU datasheet, January 2020',
  ),
  gpu(
    'T4',
    /^(?:NVIDIA |Tesla )T4$/,
    { gbPerSecond: 320, gb: 16, sms: 40, boostMhz: 1590, pcie: 3 },
    { fp32: 8.1, fp16: 65, int8: 130 },
    'NVIDIA T4 datasheet',
  ),
  gpu(
    'A100 80GB SXM',
    /\bA100-SXM4?-80GB$/,
    { gbPerSecond: 2039, gb: 80, ...a100Body },
    a100,
    'NVIDIA A100 Tensor Core GPU datasheet, June 2021',
  ),
  gpu(
    'A100 80GB PCIe',
    /\bA100 80GB PCIe$/,
    { gbPerSecond: 1935, gb: 80, ...a100Body },
    a100,
    'NVIDIA A100 Tensor Core GPU datasheet, June 2021',
  ),
  gpu(
    'A100 40GB',
    /\bA100-(?:SXM4?-40GB|PCIE-40GB|PG509-200)$/,
    { gbPerSecond: 1555, gb: 40, ...a100Body },
    a100,
    'NVIDIA A100 Tensor Core GPU datasheet, November 2020',
  ),
  gpu(
    'A10G',
    /^(?:NVIDIA )?A10G$/,
    { gbPerSecond: 600, gb: 24, sms: 80, boostMhz: 1710, pcie: 4 },
    { fp32: 35, tf32: 35, fp16: 70, bf16: 70, int8: 140 },
    'NVIDIA A10G datasheet for Amazon EC2 G5',
  ),
  gpu(
    'A10',
    /^(?:NVIDIA )?A10$/,
    { gbPerSecond: 600, gb: 24, sms: 72, boostMhz: 1695, pcie: 4 },
    { fp32: 31.2, tf32: 62.5, fp16: 125, bf16: 125, int8: 250 },
    'NVIDIA A10 datasheet',
  ),
  gpu(
    'L40S',
    /^(?:NVIDIA )?L40S$/,
    { gbPerSecond: 864, gb: 48, sms: 142, boostMhz: 2520, pcie: 4 },
    { fp32: 91.6, tf32: 183, fp16: 362.05, bf16: 362.05, fp8: 733, int8: 733 },
    'NVIDIA L40S datasheet',
  ),
  gpu(
    'L40',
    /^(?:NVIDIA )?L40$/,
    { gbPerSecond: 864, gb: 48, sms: 142, boostMhz: 2490, pcie: 4 },
    { fp32: 90.5, tf32: 90.5, fp16: 181.05, bf16: 181.05, fp8: 362, int8: 362 },
    'NVIDIA L40 datasheet',
  ),
  gpu(
    'L4',
    /^(?:NVIDIA )?L4$/,
    { gbPerSecond: 300, gb: 24, sms: 58, boostMhz: 2040, pcie: 4 },
    { fp32: 30.3, tf32: 60, fp16: 121, bf16: 121, fp8: 242.5, int8: 242.5 },
    'NVIDIA L4 datasheet',
  ),
  gpu(
    'GeForce RTX 3090',
    /\bRTX 3090$/,
    { gbPerSecond: 936, gb: 24, sms: 82, boostMhz: 1695, linkGb: 56.25, pcie: 4 },
    { fp32: 35.6, tf32: 35.6, fp16: 71, bf16: 71, int8: 284 },
    'NVIDIA Ampere GA102 GPU Architecture whitepaper, appendix A',
  ),
  gpu(
    'GeForce RTX 4090',
    /\bRTX 4090$/,
    { gbPerSecond: 1008, gb: 24, sms: 128, boostMhz: 2520, pcie: 4 },
    { fp32: 82.6, tf32: 82.6, fp16: 165.2, bf16: 165.2, fp8: 330.3, int8: 660.6 },
    'NVIDIA Ada GPU Architecture whitepaper, appendix A',
  ),
  gpu(
    'GeForce RTX 5090',
    /\bRTX 5090$/,
    { gbPerSecond: 1792, gb: 32, sms: 170, boostMhz: 2407, pcie: 5 },
    { fp32: 104.8, tf32: 104.8, fp16: 209.5, bf16: 209.5, fp8: 419, fp4: 1676, int8: 838 },
    'NVIDIA RTX Blackwell GPU Architecture whitepaper, appendix A',
  ),
  gpu(
    'RTX 6000 Ada',
    /\bRTX 6000 Ada Generation$/,
    { gbPerSecond: 960, gb: 48, sms: 142, boostMhz: 2505, pcie: 4 },
    { fp32: 91.1, tf32: 182.1, fp16: 364.2, bf16: 364.2, fp8: 728.5, int8: 728.5 },
    'NVIDIA RTX 6000 Ada Generation datasheet; Ada whitepaper for professional graphics',
  ),
  gpu(
    'RTX PRO 6000 Blackwell Server',
    /\bRTX PRO 6000 Blackwell Server Edition$/,
    { gbPerSecond: 1597, gb: 96, sms: 188, pcie: 5 },
    { fp32: 120, tf32: 240, fp16: 480, bf16: 480, fp8: 960, fp4: 2000, int8: 960 },
    'NVIDIA RTX PRO 6000 Blackwell Server Edition datasheet: FP32, FP4; others by the ratios of the die',
  ),
  gpu(
    'RTX PRO 6000 Blackwell Max-Q',
    /\bRTX PRO 6000 Blackwell Max-Q Workstation Edition$/,
    { gbPerSecond: 1792, gb: 96, sms: 188, boostMhz: 2288, pcie: 5 },
    { fp32: 110.1, tf32: 220.2, fp16: 440.4, bf16: 440.4, fp8: 880.9, fp4: 1755.7, int8: 880.9 },
    'NVIDIA RTX PRO 6000 Blackwell Max-Q datasheet: FP32, FP4; others by the ratios of the die',
  ),
  gpu(
    'RTX PRO 6000 Blackwell',
    /\bRTX PRO 6000 Blackwell(?: Workstation Edition)?$/,
    { gbPerSecond: 1792, gb: 96, sms: 188, boostMhz: 2617, pcie: 5 },
    { fp32: 126, tf32: 251.9, fp16: 503.8, bf16: 503.8, fp8: 1007.6, fp4: 2015.2, int8: 1007.6 },
    'NVIDIA RTX Blackwell PRO GPU Architecture whitepaper',
  ),
  gpu(
    'GH200 144GB',
    /\bGH200 144GB? HBM3e$/,
    { gbPerSecond: 4900, gb: 144, ...hopperBody },
    hopperSxm,
    'NVIDIA GH200 Grace Hopper Superchip datasheet',
  ),
  gpu(
    'GH200 96GB',
    /\bGH200 (?:480|120|96)GB/,
    { gbPerSecond: 4000, gb: 96, ...hopperBody },
    hopperSxm,
    'NVIDIA GH200 Grace Hopper Superchip datasheet',
  ),
  gpu(
    'H200 NVL',
    /\bH200 NVL$/,
    { gbPerSecond: 4800, gb: 141, ...hopperBody, boostMhz: 1785 },
    hopperNvl,
    'NVIDIA H200 Tensor Core GPU datasheet',
  ),
  gpu(
    'H200 SXM',
    /^(?:NVIDIA )?H200$/,
    { gbPerSecond: 4800, gb: 141, ...hopperBody },
    hopperSxm,
    'NVIDIA H200 Tensor Core GPU datasheet',
  ),
  gpu(
    'H20 141GB',
    /\bH20-3e$/,
    { gbPerSecond: 4800, gb: 141, sms: 78, boostMhz: 1980, linkGb: 450, pcie: 5 },
    h20,
    'as H20, with the memory of H200; no public datasheet',
  ),
  gpu(
    'H20',
    /^(?:NVIDIA )?H20$/,
    { gbPerSecond: 4000, gb: 96, sms: 78, boostMhz: 1980, linkGb: 450, pcie: 5 },
    h20,
    'NVIDIA HGX H20 product table; no public datasheet',
  ),
  gpu(
    'H100 NVL',
    /\bH100 NVL$/,
    { gbPerSecond: 3938, gb: 94, ...hopperBody, boostMhz: 1785, linkGb: 300 },
    hopperNvl,
    'NVIDIA H100 Tensor Core GPU datasheet; NVIDIA H100 NVL product brief',
  ),
  gpu(
    'H100 PCIe',
    /\bH100 PCIe$/,
    { gbPerSecond: 2039, gb: 80, sms: 114, boostMhz: 1755, linkGb: 300, pcie: 5 },
    { fp64: 51.2, fp32: 51.2, tf32: 378, fp16: 756, bf16: 756, fp8: 1513, int8: 1513 },
    'NVIDIA H100 Tensor Core GPU Architecture whitepaper; NVIDIA H100 PCIe product brief',
  ),
  gpu(
    'H100 SXM',
    /^(?:NVIDIA )?H100(?: 80GB HBM3| SXM5.*)?$/,
    { gbPerSecond: 3352, gb: 80, ...hopperBody },
    hopperSxm,
    'NVIDIA H100 Tensor Core GPU Architecture whitepaper',
  ),
  gpu(
    'GB300',
    /^(?:NVIDIA )?GB300$/,
    { gbPerSecond: 8000, gb: 288, sms: 152, linkGb: 900, pcie: 6 },
    { fp64: 1.4, fp32: 80, tf32: 1250, fp16: 2500, bf16: 2500, fp8: 5000, fp4: 15000, int8: 165 },
    'NVIDIA GB300 NVL72 datasheet, divided by 72',
  ),
  gpu(
    'GB200',
    /^(?:NVIDIA )?GB200$/,
    { gbPerSecond: 8000, gb: 186, sms: 152, linkGb: 900, pcie: 5 },
    { fp64: 40, fp32: 80, tf32: 1250, fp16: 2500, bf16: 2500, fp8: 5000, fp4: 10000, int8: 5000 },
    'NVIDIA GB200 NVL72 datasheet, divided by 72',
  ),
  gpu(
    'B300',
    /^(?:NVIDIA )?B300(?: SXM6.*)?$/,
    { gbPerSecond: 8000, gb: 288, sms: 148, linkGb: 900, pcie: 6 },
    { fp64: 1.25, fp32: 75, tf32: 1125, fp16: 2250, bf16: 2250, fp8: 4500, fp4: 13500, int8: 150 },
    'NVIDIA HGX B300 product table, divided by 8',
  ),
  gpu(
    'B200',
    /^(?:NVIDIA )?B200$/,
    { gbPerSecond: 8000, gb: 192, sms: 148, boostMhz: 1965, linkGb: 900, pcie: 5 },
    { fp64: 40, fp32: 80, tf32: 1125, fp16: 2250, bf16: 2250, fp8: 4500, fp4: 9000, int8: 4500 },
    'NVIDIA Blackwell Architecture Technical Brief, HGX B200 per GPU',
  ),
  gpu(
    'MI210',
    /\bMI210$/,
    { gbPerSecond: 1638.4, gb: 64, sms: 104, boostMhz: 1700, linkGb: 150, pcie: 4 },
    { fp64: 45.3, fp32: 45.3, fp16: 181, bf16: 181, int8: 181 },
    'AMD Instinct MI210 data sheet',
  ),
  gpu(
    'MI250X, one die',
    /\bMI250X(?: \/ MI250)?$/,
    { gbPerSecond: 1638.4, gb: 64, sms: 110, boostMhz: 1700, pcie: 4 },
    { fp64: 47.9, fp32: 47.9, fp16: 191.5, bf16: 191.5, int8: 191.5 },
    'AMD Instinct MI250X data sheet, halved: software sees each of its two dies as a GPU',
  ),
  gpu(
    'MI300X',
    /\bMI300X(?: OAM)?$/,
    { gbPerSecond: 5325, gb: 192, sms: 304, boostMhz: 2100, linkGb: 448, pcie: 5 },
    cdna3,
    'AMD Instinct MI300X data sheet',
  ),
  gpu(
    'MI325X',
    /\bMI325X(?: OAM)?$/,
    { gbPerSecond: 6000, gb: 256, sms: 304, boostMhz: 2100, linkGb: 448, pcie: 5 },
    cdna3,
    'AMD Instinct MI325X data sheet',
  ),
  gpu(
    'MI350X',
    /\bMI350X(?: OAM)?$/,
    { gbPerSecond: 8000, gb: 288, sms: 256, boostMhz: 2200, linkGb: 537.6, pcie: 5 },
    { fp64: 72.1, fp32: 144.2, fp16: 2306.9, bf16: 2306.9, fp8: 4613.7, fp4: 9227.5, int8: 4613.7 },
    'AMD Instinct MI350X data sheet',
  ),
  gpu(
    'MI355X',
    /\bMI355X(?: OAM)?$/,
    { gbPerSecond: 8000, gb: 288, sms: 256, boostMhz: 2400, linkGb: 537.6, pcie: 5 },
    { fp64: 78.6, fp32: 157.3, fp16: 2516.6, bf16: 2516.6, fp8: 5033.2, fp4: 10066.3, int8: 5033.2 },
    'AMD Instinct MI355X data sheet',
  ),
];
