/**
 * A view as one file: the page itself with its script and style inside, and a snapshot for it to show. Nothing is loaded
 * from anywhere: the policy in the page allows its own script and style by their hashes and no connection at all.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { UserError } from '../base/user-error.js';
import type { Snapshot } from '../timeline/snapshot-document.js';
import type { StaticFiles } from './static-files.js';

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

export function sharePage(
  page: StaticFiles,
  { snapshot, columns }: { readonly snapshot: Snapshot; readonly columns: Uint8Array },
): string {
  const script = textOf(page, /\.js$/).replaceAll('</script', '<\\/script');
  const style = textOf(page, /\.css$/).replaceAll('</style', '<\\/style');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const data = {
    snapshot: packed(Buffer.from(JSON.stringify(snapshot))),
    columns: packed(columns),
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escapeText(`${snapshot.name}, ${snapshot.about} · Stepscope`)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="stepscope-view">${JSON.stringify(data)}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

/** Base64 has no character that could end the element it stands in. */
const packed = (bytes: Uint8Array) => gzipSync(bytes).toString('base64');

function textOf(page: StaticFiles, ending: RegExp): string {
  const found = [...page].filter(([address]) => address.startsWith('/assets/') && ending.test(address));
  if (found.length !== 1)
    throw new UserError(
      'not-found',
      'The page of stepscope view is not built in one piece.',
      'Run: npm run build',
    );
  return Buffer.from(found[0][1].bytes).toString('utf8');
}
