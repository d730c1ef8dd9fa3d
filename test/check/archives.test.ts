import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { archiveOf, fetchArchive, startArchive, waitForArchive } from '../support/archives.ts'
import { checkServer } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { Nodes } from '../support/nodes.ts'
import { findPostgres, type PostgresServer } from '../support/postgres.ts'
import type { TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'

const found = await findPostgres()
const skip = typeof found === 'string' ? found : false

describe('a lost block of a finished archive', { skip }, () => {
  let postgres: PostgresServer
  let nodes: Nodes
  let server: TestServer
  let client: Client
  before(async () => {
    postgres = found as PostgresServer
    nodes = await Nodes.create(postgres)
    server = await nodes.start()
    // Archives are blocks if another node may be asked for them.
    await nodes.start()
    client = await server.signUp()
  })
  after(async () => {
    await nodes[Symbol.asyncDispose]()
    await postgres[Symbol.asyncDispose]()
  })

  async function createLost(name: string) {
    const library = await client.createLibrary(name)
    const bytes = randomBytes(200_000)
    await uploadFile(client, library, '/film.bin', bytes)
    const token = await startArchive(client, library, '/', ['film.bin'])
    assert.equal((await waitForArchive(client, token)).zipped, 1)
    assert.deepEqual((await checkServer(server, { library })).findings, [])
    const { db } = server.running.services
    const [row = assert.fail('no block is stored')] = await db.all<{ block_id: Uint8Array }>(
      `select b.block_id from archive_block b join archive a on a.key = b.archive_key
       join library l on l.key = a.library_key where l.id = ? and b.size >= 65536`,
      library,
    )
    const id = Buffer.from(row.block_id).toString('hex')
    await rm(path.join(server.data, 'blocks', id.slice(0, 2), id.slice(2)))
    return { library, bytes, token }
  }

  it('is found by a check, and the archive is packed again when it is requested', async () => {
    const { library, bytes, token } = await createLost('checked')
    const { findings } = await checkServer(server, { library, readData: false })
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['archive-lost'],
    )
    const again = await archiveOf(server, client, library, '/', ['film.bin'])
    assert.ok(again.get('film.bin')?.equals(bytes))
    // The archive is the same, byte for byte, and so are its blocks.
    assert.deepEqual((await checkServer(server, { library })).findings, [])
    assert.equal((await fetchArchive(server, token)).status, 200)
  })

  it('is repaired by dropping the archive, unless it is a dry run', async () => {
    const { library, bytes } = await createLost('repaired')
    const database = ['--database', server.databaseUrl ?? nodes.env['CARREL_DATABASE'] ?? '']
    const repair = async (...flags: string[]) => {
      const args = ['repair', '--json', '--library', library, '--data', server.data, ...database]
      const env = { CARREL_SECRET: nodes.env['CARREL_SECRET'] ?? '' }
      const { code, stdout, stderr } = await carrel([...args, ...flags], { env })
      assert.equal(code, 0, stdout + stderr)
      return JSON.parse(stdout).repaired.map((step: { action: string }) => step.action)
    }
    assert.deepEqual(await repair('--dry-run'), ['archive-dropped'])
    assert.equal((await checkServer(server, { library })).findings.length, 1)
    assert.deepEqual(await repair(), ['archive-dropped'])
    assert.deepEqual((await checkServer(server, { library })).findings, [])
    const again = await archiveOf(server, client, library, '/', ['film.bin'])
    assert.ok(again.get('film.bin')?.equals(bytes))
  })
})
