/** Options of `moe`, `moe place` and `moe experiment`. */
import { readExpertTime } from '../moe/cost/expert-time.js';
import { mappingFormats, readMappingFormat } from '../moe/placement/export-mapping.js';
import { repeated, toggle, value, withDefault } from './option.js';
import { names, oneOf, percentage, spans, anyText as text, whole } from './option-kinds.js';

export const optionsOfMoe = {
  gpus: value(
    '--gpus N',
    whole(),
    'number of GPUs that hold the experts (default: the number of ranks, else 8)',
  ),
  nodes: value('--nodes N', whole(), 'number of nodes (default 1)'),
  replicas: value('--replicas N', whole(0), 'number of redundant experts (default: one per GPU)'),
  groups: value('--groups N', whole(), 'number of expert groups for group-limited routing (DeepSeek-V3: 8)'),
  expertTime: value(
    '--expert-time F+P',
    { read: given => readExpertTime(given) },
    'fixed time plus time per token and expert, for one layer on one GPU, e.g. 45us+12ns',
  ),
  expertShare: value(
    '--expert-share PERCENT',
    percentage('share', Number.EPSILON),
    'share of step time spent in experts, if no profile shows it: 40%',
  ),
  prefillFrom: value(
    '--prefill-from N',
    whole(),
    'treat iterations with at least N tokens as prefill, others as decode',
  ),
  loadPhase: value('--phase PHASE', oneOf(['prefill', 'decode', 'mixed']), 'only iterations of this phase'),
  as: value('--as KIND', oneOf(['counts', 'ids']), 'meaning of the numbers in a plain array, if ambiguous'),
  experts: value(
    '--experts N',
    whole(),
    'number of experts in the model, for files that contain only chosen IDs',
  ),
  all: toggle('--all', 'show every layer and GPU in the tables'),
  for: repeated(
    '--for LIST',
    { read: given => names.read(given, '--for').map(readMappingFormat) },
    `write the best mapping for ${Object.keys(mappingFormats).join(', ')}`,
  ),
  mappings: value('-o, --output FOLDER', text, 'folder for the mappings'),
  sweep: toggle('--sweep', 'sweep 8 to 288 GPUs, replicas and batch sizes, for each phase'),
  tokens: value(
    '--tokens N',
    whole(),
    'tokens per GPU and layer, for the traffic estimate (default: as measured)',
  ),
  hidden: withDefault(
    value('--hidden N', whole(), 'hidden size of the model, for the traffic estimate'),
    7168,
  ),
  topGroups: value(
    '--top-groups N',
    whole(),
    'groups that a token can use (DeepSeek-V3: 4), for the traffic estimate',
  ),
  topK: value('--top-k N', whole(), 'experts per token, if the file does not report it'),
  run: toggle('--run', 'run the pair; in this version, the pair is only printed without it'),
  repeats: withDefault(value('--repeats N', whole(), 'runs of each router, alternating'), 3),
  record: value(
    '--record A-B',
    spans,
    'add one run of each router that counts expert loads in these iterations',
  ),
  logs: withDefault(value('-o, --output FOLDER', text, 'folder for logs'), 'perfect-router'),
  learned: repeated(
    '--learned FILE',
    text,
    'existing results or profiles with the learned router; repeatable',
  ),
  perfect: repeated('--perfect FILE', text, 'the same with the perfect router'),
  learnedLoads: repeated(
    '--learned-loads FILE',
    text,
    'expert counts of the learned run, for the prediction',
  ),
  perfectLoads: repeated(
    '--perfect-loads FILE',
    text,
    'expert counts of the perfect run, to verify its balance',
  ),
} as const;
