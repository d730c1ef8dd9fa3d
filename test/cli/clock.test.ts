import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { libraryTrash } from '../../src/libraries/library/index.ts'
import { Client } from '../support/client.ts'
import { carrelProcess } from '../support/command.ts'
import { ADMIN, startServer } from '../support/server.ts'
import { filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const DAY = 86_400
const WRONG = Date.UTC(2099, 0, 1) / 1000
const realNow = () => Math.floor(Date.now() / 1000)

async function upload(
  client: Client,
  library: string,
  name: string,
  more: readonly (readonly [string, string])[] = [],
) {
  const link = await uploadLink(client, library)
  const reply = await postForm(link, [intoRoot, ...more, filePart(name)], { query: '?ret-json=1' })
  assert.equal(reply.status, 200, reply.text)
}

describe('a clock that was wrong', { timeout: 120_000 }, () => {
  let data = ''
  before(async () => {
    data = await mkdtemp(path.join(os.tmpdir(), 'carrel-clock-'))
  })
  after(() => rm(data, { recursive: true }))
  const run = (...flags: string[]) => carrelProcess(['clock', '--data', data, '--json', ...flags])

  it('of a client does not reach modification times', async () => {
    await using server = await startServer({ now: () => 1_794_800_000 })
    const admin = await server.admin()
    const library = await admin.createLibrary('Client')
    await upload(admin, library, 'ahead.txt', [['last_modify', '2099-01-01T00:00:00+00:00']])
    await upload(admin, library, 'right.txt', [['last_modify', '2020-01-01T00:00:00+00:00']])
    const { body } = await admin.get(`/api2/repos/${library}/dir/`, { p: '/' })
    const times = body.map((entry: { name: string; mtime: number }) => [entry.name, entry.mtime])
    assert.deepEqual(Object.fromEntries(times), {
      'ahead.txt': 1_794_800_000,
      'right.txt': Date.UTC(2020, 0, 1) / 1000,
    })
  })

  it('of the server is repaired on request, and trash, history and purge work again', async () => {
    let library = ''
    {
      await using server = await startServer({ data, now: () => WRONG })
      const admin = await server.admin()
      library = await admin.createLibrary('Kept')
      await upload(admin, library, 'a.txt')
      await admin.call('DELETE', `/api2/repos/${library}/file/`, { query: { p: '/a.txt' } })
      // The path index is derived. A list catches up first.
      assert.equal((await admin.get(`/api/v2.1/repos/${library}/trash/`)).body.data.length, 1)
      const deleted = await admin.createLibrary('Deleted')
      assert.equal((await admin.call('DELETE', `/api2/repos/${deleted}/`)).status, 200)
    }
    const found = await run()
    assert.equal(found.code, 1, found.stderr)
    const { commits, libraries, trashItems } = JSON.parse(found.stdout).found
    assert.ok(commits >= 3 && libraries === 2 && trashItems === 1, found.stdout)
    const repaired = await run('--repair')
    assert.equal(repaired.code, 0, repaired.stderr)
    assert.equal(JSON.parse((await run()).stdout).found.commits, 0)

    const later = realNow() + 40 * DAY
    await using server = await startServer({ data, now: () => later })
    const admin = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const { core } = server.running.services
    await libraryTrash.purgeBefore(core, later - 30 * DAY)
    const left = await server.running.services.db.all<{ name: string }>('select name from library')
    assert.deepEqual(
      left.map(({ name }) => name),
      ['Kept'],
    )
    const trash = () => admin.get(`/api/v2.1/repos/${library}/trash/`)
    const shown = await trash()
    assert.equal(shown.body.data.length, 1, shown.text)
    assert.ok(Date.parse(shown.body.data[0].deleted_time) / 1000 <= realNow() + 1)
    await admin.put(`/api2/repos/${library}/history-limit/`, { form: { keep_days: '30' } })
    assert.equal((await trash()).body.data.length, 0, 'older than the history limit')
    const history = await admin.get(`/api/v2.1/repos/${library}/history/`)
    assert.equal(history.body.data.length, 1, history.text)
  })
})
