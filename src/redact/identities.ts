/**
 * Names of this capture's hosts and users. They are learned where they are stated (metadata, home directories), and
 * then taken out wherever else they turn up: in a diagnostic, a process's name, the name of a cache folder.
 */
import type { RemovalKind } from './removals.js';

const SHORTEST = 3;
const MOST = 1000;
/** Names so common that they tell nothing, and whose loss would spoil ordinary words. */
const common = new Set(
  `admin all any bin build cache cluster cpu cuda data decode default dev docker engine forward gpu home host job
   kernel layer lib linux local localhost main master model nobody node none null nvidia opt prefill process profile
   public python python3 rank root run runner sample schedule server share shared slurm src step stream system task
   temp test thread tmp torch train trace true false ubuntu unknown user users username usr var vllm sglang vm work
   worker workspace yes`
    .split(/\s+/)
    .filter(Boolean),
);
const HOME = /[/\\](?:home|Users|users|export\/home|nfs\/home|u\d*\/[a-z])[/\\]+([A-Za-z0-9][\w.@-]*)/g;
/** PyTorch's compiler names its cache after the user. */
const CACHE = /torchinductor_([A-Za-z0-9][\w.-]*)/g;
const USER_VARIABLE = /^(?:USER|LOGNAME|USERNAME|SUDO_USER|SLURM_JOB_USER|JUPYTERHUB_USER)$/;
const HOST_VARIABLE =
  /^(?:HOSTNAME|HOST|COMPUTERNAME|NODE_NAME|POD_NAME|SLURMD_NODENAME|SLURM_SUBMIT_HOST|MASTER_ADDR)$/;

export class Identities {
  private readonly words = new Map<string, 'host' | 'user'>();
  private pattern: RegExp | undefined;

  addUser(name: string): void {
    this.add(name.trim(), 'user');
  }

  /** A full name also stands for its first part: `node17.example.com` is `node17` elsewhere. */
  addHost(name: string): void {
    const host = name.trim();
    this.add(host, 'host');
    const [first, ...rest] = host.split('.');
    if (rest.length > 0 && !/^\d+$/.test(first)) this.add(first, 'host');
  }

  addVariable(name: string, value: string): void {
    if (USER_VARIABLE.test(name)) this.addUser(value);
    else if (HOST_VARIABLE.test(name)) this.addHost(value);
    this.learnFrom(value);
  }

  /** Users whose home or cache a text mentions. */
  learnFrom(text: string): void {
    for (const [, name] of text.matchAll(HOME)) this.addUser(name);
    for (const [, name] of text.matchAll(CACHE)) this.addUser(name);
  }

  private add(word: string, kind: 'host' | 'user'): void {
    if (word.length < SHORTEST || word.length > 200 || /[\s/\\:]/.test(word) || /^\d+$/.test(word)) return;
    const lower = word.toLowerCase();
    if (common.has(lower) || this.words.has(lower) || this.words.size >= MOST) return;
    this.words.set(lower, kind);
    this.pattern = undefined;
  }

  remove(text: string, note: (kind: RemovalKind) => void): string {
    if (this.words.size === 0) return text;
    this.pattern ??= new RegExp(
      `(?<![A-Za-z0-9])(?:${[...this.words.keys()]
        .sort((a, b) => b.length - a.length)
        .map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('|')})(?![A-Za-z0-9])`,
      'gi',
    );
    return text.replace(this.pattern, word => {
      const kind = this.words.get(word.toLowerCase()) ?? 'user';
      note(kind);
      return kind;
    });
  }
}
