import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { ADMIN } from '../support/server.ts'
import { download, FileJournal, namesOf } from '../support/workload.ts'

const KILLS = Number(process.env['CARREL_TEST_KILLS'] ?? 5)
const UPLOADERS = 8
const LARGEST = 400_000

it(`killed ${KILLS} times under uploads, every acknowledged file is complete and no partial file is visible`, async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed} (repeat with CARREL_TEST_SEED=${seed})`)
  const random = seededRandom(seed)
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-upload-kill-'))
  const sent = new FileJournal('upload')
  let library: string | undefined
  let acknowledged = 0
  try {
    for (let round = 0; round <= KILLS; round++) {
      await using server = await spawnServer(data)
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      library ??= await client.createLibrary('Under fire')
      const id = library
      await sent.verify(await namesOf(client, id), (name) => download(client, id, name))
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
  sent: FileJournal,
  random: () => number,
  onAcknowledged: () => void,
): Promise<void> {
  for (let n = 0; ; n++) {
    const name = `${prefix}-${n}.bin`
    const bytes = randomBytes(Math.floor(random() ** 2 * LARGEST))
    const record = sent.send(name, bytes)
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
    record.isAcknowledged = true
    onAcknowledged()
  }
}
