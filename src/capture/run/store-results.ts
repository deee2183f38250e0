/** Where the results of a capture go besides this folder: S3-compatible storage, or a folder such as a mounted volume. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { MOST_BYTES, putObject, readS3Place } from './s3-request.js';
import { sha256Of } from './write-recipe.js';
import { makeWritableFolder } from './written-files.js';

interface ResultStore {
  /** Says where each file went. */
  put(files: readonly string[], onStored: (file: string, where: string) => void): Promise<void>;
}

/** Mistakes are found before the capture: a missing key is not worth an hour of GPU time. */
export function openStore(place: string, env: NodeJS.ProcessEnv = process.env): ResultStore {
  return place.startsWith('s3:') ? s3Store(place, env) : folderStore(place);
}

function s3Store(url: string, env: NodeJS.ProcessEnv): ResultStore {
  const place = readS3Place(url, env);
  return {
    async put(files, onStored) {
      for (const file of files) {
        const { size } = fs.statSync(file);
        if (size > MOST_BYTES)
          throw new UserError(
            'usage',
            `${path.basename(file)} has ${formatBytes(size)}, more than one request to S3 may carry.`,
            `Copy it in parts: aws s3 cp ${file} ${url}/`,
          );
        const name = path.basename(file);
        await putObject(place, name, file, await sha256Of(file));
        onStored(file, `s3://${place.bucket}/${[place.prefix, name].filter(Boolean).join('/')}`);
      }
    },
  };
}

function folderStore(folder: string): ResultStore {
  makeWritableFolder(folder, 'Check that the volume is mounted, or give s3://BUCKET/FOLDER.');
  return {
    async put(files, onStored) {
      for (const file of files) {
        const target = path.join(folder, path.basename(file));
        if (path.resolve(target) === path.resolve(file)) continue;
        if (fs.existsSync(target) && (await sha256Of(target)) !== (await sha256Of(file)))
          throw new UserError(
            'usage',
            `${target} already exists.`,
            'Choose another -o or --store. The files are kept here.',
          );
        // Whole or not at all: whoever watches the volume must not read half a report.
        const unfinished = `${target}.${process.pid}.partial`;
        fs.copyFileSync(file, unfinished);
        fs.renameSync(unfinished, target);
        onStored(file, target);
      }
    },
  };
}
