import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { BlockId } from '../../src/base/objects/ids.ts'
import { BlockCheck } from '../../src/libraries/content/block-check.ts'
import { insertDamagedBlock } from '../../src/libraries/content/damaged-block-store.ts'
import { Scrub } from '../../src/maintenance/check/scrub.ts'
import { openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { createSample } from './damage.ts'

const DAY = 86_400
let server: TestServer
let client: Client
before(async () => {
  server = await startServer()
  client = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('the scrub', () => {
  it('reads every block once in its period, and continues after a restart', async () => {
    const sample = await createSample(server, client)
    const { db, core } = server.running.services
    const { scrub: before } = await server.running.services.integrity()
    assert.equal(before, undefined)
    const started = core.now()
    let at = started
    await using blocks = await openBlocksOf(server)
    const advance = async () => {
      // A new one each time, as after a restart.
      await using scrub = new Scrub({
        hold: async () => true,
        db,
        blocks: new BlockCheck(db, blocks, () => at),
        now: () => at,
        periodSeconds: 30 * DAY,
        onError: (error) => assert.fail(String(error)),
      })
      await scrub.advance()
      return (await server.running.services.integrity()).scrub
    }
    assert.equal((await advance())?.blocks, 0)
    await rm((await sample.blockOf(sample.large)).file)
    await sample.run('delete from small_block where id = ?', (await sample.blockOf(sample.small)).id)
    const stored = await db.all('select distinct block_id from library_block')
    const seen: number[] = []
    for (let day = 3; day <= 30; day += 3) {
      at = started + day * DAY
      const progress = await advance()
      seen.push(progress?.last === undefined ? (progress?.blocks ?? 0) : progress.last.blocks)
    }
    at = started + 31 * DAY
    const done = await advance()
    assert.deepEqual([done?.last?.blocks, done?.last?.found], [stored.length, 2])
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    )
    const metrics = (await (await server.admin()).get('/metrics')).text
    assert.match(metrics, /^carrel_damaged_blocks 2$/m)
    assert.match(metrics, new RegExp(`^carrel_scrub_last_finished_seconds ${done?.last?.finishedAt}$`, 'm'))
    const status = await (await server.admin()).get('/api/v2.1/admin/status/')
    assert.equal(status.body.integrity.damaged_blocks, 2)

    // Uploaded again, they are whole, and the next pass finds nothing.
    await uploadFile(client, sample.library, '/again.bin', sample.large)
    await uploadFile(client, sample.library, '/again-small.bin', sample.small)
    at = started + 62 * DAY
    await advance()
    at = started + 93 * DAY
    assert.equal((await advance())?.last?.found, 0)
    assert.equal((await server.running.services.integrity()).damagedBlocks, 0)
  })

  it('reads blocks that were found damaged again, and clears the record of those that are sound', async () => {
    const sample = await createSample(server, client)
    const { db, now, integrity } = server.running.services
    const lost = await sample.blockOf(sample.large)
    await rm(lost.file)
    const sound = await sample.blockOf(sample.small)
    for (const { id } of [lost, sound]) {
      const damaged = { id: id.toString('hex') as BlockId, problem: 'damaged', foundAt: now() } as const
      assert.ok(await insertDamagedBlock(db, damaged))
    }
    await using blocks = await openBlocksOf(server)
    await using scrub = new Scrub({
      hold: async () => true,
      db,
      blocks: new BlockCheck(db, blocks, now),
      now,
      periodSeconds: 30 * DAY,
      onError: (error) => assert.fail(String(error)),
    })
    await scrub.advance()
    assert.equal((await integrity()).damagedBlocks, 1)
    await uploadFile(client, sample.library, '/again.bin', sample.large)
    assert.equal((await integrity()).damagedBlocks, 0)
  })
})
