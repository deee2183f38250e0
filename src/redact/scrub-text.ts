/**
 * Takes out of a text what names a person, a machine or a place on its disks: absolute paths keep their last part,
 * addresses, keys and known names of hosts and users give way to a word. Everything else stays as it is.
 */
import { isIPv6 } from 'node:net';
import { engineEvidence } from '../catalog/engine-evidence.js';
import { SECRET_URL, withoutSecrets } from '../catalog/secret-shapes.js';
import type { Identities } from './identities.js';
import type { RemovalKind } from './removals.js';

export type NoteRemoval = (kind: RemovalKind) => void;

/** `/home/a/model.py(12): forward`, `C:\a\model.py(12): forward`, `project/model.py(12): forward`; the folder may hold spaces. */
const FRAME = /^([^()\n]*[\\/])(?=[^\\/()\n]+\(\d+\): )/;
/** Packages that everyone has: folders inside them tell nothing about who uses them. */
const PUBLIC_PACKAGE =
  /(?<=^|[\\/])(?:torch|torchvision|torchaudio|torchao|triton|numpy|transformers|tokenizers|accelerate|diffusers|peft|safetensors|huggingface_hub|flash_attn|flashinfer|xformers|deepspeed|deep_ep|megatron|lightllm|ray|zmq|asyncio|concurrent|multiprocessing|importlib|contextlib|collections|json|logging|uvloop|uvicorn|fastapi|starlette|pydantic|msgspec|stepscope_agent)[\\/]/;
const URL_TEXT = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi;
/** Begins where a word does: a long run of letters must not be tried from each of them. */
const MAIL = /(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}\b/g;
/** Two parts or more, or anything under `~`; not the slash in `I/O`, `0/1`, `</b>` or a comment. */
const POSIX_PATH =
  /(?:(?<![\w.)\]}\\/~*<-])|(?<=(?:^|\s)-[A-Za-z]))(?:(?:~[\w.-]*|\.{1,2})\/|\/(?=[^\s/*"'`<>|;,:()[\]{}=\\]+\/))(?:[^\s/"'`<>|;,:()[\]{}=\\]*\/)*[^\s/"'`<>|;,:()[\]{}=\\]*/g;
const WINDOWS_PATH =
  /(?<![A-Za-z0-9])(?:[A-Za-z]:\\|\\\\[\w.-]+\\)(?:[^\\/\s"'`<>|;,:()[\]{}]*\\)*[^\\/\s"'`<>|;,:()[\]{}]*/g;
const IPV4 =
  /(?<![\w.-])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w-]|\.\d)(:\d{1,5})?/g;
/** Cloud machines and PyTorch's files carry their address with dashes: `ip-10-1-2-3`. */
const DASHED_IPV4 = /(?<![\w-])(?:ip-)?(?:10|172|192)(?:-\d{1,3}){3}(?!\d|-\d)/g;
const COLONS = /(?<![\w:.])[0-9A-Fa-f:]{2,39}(?![\w:])/g;
const MAC = /(?<![\w:-])[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![\w:-])/g;
const GPU_UUID =
  /(?<!\w)(?:GPU-|MIG-)?[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}(?!\w)/g;
/** No pattern above can match a text without one of these. */
const SUSPECT = /[/\\@=:~]|\d[.-]\d|--|[A-Za-z0-9_-]{14}|\b(?:Bearer|Basic|Digest|Negotiate)\b/i;
export function scrubText(text: string, identities: Identities, note: NoteRemoval): string {
  if (text === '') return text;
  let result = SUSPECT.test(text) ? scrubShapes(text, note) : text;
  result = identities.remove(result, note);
  return result;
}

function scrubShapes(text: string, note: NoteRemoval): string {
  const to = (kind: RemovalKind, word: string) => () => {
    note(kind);
    return word;
  };
  const withoutFolders = text
    .split(/([;\n\0])/)
    .map(line =>
      line.replace(FRAME, folder => {
        const kept = publicPackage(folder);
        if (kept !== folder) note('path');
        return kept;
      }),
    )
    .join('')
    .replace(URL_TEXT, url => {
      if (url.endsWith('://removed')) return url;
      note(SECRET_URL.test(url) ? 'secret' : 'address');
      return `${url.slice(0, url.indexOf('://'))}://removed`;
    })
    .replace(MAIL, to('user', 'mail'));
  return withoutSecrets(withoutFolders, () => note('secret'))
    .replace(WINDOWS_PATH, path => shortened(path, note))
    .replace(POSIX_PATH, path => shortened(path, note))
    .replace(GPU_UUID, to('machine', 'id'))
    .replace(MAC, to('address', 'address'))
    .replace(IPV4, to('address', 'address'))
    .replace(DASHED_IPV4, to('address', 'address'))
    .replace(COLONS, word => {
      // `abc::` in front of a C++ name is an address, too, to the letter.
      if (!isIPv6(word) || !/^(?:::\d|[0-9A-Fa-f]{3,4}:.*\d)/.test(word)) return word;
      note('address');
      return 'address';
    });
}

/** The package of an engine or a library is the same for everyone and tells which one it was; its folders may be one's own. */
function publicPackage(folder: string): string {
  for (const { frames } of engineEvidence) {
    const [found] = frames.exec(folder) ?? [];
    if (found) return found.replace(/^[\\/]/, '');
  }
  return PUBLIC_PACKAGE.exec(folder)?.[0] ?? '';
}

/** The kernel's own files are the same on every machine; diagnostics send people to them. */
const SYSTEM_PATH = /^\/(?:proc\/)?sys\//;

function shortened(path: string, note: NoteRemoval): string {
  if (SYSTEM_PATH.test(path)) return path;
  const last = lastPart(path);
  if (last !== path) note('path');
  return last;
}

/** A text that is a path as a whole: spaces and all belong to it. */
export function scrubPath(text: string, identities: Identities, note: NoteRemoval): string {
  const isPath = /^(?:[A-Za-z]:|~[\w.-]*|\.{1,2})?[\\/]/.test(text) && !/[\n\0]/.test(text);
  if (!isPath) return scrubText(text, identities, note);
  const kept = text.endsWith('.py') ? publicPackage(text) : '';
  return scrubText(kept + shortened(text, note), identities, note);
}

/** The last part that says something: `/tmp/a/` is `a`. */
function lastPart(path: string): string {
  const parts = path.split(/[\\/]+/).filter(part => part !== '' && part !== '.' && part !== '..');
  return parts.at(-1) ?? '';
}
