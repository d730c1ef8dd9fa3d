import { statfs } from 'node:fs/promises'
import { type MixResult, type MixTarget, runMix } from '../mix.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'

const USERS = 50
/** Of the free space, for files. The rest is for the database, other programs, and blocks that are written again. */
const SHARE_OF_DISK = 0.5

/** The customary mix of a file server: 84 % of the files below 1 MB, 50 users. */
export const mix: Scenario = {
  name: 'mix',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const target = { url: server.client.url, apiToken: server.client.token ?? '' }
    const { bavail, bsize } = await statfs(workspace.folder)
    const maxStoredBytes = SHARE_OF_DISK * bavail * bsize
    const { usage, ...result } = await server.meter(() => measure(context, target, maxStoredBytes))
    return rowsOf(result).map((row, index) => (index === 0 ? { ...row, usage } : row))
  },
  async runAt(context, target) {
    return rowsOf(await measure(context, target))
  },
}

/** `maxStoredBytes` is not known of a server on another machine. */
function measure(
  context: Context,
  target: MixTarget,
  maxStoredBytes = Number.POSITIVE_INFINITY,
): Promise<MixResult> {
  return runMix(target, {
    users: context.size(USERS, 4),
    ms: context.mixMs,
    smaller: context.size(1, 1000),
    maxStoredBytes,
  })
}

function rowsOf({ parts, requests, errors, samples, bytes, seconds }: MixResult): Row[] {
  if (errors > 0) process.stderr.write(`mix: ${errors} errors, the first: ${samples.join(' | ')}\n`)
  return [
    { what: `mix, all requests of ${Math.round(seconds)} s`, value: requests / seconds, unit: 'per s' },
    { what: 'mix, bytes of files', value: bytes / 1e6 / seconds, unit: 'MB/s' },
    { what: 'mix, errors', value: errors, unit: 'requests', target: { atMost: 0 } },
    ...parts.map(
      ({ what, p50Ms, p95Ms, p99Ms }): Row => ({
        what: `mix, ${what}, p95`,
        value: p95Ms,
        unit: 'ms',
        p50Ms,
        p99Ms,
      }),
    ),
  ]
}
