import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { RowCache } from '../row-cache.ts'
import type { Outcome } from './batch.ts'
import { Reads } from './reads.ts'
import { Snapshots } from './snapshots.ts'
import { Statement } from './statements.ts'

const empty = { rows: [] } as unknown as Outcome
const RUNS_BEFORE_QUICK = 3

/** Reads of a server that takes `answer` for a batch. */
function readsWith(answer: () => Promise<void>) {
  const sent = { alone: 0, batches: 0 }
  const cache = new RowCache()
  const reads = new Reads(
    async () => {
      sent.alone += 1
      return empty
    },
    async (steps) => {
      sent.batches += 1
      await answer()
      return { outcomes: steps.map(() => empty), error: undefined }
    },
    cache,
    new Snapshots(cache, () => false),
    () => undefined,
  )
  const statement = new Statement('select 1')
  return { sent, read: async () => void (await reads.find(statement, [])) }
}

describe('a read that was quick so far', () => {
  async function warmUp({ read }: ReturnType<typeof readsWith>): Promise<void> {
    for (let run = 0; run < RUNS_BEFORE_QUICK; run++) await read()
  }

  it('stays in batches while this process is short of CPU time', async () => {
    const reads = readsWith(async () => {
      for (const end = performance.now() + 40; performance.now() < end; );
    })
    await warmUp(reads)
    for (let run = 0; run < 5; run++) await reads.read()
    assert.deepEqual(reads.sent, { alone: RUNS_BEFORE_QUICK, batches: 5 })
  })

  it('is sent alone once the server is slow', async () => {
    const reads = readsWith(() => wait(60))
    await warmUp(reads)
    for (let run = 0; run < 2; run++) await reads.read()
    assert.deepEqual(reads.sent, { alone: RUNS_BEFORE_QUICK + 1, batches: 1 })
  })

  it('is sent alone once it takes very long, however busy this process is', async () => {
    const reads = readsWith(async () => {
      for (const end = performance.now() + 600; performance.now() < end; );
    })
    await warmUp(reads)
    for (let run = 0; run < 2; run++) await reads.read()
    assert.deepEqual(reads.sent, { alone: RUNS_BEFORE_QUICK + 1, batches: 1 })
  })
})
