import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Params } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { HOSTILE, setLibrary, two, UNKNOWN } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const OPERATIONS = ['copy', 'move'] as const
type Operation = (typeof OPERATIONS)[number]

describe('the older file operations', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  const post = (
    space: Workspace,
    operation: Operation | 'delete',
    query: Params,
    form: Params,
    by?: Client,
  ) => (by ?? space.client).post(space.v2(`fileops/${operation}/`), { query, form })
  const to = (space: Workspace, dst_dir: string, file_names: string) => ({
    dst_repo: space.id,
    dst_dir,
    file_names,
  })

  it('copies and moves, and returns the new names', async () => {
    for (const operation of OPERATIONS) {
      for (const across of [false, true]) {
        const [here, there] = await two(server)
        const target = across ? there : here
        const reply = await post(here, operation, {}, to(target, '/in/', ':b.txt:a.txt:d:'))
        const at = { repo_id: target.id, parent_dir: '/in/' }
        assertReply(reply, 200, [
          { ...at, obj_name: 'b.txt' },
          { ...at, obj_name: 'a (1).txt' },
          { ...at, obj_name: 'd' },
        ])
        assert.deepEqual(await target.names('/in'), ['d', 'a (1).txt', 'a.txt', 'b.txt'])
        const verb = operation === 'move' && !across ? 'Moved' : 'Added'
        assert.equal(await target.lastCommit(), `${verb} "b.txt" and 2 more files`)
        assert.deepEqual(await here.names(), operation === 'move' ? ['in'] : ['d', 'in', 'a.txt', 'b.txt'])
      }
    }
  })

  it('accepts any encoding and a base folder, and returns the listing on request', async () => {
    for (const operation of OPERATIONS) {
      for (const encoding of ['form', 'multipart', 'json'] as const) {
        const [here, there] = await two(server)
        const query = { p: '/d', reloaddir: 'true' }
        const sent = { query, [encoding]: to(there, '/', 'x') }
        const reply = await here.client.post(here.v2(`fileops/${operation}`), sent)
        assert.equal(reply.status, 200, reply.text)
        const names = reply.body.map((entry: { name: string }) => entry.name)
        assert.deepEqual(names, operation === 'copy' ? ['sub', 'x'] : ['sub'])
      }
    }
  })

  it('validates in the documented order, and changes nothing on a rejection', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    const stranger = await server.signUp()
    const heads = [await here.head(), await there.head(), await theirs.head()]
    for (const operation of OPERATIONS) {
      const from =
        operation === 'copy'
          ? 'You do not have permission to copy file of this folder.'
          : 'You do not have permission to move file in this folder.'
      const into = `You do not have permission to ${operation} file to destination folder.`
      const rows: [query: Params, form: Params, status: number, text: string, by?: Client][] = [
        [{}, {}, 400, 'Missing argument.'],
        [{ p: '/none' }, { ...to(there, '/in', 'a.txt'), dst_repo: '' }, 400, 'Missing argument.'],
        [{}, to(there, '', 'a.txt'), 400, 'Missing argument.'],
        [{}, to(there, '/in', ''), 400, 'Missing argument.'],
        [{ p: '/none' }, to(there, '/gone', 'a.txt'), 404, 'Folder /none not found.'],
        [{}, { ...to(there, '/gone', 'a.txt'), dst_repo: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
        [{}, to(there, '/gone', 'a.txt'), 404, 'Folder /gone not found.'],
        [{}, to(there, '/in', 'a.txt'), 403, from, stranger],
        [{}, to(theirs, '/', 'none'), 403, into],
        [{}, to(there, '/in', 'a.txt:none'), 400, 'file_names invalid.'],
        [{}, to(there, '/in', 'a.txt::b.txt'), 400, 'file_names invalid.'],
        [{}, to(there, '/in', ':'), 400, 'file_names invalid.'],
        [{}, to(here, '/d/sub', 'd'), 400, 'Can not move folder /d to its subfolder /d/sub'],
      ]
      for (const [query, form, status, text, by] of rows) {
        const reply = await post(here, operation, query, form, by)
        assertError(reply, status, text, `${operation} ${JSON.stringify(form)}`)
      }
      const url = `/api2/repos/${UNKNOWN}/fileops/${operation}/`
      const unknown = await here.client.post(url, { form: to(there, '/in', 'a.txt') })
      assertError(unknown, 404, `Library ${UNKNOWN} not found.`)
      for (const text of HOSTILE) {
        for (const [query, form] of [
          [{}, to(there, '/in', text)],
          [{ p: text.toWellFormed() }, to(there, '/in', 'none')],
          [{}, to(there, text, 'none')],
          [{}, { ...to(there, '/in', 'a.txt'), dst_repo: text }],
        ] as const) {
          const { status } = await here.client.post(here.v2(`fileops/${operation}/`), { query, json: form })
          assert.ok(status === 400 || status === 404, `${status} for ${JSON.stringify([query, form])}`)
        }
      }
      assert.equal((await post(here, operation, {}, {}, server.anonymous)).status, 403)
    }
    const same = 'The destination directory is the same as the source.'
    assertError(await post(here, 'move', { p: '/d' }, to(here, '/d/', 'none')), 400, same)
    assert.deepEqual([await here.head(), await there.head(), await theirs.head()], heads)
    await there.makeReadOnly()
    const into = 'You do not have permission to move file to destination folder.'
    assertError(await post(here, 'move', {}, to(there, '/in', 'a.txt')), 403, into)
    const from = 'You do not have permission to move file in this folder.'
    assertError(await post(there, 'move', { p: '/in' }, to(here, '/', 'a.txt')), 403, from)
    assert.equal((await post(there, 'copy', { p: '/in' }, to(here, '/d', 'a.txt'))).status, 200)
  })

  it('leaves entries locked by another account alone', async () => {
    const [here, there] = await two(server)
    const other = await server.signUp()
    await here.lockFor('/a.txt', other)
    await here.lockFor('/d/sub/y', other)
    const reply = await post(here, 'move', {}, to(there, '/', 'a.txt:d:b.txt'))
    assertReply(reply, 200, [{ repo_id: there.id, parent_dir: '/', obj_name: 'b.txt' }])
    assert.deepEqual(await here.names(), ['d', 'in', 'a.txt'])
    const head = await here.head()
    assertReply(await post(here, 'move', {}, to(there, '/', 'a.txt:d')), 200, [])
    assertReply(await post(here, 'delete', { p: '/' }, { file_names: 'a.txt:d' }), 200, 'success')
    assert.equal(await here.head(), head)
  })

  it('counts copies against the quota', async () => {
    const [here, there] = await two(server)
    await server.running.services.accounts.update(here.client.email, { quota: 10 }, undefined)
    await setLibrary(server, there, 'size = 10')
    assertError(await post(here, 'copy', {}, to(there, '/', 'a.txt')), 443, 'Out of quota.')
    assert.equal((await post(here, 'move', {}, to(there, '/', 'a.txt'))).status, 200)
  })

  it('returns 520 where the core fails', async () => {
    const [here] = await two(server)
    const made = await here.client.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a password' } })
    const secret = new Workspace(server, here.client, made.body.repo_id)
    for (const operation of OPERATIONS) {
      const reply = await post(here, operation, {}, to(secret, '/', 'a.txt'))
      assertError(reply, 520, `Failed to ${operation} file.`)
    }
  })

  it('deletes existing entries', async () => {
    const [here] = await two(server)
    assertReply(await post(here, 'delete', { p: '/' }, { file_names: 'a.txt:none:d' }), 200, 'success')
    assert.deepEqual(await here.names(), ['in', 'b.txt'])
    assert.equal(await here.lastCommit(), 'Deleted "a.txt" and 1 more files')
    const listing = await post(here, 'delete', { p: '/', reloaddir: 'true' }, { file_names: 'b.txt' })
    assert.deepEqual(
      listing.body.map((entry: { name: string }) => entry.name),
      ['in'],
    )
  })

  it('validates deletions in the documented order', async () => {
    const [here] = await two(server)
    const stranger = await server.signUp()
    const head = await here.head()
    const notFound = 'File or directory not found.'
    assertError(await post(here, 'delete', {}, { file_names: 'a.txt' }), 404, notFound)
    assertError(await post(here, 'delete', { p: '/' }, {}), 404, notFound)
    assertError(await post(here, 'delete', { p: '/none' }, { file_names: 'a.txt' }), 404, notFound)
    const url = `/api2/repos/${UNKNOWN}/fileops/delete/`
    const unknown = await here.client.post(url, { query: { p: '/' }, form: { file_names: 'a.txt' } })
    assertError(unknown, 404, 'Library not found.')
    const denied = 'You do not have permission to delete this file.'
    assertError(await post(here, 'delete', { p: '/' }, { file_names: 'a.txt' }, stranger), 403, denied)
    for (const text of HOSTILE) {
      const options = { query: { p: '/' }, json: { file_names: text } }
      assertReply(await here.client.post(here.v2('fileops/delete/'), options), 200, 'success', text)
    }
    await here.makeReadOnly()
    assertError(await post(here, 'delete', { p: '/' }, { file_names: 'a.txt' }), 403, denied)
    assert.equal(await here.head(), head)
  })
})
