/** Kernel families: real names fall where they belong, and whatever a file holds, classifying stays quick and calm. */
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { canonicalKernelName } from '../src/catalog/kernels/canonical-name.js';
import { createClassifier } from '../src/catalog/kernels/classify.js';
import { families, isFamilyId } from '../src/catalog/kernels/families.js';
import { parseFunctionName } from '../src/catalog/kernels/function-name.js';
import { builtInRules } from '../src/catalog/kernels/rules.js';
import { shortNameLimit } from '../src/catalog/kernels/short-name.js';
import { parseUserRules } from '../src/catalog/kernels/user-rules.js';
import { openProfile } from '../src/import/open.js';
import type { Row } from '../src/model/profile.js';
import { captureNames, capturePath, externalFiles, externalFolder } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { kernelNameCases } from './kernel-name-cases.js';

const { classify, explain } = createClassifier();
const allCases = Object.entries(kernelNameCases).flatMap(([expected, names]) =>
  names.map(name => [expected, name] as const),
);
const familyAndVariant = (name: string) => `${classify(name).family}/${classify(name).variant}`;

test('real names fall into their families', () => {
  assert.ok(allCases.length >= 150);
  const wrong = allCases
    .filter(([expected, name]) => familyAndVariant(name) !== expected)
    .map(([expected, name]) => `${name}: ${familyAndVariant(name)} instead of ${expected}`);
  assert.deepEqual(wrong, []);
  const seen = new Set(allCases.map(([, name]) => classify(name).family));
  assert.deepEqual(
    families.map(({ id }) => id).filter(id => !seen.has(id)),
    [],
    'families without a case',
  );
});

test('every rule has its own id and a source, and most are shown by a case', () => {
  const ids = builtInRules.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const rule of builtInRules) {
    assert.ok(rule.source.length > 3, rule.id);
    assert.ok(!rule.pattern.global && !rule.pattern.sticky, `${rule.id} would remember where it stopped`);
  }
  const used = new Set(allCases.map(([, name]) => classify(name).rule));
  const unused = ids.filter(id => !used.has(id));
  assert.ok(unused.length < ids.length / 4, `no case shows ${unused.join(', ')}`);
});

test('template arguments and parameters do not decide', () => {
  assert.equal(
    familyAndVariant(
      'void deep_ep::internode_ll::combine<deep_ep::internode_ll::dispatch<true, 3>, 10, 7168>(int*)',
    ),
    'communication/deepep-combine',
  );
  assert.equal(
    familyAndVariant('void ep::moe_combine_kernel<(Mode)0, ep::DispatchLayout<8>>(ep::moe_dispatch_args)'),
    'moe-combine/',
  );
  assert.equal(
    familyAndVariant('void my::rms_norm_kernel<my::attention::Traits>(my::gemm::Params)'),
    'norm/',
  );
  assert.equal(familyAndVariant('void lib::silu_and_mul<lib::rotary_embedding_kernel>(int)'), 'activation/');
});

test('functions are found in every kind of name', () => {
  const found = (name: string) => parseFunctionName(name).qualified;
  assert.equal(
    found('void (anonymous namespace)::softmax_warp_forward<float>(float*)'),
    'softmax_warp_forward',
  );
  assert.equal(
    found('<unnamed>::nvfuser_pointwise_f0(<unnamed>::Tensor<float, (int)2>)'),
    'nvfuser_pointwise_f0',
  );
  assert.equal(
    found('std::enable_if<!(false), void>::type internal::gemvx::kernel<int, (a > b), float>(P<int>)'),
    'internal::gemvx::kernel',
  );
  assert.equal(
    found('at::native::f<4, g(It&)::{lambda()#1}::operator()() const::{lambda(long)#2}>(int)'),
    'at::native::f',
  );
  assert.equal(
    found(
      'std::enable_if<T2>(int)0&&vllm::_typeConvert<T1>::exists, void>::type vllm::norm<c10::Half, (int)8>(T1 *)',
    ),
    'vllm::norm',
  );
  assert.equal(found('std::enable_if<cut(int)0&&'), 'std::enable_if');
  assert.equal(
    canonicalKernelName(
      'std::enable_if<T2>(int)0&&vllm::c<T1>::exists, void>::type vllm::norm<c10::Half, (int)8>(T1 *)',
    ),
    canonicalKernelName(
      'std::enable_if<(8>(0))&&(vllm::c<c10::Half>::exists), void>::type vllm::norm<c10::Half, 8>(c10::Half*)',
    ),
  );
  assert.equal(found('void a::b<c<d'), 'a::b');
  assert.equal(found('static void a::(anonymous namespace)::b(int) [clone .kd]'), 'a::b');
  assert.equal(
    found('_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEEvPT0_'),
    'aiter::add_rmsnorm_quant_kernel',
  );
  assert.equal(found('_ZN12_GLOBAL__N_14foo_E'), 'foo_');
  assert.equal(found('_Z9transposeIfEvPT_'), 'transpose');
  assert.equal(found('Memcpy DtoH (Device -> Pinned)'), 'Memcpy DtoH');
  assert.match(
    parseFunctionName('_ZN7cutlass6KernelINS_4gemm9GemmShapeILi128ELi64EEEEvT_').templateText,
    /GemmShape 128 64/,
  );
});

