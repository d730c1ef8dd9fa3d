import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { ADMIN } from '../support/server.ts'
import { postForm, uploadLink } from '../support/transfer.ts'
import { compareWithDisk, listPresent, Recording } from './recording.ts'

describe('the fault injector', { skip: cannotBuildShim() }, () => {
  for (const disk of ['plain', 'fast']) {
    it(`reaches every kind of call of a server with the ${disk} disk store`, async () => {
      const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-injector-'))
      try {
        await using injector = await FaultInjector.create(data)
        await using server = await spawnServer(data, { ...injector.env, CARREL_DISK: disk })
        const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
        const link = await uploadLink(client, await client.createLibrary())
        // Faults that never hit count the calls.
        const count = (operation: 'create' | 'write' | 'sync' | 'syncFolder' | 'rename', pattern: string) =>
          injector.inject({ operations: [operation], path: pattern, effect: 'EIO', count: 0 })
        const counted = [
          count('write', 'carrel.db-wal'),
          count('sync', 'carrel.db-wal'),
          count('create', 'blocks/tmp/*'),
          count('write', 'blocks/tmp/*'),
          count('sync', 'blocks/tmp/*'),
          count('rename', 'blocks/??/*'),
          count('syncFolder', 'blocks/??'),
        ]
        const bytes = Buffer.alloc(3_000_000, 7)
        assert.equal((await postForm(link, [['parent_dir', '/'], { filename: 'a', bytes }])).status, 200)
        assert.deepEqual(
          counted.map((fault) => fault.seen > 0),
          counted.map(() => true),
        )
      } finally {
        await rm(data, { recursive: true, force: true })
      }
    })
  }
})

describe('the recorder', { skip: cannotBuildShim() }, () => {
  it('has recorded every operation of a server that was killed under load', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-recorder-'))
    try {
      const present = await listPresent(data)
      await using injector = await FaultInjector.create(data)
      const recording = new Recording(injector)
      // Far from its operation, a record would not be written any more if the kill did not wait for it.
      const lag = { IO_SHIM_LAG_MS: '20', IO_SHIM_SYNC_MS: '0' }
      for (let round = 0; round < 3; round++) {
        await using server = await spawnServer(data, { ...recording.env, ...lag })
        const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
        const link = await uploadLink(client, await client.createLibrary())
        const answers = Array.from({ length: 8 }, (_, n) => {
          const file = { filename: `${n}`, bytes: Buffer.alloc(100_000, n + 1) }
          return postForm(link, [['parent_dir', '/'], file]).catch(() => {})
        })
        await Promise.race(answers)
        await injector.killBetweenCalls(server)
        await Promise.all(answers)
        await compareWithDisk(data, present, recording.read())
      }
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})
