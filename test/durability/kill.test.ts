import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { rounds } from '../support/tier.ts'

const KILLS = Number(process.env['CARREL_TEST_KILLS'] ?? rounds(2, 5))
const WRITERS = 32

/** What a writer knows of its own files: what was answered, and the one edit nobody answered. */
interface Writer {
  readonly prefix: string
  readonly names: Set<string>
  unanswered: { remove?: string; add?: string } | undefined
  counter: number
}

it(`killed ${KILLS} times while ${WRITERS} writers edit one library, no acknowledged edit is lost`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const random = seededRandom(seed)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-kill-'))
  const writers = Array.from({ length: WRITERS }, (_, i): Writer => {
    return { prefix: `w${i}`, names: new Set(), unanswered: undefined, counter: 0 }
  })
  let library: string | undefined
  let acknowledged = 0
  try {
    for (let round = 0; round <= KILLS; round++) {
      await using server = await spawnServer(data)
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      library ??= await client.createLibrary('Under fire')
      await checkAll(client, library, writers)
      if (round === KILLS) {
        assert.equal(await server.stop(), 0)
        break
      }
      const enough = acknowledged + 20 + Math.floor(random() * 200)
      const dying = Promise.withResolvers<void>()
      const onAcknowledged = () => {
        if (++acknowledged === enough) server.process.kill('SIGKILL')
      }
      void server.process.once('exit', () => dying.resolve())
      await Promise.all(
        writers.map((writer) => writeUntilKilled(client, library ?? '', writer, random, onAcknowledged)),
      )
      await dying.promise
    }
    t.diagnostic(`${acknowledged} edits acknowledged and kept`)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/** Edits until the connection breaks. The edit that was not answered may have happened or not. */
async function writeUntilKilled(
  client: Client,
  library: string,
  writer: Writer,
  random: () => number,
  onAcknowledged: () => void,
): Promise<void> {
  const url = `/api/v2.1/repos/${library}/file/`
  for (;;) {
    const known = [...writer.names]
    const some = known[Math.floor(random() * known.length)]
    const fresh = `${writer.prefix}-${writer.counter++}`
    const choice = some === undefined ? 0 : random()
    let reply: { status: number; text: string }
    try {
      if (some === undefined || choice < 0.6) {
        writer.unanswered = { add: fresh }
        reply = await client.post(url, { query: { p: `/${fresh}` }, form: { operation: 'create' } })
      } else if (choice < 0.8) {
        writer.unanswered = { remove: some, add: fresh }
        reply = await client.post(url, {
          query: { p: `/${some}` },
          form: { operation: 'rename', newname: fresh },
        })
      } else {
        writer.unanswered = { remove: some }
        reply = await client.delete(url, { query: { p: `/${some}` } })
      }
    } catch {
      return
    }
    assert.equal(reply.status, 200, reply.text)
    settle(writer)
    onAcknowledged()
  }
}

function settle(writer: Writer): void {
  const { remove, add } = writer.unanswered ?? {}
  if (remove !== undefined) writer.names.delete(remove)
  if (add !== undefined) writer.names.add(add)
  writer.unanswered = undefined
}

/** Every acknowledged edit is there; the unanswered one is wholly there or not at all. */
async function checkAll(client: Client, library: string, writers: readonly Writer[]): Promise<void> {
  const listing = await client.get(`/api2/repos/${library}/dir/`)
  assert.equal(listing.status, 200, listing.text)
  const found: string[] = listing.body.map((entry: { name: string }) => entry.name)
  const detail = await client.get(`/api2/repos/${library}/`)
  assert.equal(detail.body.file_count, found.length)
  for (const writer of writers) {
    const mine = new Set(found.filter((name) => name.startsWith(`${writer.prefix}-`)))
    if (!same(mine, writer.names)) settle(writer)
    assert.deepEqual(sorted(mine), sorted(writer.names), `files of ${writer.prefix}`)
    writer.unanswered = undefined
  }
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b)
}

function sorted(names: ReadonlySet<string>): string[] {
  return [...names].sort()
}