test('any text is a name', () => {
  const next = random(11);
  const pieces = [
    ...'<>()[]{}:_ZNIE09 ~*&,',
    '::',
    'operator',
    '->',
    'void ',
    '_ZN',
    'gemm',
    'é',
    '\n',
    '(anonymous namespace)',
  ];
  for (let round = 0; round < 4000; round++) {
    const name = Array.from(
      { length: Math.floor(next() * 40) },
      () => pieces[Math.floor(next() * pieces.length)],
    ).join('');
    const result = classify(name);
    assert.ok(isFamilyId(result.family), name);
    assert.ok(result.shortName.length > 0 && result.shortName.length <= shortNameLimit, name);
    assert.equal(explain(name).class.family, result.family);
  }
});

test('time grows no faster than names', () => {
  const shapes = [
    (n: number) => '<'.repeat(n),
    (n: number) => `f<${'a<b,'.repeat(n / 4)}`,
    (n: number) => `_ZN${'3fooI'.repeat(n / 5)}`,
    (n: number) => 'fused_'.repeat(n / 6),
    (n: number) => `void ${'a::'.repeat(n / 3)}f<${'triton_red_mean_pow_'.repeat(n / 20)}>(x)`,
    (n: number) => ')'.repeat(n),
    (n: number) => `${'Memcpy ('.repeat(n / 8)}\n`,
  ];
  for (const [i, shape] of shapes.entries()) {
    const cost = (length: number) => {
      const name = shape(length);
      let best = Infinity;
      for (let round = 0; round < 5; round++) {
        const classifier = createClassifier();
        const start = performance.now();
        classifier.classify(name);
        best = Math.min(best, performance.now() - start);
      }
      return best;
    };
    cost(10_000);
    // Ten times the length may take ten times as long; a hundred times would be quadratic, on a busy machine at every try.
    const isLinear = () => cost(100_000) < 50 * cost(10_000) + 2;
    assert.ok([1, 2, 3, 4].some(isLinear), `shape ${i}`);
  }
});

test('attributes are read where names tell them, and only there', () => {
  const attributes = (name: string) => {
    const { dtype, tile, arch, library } = classify(name);
    return [dtype, tile, arch, library].map(value => value ?? '-').join(' ');
  };
  assert.equal(attributes('nvjet_sm100_tst_128x192_64x7_2x2_2cta_h_bz_TNT'), 'bf16 128x192 sm100 cuBLAS');
  assert.equal(attributes('nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT'), 'fp16 256x128 - cuBLAS');
  assert.equal(attributes('nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT'), 'fp8 128x256 sm100 cuBLAS');
  assert.equal(
    attributes('nvjet_sm100_ootst_128x256_256x4_2x1_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT'),
    'nvfp4 128x256 sm100 cuBLAS',
  );
  assert.equal(attributes('nvjet_sm100_xyz_128x256_64x4_TNT'), '- 128x256 sm100 cuBLAS');
  assert.equal(attributes('ampere_sgemm_128x64_tn'), 'fp32 128x64 sm80 cuBLAS');
  assert.equal(attributes('ampere_h16816gemm_128x64_ldg8_stages_64x4_tn'), 'fp16 128x64 sm80 cuBLAS');
  assert.equal(
    attributes(
      'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>(X::Params)',
    ),
    'bf16 128x64 sm80 cuBLAS',
  );
  assert.equal(
    attributes(
      'sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas',
    ),
    'fp8 128x128 sm90 cuBLAS',
  );
  assert.equal(
    attributes('bmm_Bfloat16_MxE2m1MxE4m3_Fp32_Ab32_Bb32_t128x8x256_s4_et128x8_m128x8x32_dynB_sm100f'),
    'mxfp4 128x8 sm100 TensorRT-LLM',
  );
  assert.equal(attributes('_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu'), 'mxfp4 16x128 - Triton');
  assert.equal(
    attributes('Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_ISA942_IU1'),
    'bf16 256x192 gfx942 Tensile',
  );
  assert.equal(attributes('_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdIDF16bDF16bf'), 'bf16 - - CK');
  assert.equal(
    attributes('void deep_ep::internode_ll::combine<3, 10, 7168, 9>(void*, float const*, int*)'),
    '- - - DeepEP',
  );
  assert.equal(
    attributes(
      'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, X>(int)',
    ),
    'bf16 - - PyTorch',
  );
  assert.equal(attributes('reduce_segments'), '- - - -');
});

