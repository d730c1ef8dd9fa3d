import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'
import { batch, fill, HOSTILE, setLibrary, syncBatch, two, UNKNOWN } from './batch-support.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const OPERATIONS = ['copy', 'move'] as const
const DONE = { success: 'true' }

describe('synchronous batch copy and move', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  it('puts all entries into the folder in one commit, under free names', async () => {
    for (const operation of OPERATIONS) {
      for (const across of [false, true]) {
        const [here, there] = await two(server)
        const target = across ? there : here
        const sent = batch(here, ['a.txt', 'd', 'b.txt', 'a.txt'], target, '/in/')
        assertReply(await syncBatch(here.client, operation, sent), 200, DONE)
        assert.deepEqual(await target.names('/in'), ['d', 'a (1).txt', 'a.txt', 'b.txt'])
        assert.deepEqual(await target.names('/in/d/sub'), ['y'])
        const left = operation === 'move' ? ['in'] : ['d', 'in', 'a.txt', 'b.txt']
        assert.deepEqual(await here.names(), left)
        const verb = operation === 'move' && !across ? 'Moved' : 'Added'
        assert.equal(await target.lastCommit(), `${verb} "a.txt" and 2 more files`)
        if (across && operation === 'move') {
          assert.equal(await here.lastCommit(), 'Deleted "a.txt" and 2 more files')
        }
      }
    }
  })

  it('describes a single file or folder by its kind', async () => {
    const [here] = await two(server)
    const rows = [
      ['copy', 'a.txt', 'Added "a.txt"'],
      ['move', 'a.txt', 'Moved "a.txt"'],
      ['copy', 'd', 'Added directory "d"'],
      ['move', 'd', 'Moved directory "d"'],
    ] as const
    for (const [operation, name, text] of rows) {
      assertReply(await syncBatch(here.client, operation, batch(here, [name], here, '/in')), 200, DONE)
      assert.equal(await here.lastCommit(), text)
    }
  })

  it('accepts any encoding, with and without a trailing slash', async () => {
    for (const encoding of ['json', 'form', 'multipart'] as const) {
      for (const slash of ['', '/']) {
        const [here, there] = await two(server)
        const url = `/api/v2.1/repos/sync-batch-copy-item${slash}`
        const sent = batch(here, ['a.txt', 'b.txt'], there, '/')
        assertReply(await here.client.post(url, { [encoding]: sent }), 200, DONE)
        assert.deepEqual(await there.names(), ['in', 'a.txt', 'b.txt'])
      }
    }
  })

  it('does nothing when entries are moved to their own folder, and copies them beside the originals', async () => {
    const [here] = await two(server)
    const head = await here.head()
    assertReply(await syncBatch(here.client, 'move', batch(here, ['a.txt', 'd'], here, '/')), 200, DONE)
    assert.equal(await here.head(), head)
    assertReply(await syncBatch(here.client, 'copy', batch(here, ['a.txt', 'd'], here, '/')), 200, DONE)
    assert.deepEqual(await here.names(), ['d', 'd (1)', 'in', 'a (1).txt', 'a.txt', 'b.txt'])
  })

  it('validates in the documented order, and changes nothing on a rejection', async () => {
    const [here, there] = await two(server)
    const theirs = await Workspace.make(server)
    const heads = [await here.head(), await there.head(), await theirs.head()]
    const good = batch(here, ['a.txt'], there, '/in')
    const nowhere = { ...good, src_parent_dir: '/none', dst_repo_id: UNKNOWN, dst_parent_dir: '/none' }
    const rows: [body: unknown, status: number, text: string][] = [
      [{}, 400, 'src_repo_id invalid.'],
      [{ ...good, src_repo_id: '' }, 400, 'src_repo_id invalid.'],
      [{ ...good, src_parent_dir: undefined, src_dirents: [] }, 400, 'src_parent_dir invalid.'],
      [{ ...good, src_dirents: [], dst_repo_id: '' }, 400, 'src_dirents invalid.'],
      [{ ...good, src_dirents: undefined }, 400, 'src_dirents invalid.'],
      [{ ...good, src_dirents: [{ name: 'a.txt' }] }, 400, 'src_dirents invalid.'],
      [{ ...good, src_dirents: ['a.txt', null] }, 400, 'src_dirents invalid.'],
      [{ ...good, dst_repo_id: undefined, dst_parent_dir: '' }, 400, 'dst_repo_id invalid.'],
      [{ ...good, dst_parent_dir: '' }, 400, 'dst_parent_dir invalid.'],
      [{ ...nowhere, src_repo_id: UNKNOWN }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...nowhere, src_repo_id: 'x' }, 404, 'Library x not found.'],
      [nowhere, 404, 'Folder /none not found.'],
      [{ ...nowhere, src_parent_dir: '/' }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, dst_parent_dir: '/gone/' }, 404, 'Folder /gone/ not found.'],
      [{ ...good, src_parent_dir: '/a.txt' }, 404, 'Folder /a.txt not found.'],
      [batch(here, ['a.txt'], theirs, '/'), 403, 'Permission denied.'],
      [batch(theirs, ['a.txt'], here, '/'), 403, 'Permission denied.'],
      [batch(here, ['none'], there, '/in'), 404, 'none not found.'],
      [batch(here, ['a.txt', 'none', 'b.txt'], here, '/in'), 404, 'none not found.'],
      [batch(here, ['none'], here, '/'), 404, 'none not found.'],
      [batch(here, ['d', 'a.txt'], here, '/d'), 400, 'Can not move folder /d to its subfolder /d'],
      [batch(here, ['a.txt', 'd'], here, '/d/sub/'), 400, 'Can not move folder /d to its subfolder /d/sub'],
    ]
    for (const operation of OPERATIONS) {
      for (const [body, status, text] of rows) {
        assertError(await syncBatch(here.client, operation, body), status, text, JSON.stringify(body))
      }
    }
    assert.deepEqual([await here.head(), await there.head(), await theirs.head()], heads)
  })

  it('rejects invalid names and paths', async () => {
    const [here, there] = await two(server)
    const heads = [await here.head(), await there.head()]
    for (const operation of OPERATIONS) {
      for (const text of [...HOSTILE, '/a'.repeat(10_000)]) {
        for (const body of [
          batch(here, [text], there, '/in'),
          batch(here, [text], here, '/in'),
          { ...batch(here, ['a.txt'], there, '/in'), src_repo_id: text },
          { ...batch(here, ['a.txt'], there, '/in'), dst_repo_id: text },
          batch(here, ['none'], there, '/in', text),
          batch(here, ['none'], there, text),
        ]) {
          const { status } = await syncBatch(here.client, operation, body)
          assert.ok(status === 404 || status === 400, `${status} for ${JSON.stringify(body).slice(0, 300)}`)
        }
      }
      for (const body of [[], 'text', 7, null, [batch(here, ['a.txt'], there, '/in')]]) {
        assert.equal((await syncBatch(here.client, operation, body)).status, 400)
      }
    }
    assert.deepEqual([await here.head(), await there.head()], heads)
  })

  it('neither moves an entry that another account has locked nor its folder, but copies it', async () => {
    const [here, there] = await two(server)
    const other = await server.signUp()
    await here.lockFor('/a.txt', other)
    await here.lockFor('/d/sub/y', other)
    await here.lockFor('/b.txt', here.client)
    const heads = [await here.head(), await there.head()]
    for (const to of [here, there]) {
      const named = await syncBatch(here.client, 'move', batch(here, ['b.txt', 'a.txt'], to, '/in'))
      assertError(named, 403, 'File a.txt is locked.')
      const above = await syncBatch(here.client, 'move', batch(here, ['d'], to, '/in'))
      assertError(above, 403, 'File y is locked.')
    }
    assert.deepEqual([await here.head(), await there.head()], heads)
    assertReply(await syncBatch(here.client, 'copy', batch(here, ['a.txt', 'd'], there, '/in')), 200, DONE)
    assertReply(await syncBatch(here.client, 'move', batch(here, ['b.txt'], here, '/in')), 200, DONE)
    const listing = await here.client.get(here.v2('dir/'), { p: '/in' })
    const moved = listing.body.find((entry: { name: string }) => entry.name === 'b.txt')
    assert.equal(moved.is_locked, true, 'a lock follows its file within one library')
  })

  it('moves stars along with the entries', async () => {
    const [here] = await two(server)
    for (const path of ['/a.txt', '/d/sub/y', '/b.txt']) {
      const reply = await here.client.post('/api/v2.1/starred-items/', { form: { repo_id: here.id, path } })
      assert.equal(reply.status, 200, reply.text)
    }
    assertReply(await syncBatch(here.client, 'move', batch(here, ['a.txt', 'd'], here, '/in')), 200, DONE)
    const starred = (await here.client.get('/api/v2.1/starred-items/')).body.starred_item_list
    const paths = starred.map((item: { path: string }) => item.path)
    assert.deepEqual(paths.sort(), ['/b.txt', '/in/a (1).txt', '/in/d/sub/y'])
  })

  it('requires write permission on the side it changes', async () => {
    const [here, there] = await two(server)
    await here.makeReadOnly()
    const out = batch(here, ['a.txt'], there, '/')
    assertReply(await syncBatch(here.client, 'copy', out), 200, DONE)
    assertError(await syncBatch(here.client, 'move', out), 403, 'Permission denied.')
    const into = batch(there, ['a.txt'], here, '/')
    for (const operation of OPERATIONS) {
      assertError(await syncBatch(here.client, operation, into), 403, 'Permission denied.')
    }
  })

  it('never copies encrypted content undecryptable into another library', async () => {
    const [here, there] = await two(server)
    const reply = await here.client.post('/api2/repos/', { form: { name: 'Secret', passwd: 'a password' } })
    const secret = new Workspace(server, here.client, reply.body.repo_id)
    await secret.file('/s.txt')
    await secret.folder('/in')
    const text = 'This library has not been decrypted.'
    for (const operation of OPERATIONS) {
      assertError(await syncBatch(here.client, operation, batch(here, ['a.txt'], secret, '/')), 403, text)
      assertError(await syncBatch(here.client, operation, batch(secret, ['s.txt'], there, '/')), 403, text)
      assertReply(await syncBatch(here.client, operation, batch(secret, ['s.txt'], secret, '/in')), 200, DONE)
    }
  })

  it('rejects a copy that exceeds the quota of the owner', async () => {
    const [here, there] = await two(server)
    await server.running.services.accounts.update(here.client.email, { quota: 10 }, undefined)
    await setLibrary(server, there, 'size = 10')
    const text = 'Out of quota.'
    assertError(await syncBatch(here.client, 'copy', batch(here, ['a.txt'], there, '/')), 443, text)
    assertError(await syncBatch(here.client, 'move', batch(here, ['a.txt'], there, '/')), 443, text)
    assertError(await syncBatch(here.client, 'copy', batch(here, ['a.txt'], here, '/in')), 443, text)
    assertReply(await syncBatch(here.client, 'move', batch(here, ['a.txt'], here, '/in')), 200, DONE)
  })

  it('lets exactly one of many concurrent moves of an entry succeed', async () => {
    for (const across of [false, true]) {
      const [here, there] = await two(server)
      const targets = ['/in', '/d', '/in', '/d']
      if (across) await there.folder('/d')
      const target = across ? there : here
      const replies = await Promise.all(
        targets.map((folder) => syncBatch(here.client, 'move', batch(here, ['a.txt'], target, folder))),
      )
      const statuses = replies.map((reply) => reply.status)
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
      for (const status of statuses) assert.ok([200, 404, 409].includes(status), statuses.join())
      assert.equal((await here.names()).includes('a.txt'), false)
      if (!across) assert.equal((await here.names('/in')).length + (await here.names('/d')).length, 4)
    }
  })

  it('accepts thousands of names in one call', async () => {
    const count = rounds(1_000, 2_500, 10_000)
    const [here, there] = await two(server)
    const names = Array.from({ length: count }, (_, n) => `a file with a rather long name, number ${n}`)
    const paths = names.map((name) => `/many/${name}`)
    const made = await here.client.post('/api/v2.1/repos/batch-create-dir/', {
      json: { repo_id: here.id, paths },
    })
    assert.equal(made.body.success.length, count)
    assertReply(await syncBatch(here.client, 'move', batch(here, names, here, '/in', '/many')), 200, DONE)
    assertReply(await syncBatch(here.client, 'copy', batch(here, names, there, '/in', '/in')), 200, DONE)
    assert.equal((await there.names('/in')).length, count + 1)
    const json = { repo_id: here.id, parent_dir: '/in', dirents: names }
    assert.equal((await here.client.delete('/api/v2.1/repos/batch-delete-item/', { json })).status, 200)
    assert.deepEqual(await here.names('/in'), ['a.txt'])
    assert.equal(await here.lastCommit(), `Deleted "${names[0]}" and ${count - 1} more files`)
  })

  it('answers other requests while it processes 10,000 names', async () => {
    const [here, there] = await two(server)
    const names = Array.from({ length: 10_000 }, (_, n) => `a file with a rather long name, number ${n}`)
    await fill(server, here, '/d', names)
    const dirents = { repo_id: here.id, parent_dir: '/in', dirents: names }
    const calls: (() => Promise<Reply>)[] = [
      () => syncBatch(here.client, 'copy', batch(here, names, there, '/in', '/d')),
      () => syncBatch(here.client, 'move', batch(here, names, here, '/in', '/d')),
      () => here.client.delete('/api/v2.1/repos/batch-delete-item/', { json: dirents }),
    ]
    for (const [index, call] of calls.entries()) {
      const state = { isOver: false }
      const reply = call().finally(() => {
        state.isOver = true
      })
      let pings = 0
      for (; !state.isOver; pings++) assert.equal((await server.anonymous.get('/api2/ping/')).status, 200)
      assert.equal((await reply).status, 200, (await reply).text)
      assert.ok(pings >= 5, `call ${index}: ${pings} pings were answered meanwhile`)
    }
  })

  it('requires a token', async () => {
    for (const operation of OPERATIONS) {
      const url = `/api/v2.1/repos/sync-batch-${operation}-item/`
      const detail = 'Authentication credentials were not provided.'
      assertReply(await server.anonymous.post(url, { json: {} }), 403, { detail })
      const headers = { Authorization: 'Token 0000000000000000000000000000000000000000' }
      assert.equal((await server.anonymous.post(url, { json: {}, headers })).status, 401)
    }
  })
})

