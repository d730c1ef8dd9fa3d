import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { BlockCheck } from '../../src/libraries/content/block-check.ts'
import { Scrub } from '../../src/maintenance/check/scrub.ts'
import { checkServer, openBlocksOf } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { postForm, storedBytes, uploadLink } from '../support/transfer.ts'

const CHUNK = 200_000
const TOTAL = 2 * CHUNK

let server: TestServer
let client: Client
before(async () => {
  server = await startServer()
  client = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

/** A library with the first chunk of an upload, whose block is lost. */
async function createLost(name: string) {
  const library = await client.createLibrary(name)
  const bytes = randomBytes(TOTAL)
  const link = await uploadLink(client, library)
  const send = (start: number) => {
    const parts = [
      ['parent_dir', '/'] as const,
      { filename: 'film.bin', bytes: bytes.subarray(start, start + CHUNK) },
    ]
    const headers = {
      'Content-Range': `bytes ${start}-${start + CHUNK - 1}/${TOTAL}`,
      'Content-Disposition': 'attachment; filename="film.bin"',
    }
    return postForm(link, parts, { query: 'ret-json=1', headers })
  }
  const received = async () => {
    const query = { parent_dir: '/', file_name: 'film.bin' }
    const reply = await client.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)
    return reply.body.uploadedBytes
  }
  assert.equal((await send(0)).status, 200)
  assert.equal(await received(), CHUNK)
  const { db } = server.running.services
  const [row = assert.fail('nothing is staged')] = await db.all<{ block_id: Uint8Array }>(
    `select s.block_id from staged_block s join partial_upload u on u.key = s.upload_key
     join library l on l.key = u.library_key where l.id = ?`,
    library,
  )
  const id = Buffer.from(row.block_id).toString('hex')
  await rm(path.join(server.data, 'blocks', id.slice(0, 2), id.slice(2)))
  return { library, bytes, send, received }
}

type Lost = Awaited<ReturnType<typeof createLost>>

async function expectStartedOver({ library, bytes, send, received }: Lost): Promise<void> {
  assert.equal(await received(), 0)
  assert.notEqual((await send(CHUNK)).status, 200)
  for (const start of [0, CHUNK]) assert.equal((await send(start)).status, 200)
  assert.ok((await storedBytes(server, library, '/film.bin')).equals(bytes))
  assert.deepEqual((await checkServer(server, { library })).findings, [])
}

describe('a lost block of an unfinished upload', () => {
  for (const readData of [true, false]) {
    it(`is found by a check ${readData ? 'that reads data' : 'of what is present'}, and the upload starts over`, async () => {
      const lost = await createLost(`checked ${readData}`)
      const { findings } = await checkServer(server, { library: lost.library, readData })
      const found = findings.map(({ kind, path: at }) => [kind, at])
      assert.deepEqual(found, [['upload-lost', '/film.bin']])
      await expectStartedOver(lost)
    })
  }

  it('is found by the scrub, and the upload starts over', async () => {
    const lost = await createLost('scrubbed')
    const { db, core } = server.running.services
    await using blocks = await openBlocksOf(server)
    let at = core.now()
    const options = {
      hold: async () => true,
      db,
      blocks: new BlockCheck(db, blocks, () => at),
      now: () => at,
      periodSeconds: 86_400,
      onError: (error: unknown) => assert.fail(String(error)),
    }
    await using scrub = new Scrub(options)
    await scrub.advance()
    at += 2 * 86_400
    await scrub.advance()
    assert.equal((await server.running.services.integrity()).damagedBlocks, 1)
    await expectStartedOver(lost)
  })

  it('is repaired by dropping the upload, unless it is a dry run', async () => {
    const lost = await createLost('repaired')
    const database = server.databaseUrl === undefined ? [] : ['--database', server.databaseUrl]
    const repair = async (...flags: string[]) => {
      const args = ['repair', '--json', '--library', lost.library, '--data', server.data, ...database]
      const { code, stdout, stderr } = await carrel([...args, ...flags])
      assert.equal(code, 0, stdout + stderr)
      const { repaired } = JSON.parse(stdout)
      return repaired.map((step: { action: string; path: string }) => [step.action, step.path])
    }
    assert.deepEqual(await repair('--dry-run'), [['upload-dropped', '/film.bin']])
    assert.equal((await checkServer(server, { library: lost.library })).findings.length, 1)
    assert.deepEqual(await repair(), [['upload-dropped', '/film.bin']])
    await expectStartedOver(lost)
  })
})
