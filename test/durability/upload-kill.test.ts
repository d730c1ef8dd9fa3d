import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'

const KILLS = Number(process.env['CARREL_TEST_KILLS'] ?? 8)
const UPLOADERS = 8
const LARGEST = 400_000

/** What was sent under a name: its hash, and whether the server said it has it. */
interface Sent {
  readonly hash: string
  readonly size: number
  acknowledged: boolean
}

it(`killed ${KILLS} times under uploads, every acknowledged file is complete and no partial file is visible`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const random = seededRandom(seed)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-upload-kill-'))
  const sent = new Map<string, Sent>()
  const checked = new Set<string>()
  let library: string | undefined
  let acknowledged = 0
  try {
    for (let round = 0; round <= KILLS; round++) {
      await using server = await spawnServer(data)
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      library ??= await client.createLibrary('Under fire')
      await checkFiles(client, library, sent, checked)
      assert.deepEqual(await readdir(path.join(data, 'blocks', 'tmp')), [], 'blocks that never came to be')
      if (round === KILLS) {
        assert.equal(await server.stop(), 0)
        break
      }
      const enough = acknowledged + 5 + Math.floor(random() * 40)
      const dead = new Promise((resolve) => server.process.once('exit', resolve))
      const onAcknowledged = () => {
        if (++acknowledged === enough) server.process.kill('SIGKILL')
      }
      const link = await client.get(`/api2/repos/${library}/upload-link/`)
      const uploaders = Array.from({ length: UPLOADERS }, (_, uploader) =>
        uploadUntilKilled(link.body, `${round}-${uploader}`, sent, random, onAcknowledged),
      )
      await Promise.all(uploaders)
      await dead
    }
    t.diagnostic(`${acknowledged} uploads acknowledged and kept`)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

async function uploadUntilKilled(
  link: string,
  prefix: string,
  sent: Map<string, Sent>,
  random: () => number,
  onAcknowledged: () => void,
): Promise<void> {
  for (let n = 0; ; n++) {
    const name = `${prefix}-${n}.bin`
    const bytes = randomBytes(Math.floor(random() ** 2 * LARGEST))
    const record = { hash: hashOf(bytes), size: bytes.length, acknowledged: false }
    sent.set(name, record)
    const form = new FormData()
    form.append('parent_dir', '/')
    form.append('file', new Blob([bytes]), name)
    try {
      const reply = await fetch(`${link}?ret-json=1`, { method: 'POST', body: form })
      const text = await reply.text()
      assert.equal(reply.status, 200, text)
      assert.equal(JSON.parse(text)[0].name, name)
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      return
    }
    record.acknowledged = true
    onAcknowledged()
  }
}

/** Each file that shows is one that was sent, whole; each that was acknowledged shows. */
async function checkFiles(
  client: Client,
  library: string,
  sent: ReadonlyMap<string, Sent>,
  checked: Set<string>,
): Promise<void> {
  const listing = await client.get(`/api2/repos/${library}/dir/`)
  const sizes = new Map<string, number>(
    listing.body.map((entry: { name: string; size: number }) => [entry.name, entry.size]),
  )
  for (const [name, record] of sent) {
    if (record.acknowledged) assert.ok(sizes.has(name), `${name} was acknowledged and is gone`)
  }
  for (const [name, size] of sizes) {
    const record = sent.get(name)
    assert.ok(record, `${name} was never sent`)
    assert.equal(size, record.size)
    if (checked.has(name)) continue
    const link = await client.get(`/api2/repos/${library}/file/`, { p: `/${name}` })
    const bytes = Buffer.from(await (await fetch(link.body)).arrayBuffer())
    assert.equal(hashOf(bytes), record.hash, name)
    checked.add(name)
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
