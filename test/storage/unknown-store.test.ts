import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { Client } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

it('a database that knows no store yet refuses one without any of its blocks, and accepts the right one', async () => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-unknown-store-'))
  try {
    const [blocks, elsewhere] = [path.join(data, 'blocks'), path.join(data, 'elsewhere')]
    const content = Buffer.alloc(300_000, 'block')
    let library = ''
    let user: Client
    {
      await using server = await startServer({ data })
      user = await server.signUp()
      library = await user.createLibrary('Blocks')
      await uploadFile(user, library, '/a.bin', content)
      // As a database from before stores were registered.
      await dbOf(server.running.services.core).write((tx) => tx.run('delete from block_store'))
    }
    await rm(path.join(blocks, 'store-id'))
    await rename(blocks, elsewhere)
    await assert.rejects(
      startServer({ data }),
      /^StartError: No block of this database is in \S+blocks, of \d+ that were looked for: see that CARREL_DATA is right/,
    )
    assert.ok(!existsSync(path.join(blocks, 'store-id')))
    await rm(blocks, { recursive: true, force: true })
    await rename(elsewhere, blocks)
    await using server = await startServer({ data })
    const link = await new Client(server.url, user.token, user.email).get(
      `/api2/repos/${library}/file/?p=/a.bin`,
    )
    const read = await fetch(String(link.body))
    assert.deepEqual(Buffer.from(await read.arrayBuffer()), content)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})
