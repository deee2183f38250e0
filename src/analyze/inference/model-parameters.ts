/**
 * How many weights the matrices of a model hold. Norms and biases, below a thousandth of any model here, are
 * left out, as are extra heads for speculation and encoders of images or sound.
 */
import type { ModelShape } from './model-shape.js';

/** Weights of one layer's matrix each; of the whole model for embedding and lmHead. */
interface MatrixSizes {
  /** Projections into queries that heads divide among GPUs. */
  readonly query: number;
  /** Projections into keys and values; heads divide these too, down to one head. 0 for latent attention. */
  readonly keyValue: number;
  /** Projections into latent vectors, which every GPU holds whole. 0 for grouped attention. */
  readonly latent: number;
  readonly output: number;
  readonly denseMlp: number;
  readonly router: number;
  readonly expert: number;
  readonly sharedExpert: number;
  readonly embedding: number;
  readonly lmHead: number;
}

export function matrixSizes(shape: ModelShape): MatrixSizes {
  const { hiddenSize, attention, mlpMatrices, moe } = shape;
  const table = shape.vocabSize * hiddenSize;
  const mlp = (width: number) => mlpMatrices * hiddenSize * width;
  const rest = {
    denseMlp: mlp(shape.denseMlp.width),
    router: moe ? hiddenSize * moe.experts : 0,
    expert: mlp(moe?.width ?? 0),
    sharedExpert: mlp(moe?.sharedWidth ?? 0),
    embedding: table,
    lmHead: table,
  };
  if (attention.kind === 'grouped') {
    const perHead = hiddenSize * attention.headDim;
    const query = attention.heads * perHead;
    return { query, keyValue: 2 * attention.kvHeads * perHead, latent: 0, output: query, ...rest };
  }
  const { heads, queryRank, kvRank, ropeDim, nopeDim, valueDim } = attention;
  return {
    query: (queryRank ?? hiddenSize) * heads * (nopeDim + ropeDim) + kvRank * heads * (nopeDim + valueDim),
    keyValue: 0,
    latent: hiddenSize * ((queryRank ?? 0) + kvRank + ropeDim),
    output: heads * valueDim * hiddenSize,
    ...rest,
  };
}