test('short names say what carriers carry', () => {
  const shorts: readonly (readonly [string, string])[] = [
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int)',
      'add (vectorized, bf16)',
    ],
    [
      'void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}, X>(int)',
      'copy (unrolled)',
    ],
    [
      'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>, unsigned int, long, 4> >(X)',
      'arg max (reduce, fp32)',
    ],
    [
      'fmhaSm100fKernel_QkvBfloat16OBfloat16H64PagedKvCausalP64MultiCtasKvVarSeqQ8Kv128StaticSwapsAbForGen',
      'fmhaSm100f QkvBfloat16 H64 decode',
    ],
    ['nvjet_sm100_tst_128x192_64x7_2x2_2cta_h_bz_TNT', 'nvjet_sm100_tst_128x192_64x7_2x2_2cta_h_bz_TNT'],
    ['void deep_ep::internode_ll::combine<3, 10, 7168, 9>(void*)', 'internode_ll::combine'],
    ['void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(X)', 'reshape_and_cache_flash_kernel'],
    ['', '(unnamed)'],
  ];
  for (const [name, short] of shorts) assert.equal(classify(name).shortName, short);
  const { shortName: cut } = classify(`triton_red_fused_${'add_mean_mul_'.repeat(9)}pow_rsqrt_17`);
  assert.match(cut, /^triton_red_fused_.*….*_rsqrt_17$/);
  assert.equal(cut.length, shortNameLimit);
});

test('one short name never stands for two families', () => {
  const owner = new Map<string, string>();
  for (const [, name] of allCases) {
    const { shortName, family } = classify(name);
    assert.equal(owner.get(shortName) ?? family, family, `${shortName} is also ${name}`);
    owner.set(shortName, family);
  }
});

test('explaining names the function, the rule and what else would have matched', () => {
  const carrier = explain(
    'void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<X> > >(Params)',
  );
  assert.equal(carrier.functionName, 'cutlass::device_kernel');
  assert.equal(carrier.templateUsed, true);
  assert.equal(carrier.winner!.rule, 'cutlass-carries-attention');
  assert.ok(carrier.alsoMatching.some(({ rule }) => rule === 'cutlass-carries-gemm'));
  const norm = explain('void vllm::rms_norm_static_fp8_quant_kernel<c10::BFloat16, c10::Float8_e4m3fn>(X)');
  assert.equal(norm.templateUsed, false);
  assert.deepEqual([norm.winner!.family, norm.alsoMatching[0].family], ['norm', 'quantise']);
  assert.match(norm.winner!.pattern, /rms_\?norm/);
  assert.equal(norm.attributes.dtype!.because, '_fp8');
  const nothing = explain('saxpy');
  assert.equal(nothing.winner, undefined);
  assert.equal(nothing.class.rule, 'none');
});

test('rules of the user come first', () => {
  const rules = parseUserRules({
    rules: [
      { family: 'attention', match: '^my_kernel', variant: 'decode', note: 'ours' },
      { family: 'recurrence', match: 'rms_norm' },
    ],
  });
  const own = createClassifier(rules);
  assert.deepEqual(
    ['my_kernel_7', 'void x::RMS_Norm<int>(X)', 'ampere_sgemm_128x64_tn'].map(
      name => own.classify(name).family,
    ),
    ['attention', 'recurrence', 'gemm'],
  );
  assert.equal(own.classify('my_kernel_7').variant, 'decode');
  const why = own.explain('void vllm::rms_norm_kernel<float>(X)');
  assert.equal(why.winner!.rule, 'user-2');
  assert.equal(why.alsoMatching[0].rule, 'norm');
  assert.match(own.explain('my_kernel').winner!.source, /rule 1: ours/);
});

test('mistakes in rules name the rule, in two lines', () => {
  const good = { family: 'gemm', match: 'x' };
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [null, /no list/],
    [[good], /no list/],
    [{ rules: 'x' }, /no list/],
    [{ rules: [good, 'x'] }, /Rule 2 .*not an object/],
    [{ rules: [good, { family: 'gem', match: 'x' }] }, /Rule 2 .*"gem"/],
    [{ rules: [{ match: 'x' }] }, /Rule 1 .*has no "family"/],
    [{ rules: [{ family: 'gemm' }] }, /Rule 1 .*no "match"/],
    [{ rules: [{ family: 'gemm', match: '(' }] }, /Rule 1 .*not a regular expression/],
    [{ rules: [{ family: 'gemm', match: 'x'.repeat(201) }] }, /Rule 1 .*201 characters/],
    [{ rules: [{ family: 'gemm', match: '(a+)+$' }] }, /Rule 1 .*nested repetition/],
    [{ rules: [{ family: 'gemm', match: 'x', colour: 'red\nblue' }] }, /Rule 1 .*unknown key/],
    [{ rules: [{ family: 'gemm', match: 'x', variant: 7 }] }, /Rule 1 .*not text/],
  ];
  for (const [json, message] of bad) {
    assert.throws(
      () => parseUserRules(json),
      (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, message);
        assert.doesNotMatch(`${error.message}${error.hint}`, /\n/);
        assert.ok(error.hint.length > 0);
        return true;
      },
    );
  }
  assert.deepEqual(parseUserRules({ rules: [] }), []);
});

