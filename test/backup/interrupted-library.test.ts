import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { libraryTrash } from '../../src/libraries/library/library-trash.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { FaultInjector } from '../support/fault-injection.ts'
import { cannotBuildShim } from '../support/io-shim.ts'
import { startServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

const ANN = { email: 'ann@example.org', password: 'a long password' }
const LOG = { operations: ['write'], path: 'carrel.db-wal' } as const
const KILLS = 4

it('an interrupted restore of an account is finished by the same command, without duplicates', {
  skip: cannotBuildShim(),
}, async (t) => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  const data = path.join(folder.path, 'data')
  const [plain, secret] = [randomBytes(200_000), randomBytes(150_000)]
  let ids: { papers: string; encrypted: string }
  {
    await using server = await startServer({ data })
    const ann = await server.signUp(ANN)
    const papers = await ann.createLibrary('Papers')
    await uploadFile(ann, papers, '/plain.bin', plain)
    for (let number = 0; number < 20; number++) {
      await uploadFile(ann, papers, `/folder/${number}.txt`, `number ${number}`)
    }
    const { id: encrypted } = await createEncrypted(ann, 2)
    await openEncrypted(ann, encrypted)
    await uploadFile(ann, encrypted, '/secret.bin', secret)
    ids = { papers, encrypted }
    assert.equal((await carrel(['backup', target, '--data', data])).code, 0)
    const admin = await server.admin()
    for (const id of [papers, encrypted]) {
      assert.equal((await ann.delete(`/api/v2.1/repos/${id}/`)).status, 200)
      assert.equal((await admin.delete(`/api/v2.1/admin/trash-libraries/${id}/`)).status, 200)
    }
  }
  const restore = (at: string) => ['restore', target, '--account', ANN.email, '--json', '--data', at]
  const writes = await countWrites(data, path.join(folder.path, 'counted'), restore)
  {
    await using injector = await FaultInjector.create(data)
    for (let kill = 1; kill <= KILLS; kill++) {
      const skip = Math.floor((writes * kill) / (KILLS + 1))
      using injected = injector.inject({ ...LOG, effect: 'kill', skip, count: 1 })
      const killed = await carrel(restore(data), { env: injector.env })
      assert.equal(injected.hits, 1, `write ${skip} of ${writes}: ${killed.stderr}`)
      assert.equal(killed.code, null)
    }
  }
  const finished = await carrel(restore(data))
  assert.equal(finished.code, 0, finished.stderr)
  t.diagnostic(`${KILLS} kills among ${writes} writes: ${finished.stdout}`)
  const again = await carrel(restore(data))
  assert.equal(again.code, 0, again.stderr)
  const { libraries } = JSON.parse(again.stdout) as { libraries: { id: string; alreadyRestored: boolean }[] }
  const already = new Map(libraries.map(({ id, alreadyRestored }) => [id, alreadyRestored]))
  assert.deepEqual(
    already,
    new Map([
      [ids.papers, true],
      [ids.encrypted, true],
    ]),
  )
  const checked = await carrel(['check', '--read-data', '--data', data])
  assert.equal(checked.code, 0, checked.stdout)
  await using server = await startServer({ data })
  const ann = await Client.signIn(server.url, ANN.email, ANN.password)
  const { body } = await ann.get('/api2/repos/')
  assert.deepEqual(body.map(({ id }: { id: string }) => id).sort(), [ids.papers, ids.encrypted].sort())
  assert.deepEqual(await download(ann, ids.papers, '/plain.bin'), plain)
  assert.equal(String(await download(ann, ids.papers, '/folder/19.txt')), 'number 19')
  await openEncrypted(ann, ids.encrypted)
  assert.deepEqual(await download(ann, ids.encrypted, '/secret.bin'), secret)
  // What the killed ones left is purged by the next maintenance.
  const { core, db } = server.running.services
  await libraryTrash.purgeBefore(core, 1)
  assert.deepEqual(await db.all('select id from library where head_seq = 0'), [])
})

/** How many times the command writes to the log of the database. */
async function countWrites(
  data: string,
  copy: string,
  command: (data: string) => readonly string[],
): Promise<number> {
  cpSync(data, copy, { recursive: true })
  await using injector = await FaultInjector.create(copy)
  using counted = injector.inject({ ...LOG, effect: 'EIO', count: 0 })
  const { code, stderr } = await carrel(command(copy), { env: injector.env })
  assert.equal(code, 0, stderr)
  const { seen } = counted
  await rm(copy, { recursive: true })
  return seen
}