describe('batch delete', () => {
  const URL = '/api/v2.1/repos/batch-delete-item/'
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => NOON })
  })
  after(async () => server[Symbol.asyncDispose]())

  it('deletes existing entries in one commit and returns the commit that still has them', async () => {
    const rows = [
      [['a.txt', 'none', 'd', 'b.txt', 'a.txt'], 'Deleted "a.txt" and 2 more files', ['in']],
      [['a.txt'], 'Deleted "a.txt"', ['d', 'in', 'b.txt']],
      [['d'], 'Removed directory "d"', ['in', 'a.txt', 'b.txt']],
    ] as const
    for (const [dirents, text, left] of rows) {
      for (const encoding of ['json', 'form', 'multipart'] as const) {
        const [here] = await two(server)
        const commit_id = await here.head()
        const sent = { repo_id: here.id, parent_dir: '/', dirents }
        const reply = await here.client.delete(URL, { [encoding]: sent })
        assertReply(reply, 200, { success: true, commit_id })
        assert.deepEqual(await here.names(), left)
        assert.equal(await here.lastCommit(), text)
      }
    }
  })

  it('creates no commit if none of the entries exists', async () => {
    const [here] = await two(server)
    const commit_id = await here.head()
    for (const name of ['none', ...HOSTILE.filter((text) => !text.includes('\0') && text.isWellFormed())]) {
      const json = { repo_id: here.id, parent_dir: '/', dirents: [name] }
      assertReply(await here.client.delete(URL, { json }), 200, { success: true, commit_id }, name)
    }
    assert.equal(await here.head(), commit_id)
  })

  it('validates in the documented order, and changes nothing on a rejection', async () => {
    const [here] = await two(server)
    const theirs = await Workspace.make(server)
    const other = await server.signUp()
    await here.lockFor('/a.txt', other)
    await here.lockFor('/d/sub/y', other)
    const head = await here.head()
    const good = { repo_id: here.id, parent_dir: '/', dirents: ['b.txt'] }
    const rows: [body: object, status: number, text: string][] = [
      [{}, 400, 'repo_id invalid.'],
      [{ ...good, repo_id: '', parent_dir: '' }, 400, 'repo_id invalid.'],
      [{ ...good, parent_dir: '', dirents: [] }, 400, 'parent_dir invalid.'],
      [{ ...good, dirents: [] }, 400, 'dirents invalid.'],
      [{ ...good, dirents: [['b.txt']] }, 400, 'dirents invalid.'],
      [{ ...good, dirents: ['b.txt', 'a\0'] }, 400, 'dirents invalid.'],
      [{ ...good, repo_id: UNKNOWN, parent_dir: '/none' }, 404, `Library ${UNKNOWN} not found.`],
      [{ ...good, parent_dir: '/none/' }, 404, 'Folder /none/ not found.'],
      [{ ...good, parent_dir: '/../' }, 404, 'Folder /../ not found.'],
      [{ ...good, repo_id: theirs.id }, 403, 'Permission denied.'],
      [{ ...good, dirents: ['b.txt', 'a.txt'] }, 423, 'File a.txt is locked.'],
      [{ ...good, dirents: ['b.txt', 'd'] }, 423, 'File y is locked.'],
    ]
    for (const [json, status, text] of rows) {
      assertError(await here.client.delete(URL, { json }), status, text, JSON.stringify(json))
    }
    await here.makeReadOnly()
    assertError(await here.client.delete(URL, { json: good }), 403, 'Permission denied.')
    assert.equal(await here.head(), head)
  })

  it('requires a token', async () => {
    assert.equal((await server.anonymous.delete(URL, { json: {} })).status, 403)
  })
})