test('colours differ, also for those who see fewer of them', () => {
  assert.equal(new Set(families.map(({ color }) => color)).size, families.length);
  const main = ['attention', 'gemm', 'moe-dispatch', 'norm', 'elementwise', 'communication'];
  const colors = families.filter(({ id }) => main.includes(id)).map(({ color }) => color);
  for (const view of [(c: Rgb) => c, deuteranope, protanope]) {
    for (let i = 0; i < colors.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [view(rgb(colors[i])), view(rgb(colors[j]))];
        const distance = Math.hypot(...a.map((value, k) => value - b[k]));
        assert.ok(distance > 40, `${colors[i]} and ${colors[j]} are ${distance.toFixed()} apart`);
      }
    }
  }
});

/** Not inference workloads: programs of their own, whose kernels are rightly `other`. */
const notInference: Readonly<Record<string, string>> = {
  'nsys/a100-cloverleaf-3.13': 'CloverLeaf, a hydrodynamics code',
  'nsys/a100-saxpy-mpi-2.9': 'one saxpy kernel under MPI',
  'nsys/h100-fuser-3.16':
    'nvFuser tests: nvfuser_none is scheduled by hand and does not tell what it computes',
  'nsys/rtx-graphblock-3.24': 'a toy kernel in CUDA graphs',
  'nsys/rtx6000-2021-noschema': 'database joins on the GPU',
};

test('families cover at least 97% of kernel time in captures of models', async () => {
  const models = captureNames.filter(name => /^(?:eager|graph|membound|moe-|old23|gc|gil)/.test(name));
  assert.ok(models.length >= 7);
  for (const name of models) assertCovered(name, await familyTimes(capturePath(name)));
});

const skip = lacks('external');

test('families cover at least 97% of kernel time in profiles of others', { skip }, async () => {
  let covered = 0;
  for (const file of externalFiles(/(\.sqlite|\.json)\.gz$/)) {
    const name = path.relative(externalFolder, file);
    if (name.startsWith('expert-load')) continue;
    const times = await familyTimes(file);
    if (times.total === 0) continue;
    if (Object.keys(notInference).some(prefix => name.startsWith(prefix))) {
      assert.ok(times.other / times.total > 0.03, `${name} is covered by now: take it off the list`);
      continue;
    }
    assertCovered(name, times);
    covered++;
  }
  assert.ok(covered >= 35, `only ${covered} files`);
});

function assertCovered(name: string, { total, other, unknown }: Awaited<ReturnType<typeof familyTimes>>) {
  const share = total > 0 ? 1 - other / total : 0;
  assert.ok(
    share >= 0.97,
    `${name}: ${(100 * share).toFixed(1)}%; unknown: ${[...unknown].slice(0, 5).join(', ')}`,
  );
}

async function familyTimes(file: string) {
  const { strings, tables } = await openProfile([file]);
  const unknown = new Set<string>();
  let total = 0;
  let other = 0;
  const kernels = tables.kernels;
  for (let i = 0; i < (kernels?.length ?? 0); i++) {
    const row = i as Row<'kernels'>;
    const duration = kernels!.end[row] - kernels!.start[row];
    const { family, shortName } = classify(strings.text(kernels!.name[row]));
    total += duration;
    if (family !== 'other') continue;
    other += duration;
    unknown.add(shortName);
  }
  return { total, other, unknown };
}

type Rgb = readonly [number, number, number];
const rgb = (color: string): Rgb =>
  [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
const mix = ([r, g, b]: Rgb, rows: readonly Rgb[]): Rgb =>
  rows.map(row => row[0] * r + row[1] * g + row[2] * b) as unknown as Rgb;
/** Machado, Oliveira and Fernandes 2009, full strength. */
const deuteranope = (color: Rgb) =>
  mix(color, [
    [0.367, 0.861, -0.228],
    [0.28, 0.673, 0.047],
    [-0.012, 0.043, 0.969],
  ]);
const protanope = (color: Rgb) =>
  mix(color, [
    [0.152, 1.053, -0.205],
    [0.115, 0.786, 0.099],
    [-0.004, -0.048, 1.052],
  ]);

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
