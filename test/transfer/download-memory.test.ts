import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { it } from 'node:test'
import { ROOT } from '../../src/base/paths/paths.ts'
import { addFiles } from '../../src/libraries/edits/upload.ts'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { openLibrary } from '../support/stored-files.ts'

const MB = 1_000_000
const SIZE = 200 * MB
const METRICS_TOKEN = 'a-token-for-prometheus'

it('serves a file of 200 MB in bounded memory, to fast and to stalled clients', async () => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-memory-'))
  try {
    const { digest, email, library } = await storeLargeFile(data)
    await using server = await spawnServer(data, { CARREL_METRICS_TOKEN: METRICS_TOKEN })
    const client = await Client.signIn(server.url, email, 'a long password')
    const link = (await client.get(`/api2/repos/${library}/file/`, { p: '/large', reuse: 1 })).body
    const whole = async () => {
      const hash = createHash('sha256')
      for await (const chunk of await begin(link)) hash.update(chunk as Buffer)
      assert.equal(hash.digest('hex'), digest)
    }
    await whole()
    const before = await residentBytes(server.url)
    // These clients read the headers and nothing else: whatever is read for them would stay in memory.
    const idle = await Promise.all(Array.from({ length: 4 }, () => begin(link)))
    let most = 0
    for (let round = 0; round < 2; round += 1) {
      await Promise.all([whole(), whole()])
      most = Math.max(most, await residentBytes(server.url))
    }
    for (const reply of idle) reply.destroy()
    const growth = most - before
    assert.ok(growth < 100 * MB, `it grew by ${Math.round(growth / MB)} MB`)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

async function storeLargeFile(data: string) {
  await using server = await startServer({ data })
  const client = await server.signUp()
  const library = await client.createLibrary()
  const hash = createHash('sha256')
  const pieces = function* () {
    for (let sent = 0; sent < SIZE; sent += MB) {
      const piece = randomBytes(MB)
      hash.update(piece)
      yield piece
    }
  }
  const { core } = server.running.services
  const content = await core.incoming.receive(Readable.from(pieces()))
  const opened = (await openLibrary(server, client, library)).editable(ROOT)
  await addFiles(core, opened, ROOT, [{ name: 'large', content }])
  return { digest: hash.digest('hex'), email: client.email, library }
}

async function begin(url: string): Promise<IncomingMessage> {
  const [reply] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  assert.equal(reply.statusCode, 200)
  return reply
}

async function residentBytes(url: string): Promise<number> {
  const { text } = await new Client(url, METRICS_TOKEN).get('/metrics')
  return Number(/^carrel_process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}
