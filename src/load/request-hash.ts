/**
 * The id that a server gave a request, hashed as the agent hashes it (agent/stepscope_agent/request_ids.py), so that
 * both files name the request alike and neither shows the id. Engines add a prefix and an end to what clients see.
 */
import { createHash } from 'node:crypto';

const CORE = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{16,}/;

export const hashOfRequest = (id: string): string =>
  createHash('sha256')
    .update(`stepscope ${CORE.exec(id)?.[0] ?? id}`)
    .digest('hex')
    .slice(0, 12);
