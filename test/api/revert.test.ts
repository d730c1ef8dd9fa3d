import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dbOf } from '../../src/libraries/library/core.ts'
import { type CallOptions, Client, type Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { headOf, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { assertError, assertReply, NOON, Workspace } from './folders-support.ts'

const NO_COMMIT = 'c'.repeat(40)
const UNKNOWN = '11111111-2222-4333-8444-555555555555'
const DONE = { success: true }
let clock = NOON
let server: TestServer
let stranger: Client
before(async () => {
  server = await startServer({ now: () => clock })
  stranger = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

const put = (space: Workspace, path: string, text: string) =>
  uploadFile(space.client, space.id, path, text, { replace: true })
const read = async (space: Workspace, path: string) => String(await storedBytes(server, space.id, path))
const remove = async (space: Workspace, kind: 'file' | 'dir', p: string) => {
  const reply = await space.client.delete(space.v21(`${kind}/`), { query: { p } })
  assert.equal(reply.status, 200, reply.text)
}

/** Both API generations of a call, by the kind they revert. */
const generations = ['PUT', 'POST'] as const
type Generation = (typeof generations)[number]

function revert(
  space: Workspace,
  kind: 'file' | 'dir',
  generation: Generation,
  p: string,
  commit_id: string,
  client = space.client,
): Promise<Reply> {
  if (generation === 'PUT') return client.put(space.v2(`${kind}/revert/`), { form: { p, commit_id } })
  return client.post(space.v21(`${kind}/`), { query: { p }, form: { operation: 'revert', commit_id } })
}

for (const generation of generations) {
  describe(`reverting a file with ${generation}`, () => {
    let space: Workspace
    let first: string
    before(async () => {
      clock = NOON
      space = await Workspace.make(server)
      await put(space, '/d/a.txt', 'one')
      first = await space.head()
      clock += 60
      await put(space, '/d/a.txt', 'second')
    })

    it('restores its earlier content by a commit that names the time', async () => {
      clock += 60
      assertReply(await revert(space, 'file', generation, '/d/a.txt', first), 200, DONE)
      assert.equal(await read(space, '/d/a.txt'), 'one')
      assert.equal(await space.lastCommit(), 'Reverted file "a.txt" to status at 2025-07-31 22:13:20')
      const detail = await space.client.get(space.v2('file/detail/'), { p: '/d/a.txt' })
      assert.deepEqual([detail.body.mtime, detail.body.size], [clock, 3])
      assert.equal(detail.body.last_modifier_email, space.client.email)
      const { body } = await space.client.get(space.v2(''))
      assert.equal(body.size, 3)
    })

    it('creates no commit if the content is unchanged', async () => {
      const head = await space.head()
      assertReply(await revert(space, 'file', generation, 'd/a.txt/', first), 200, DONE)
      assert.equal(await space.head(), head)
    })

    it('restores it with its parent folders', async () => {
      await remove(space, 'dir', '/d')
      assertReply(await revert(space, 'file', generation, '/d/a.txt', first), 200, DONE)
      assert.equal(await read(space, '/d/a.txt'), 'one')
    })

    it('adds it under another name if a folder has its name now', async () => {
      await remove(space, 'file', '/d/a.txt')
      await space.folder('/d/a.txt')
      assertReply(await revert(space, 'file', generation, '/d/a.txt', first), 200, DONE)
      assert.deepEqual(await namesIn(space.client, space.id, '/d'), ['a (1).txt', 'a.txt/'])
      await remove(space, 'dir', '/d')
    })

    it('is rejected if a file has the path of its folder, and changes nothing', async () => {
      await put(space, '/d', 'in the way')
      const head = await space.head()
      const reply = await revert(space, 'file', generation, '/d/a.txt', first)
      assert.equal(reply.status, 404)
      assert.equal(await space.head(), head)
      await remove(space, 'file', '/d')
    })

    it('is rejected while another account has it locked, and allowed for the holder', async () => {
      await put(space, '/locked', '1')
      const commit = await space.head()
      await put(space, '/locked', '2')
      await space.lockFor('/locked', stranger)
      const head = await space.head()
      assertError(await revert(space, 'file', generation, '/locked', commit), 403, 'File is locked')
      assert.equal(await space.head(), head)
      await put(space, '/mine', '1')
      const mine = await space.head()
      await put(space, '/mine', '2')
      await space.lockFor('/mine', space.client)
      assertReply(await revert(space, 'file', generation, '/mine', mine), 200, DONE)
    })

    it('is rejected beyond the quota', async () => {
      const other = await Workspace.make(server)
      await put(other, '/big', 'x'.repeat(1000))
      const commit = await other.head()
      await put(other, '/big', 'x')
      await setQuota(other.client, 900)
      const head = await other.head()
      assertError(await revert(other, 'file', generation, '/big', commit), 443, 'Out of quota.')
      assert.equal(await other.head(), head)
      await setQuota(other.client, 5000)
      assertReply(await revert(other, 'file', generation, '/big', commit), 200, DONE)
    })
  })

  describe(`reverting a folder with ${generation}`, () => {
    let space: Workspace
    let first: string
    before(async () => {
      clock = NOON
      space = await Workspace.make(server)
      await put(space, '/p/v1.2/a', 'one')
      await put(space, '/p/v1.2/in/b', 'three')
      first = await space.head()
    })

    it('creates no commit if the content is unchanged', async () => {
      assertReply(await revert(space, 'dir', generation, '/p/v1.2', first), 200, DONE)
      assert.equal(await space.head(), first)
    })

    it('restores it beside the existing one, numbered after the whole name', async () => {
      await put(space, '/p/v1.2/c', 'new')
      for (const name of ['v1.2 (1)', 'v1.2 (2)']) {
        assertReply(await revert(space, 'dir', generation, '/p/v1.2/', first), 200, DONE)
        assert.deepEqual(await namesIn(space.client, space.id, `/p/${name}`), ['a', 'in/'])
      }
      assert.equal(await space.lastCommit(), 'Recovered deleted directory "v1.2"')
      assert.deepEqual(await namesIn(space.client, space.id, '/p/v1.2'), ['a', 'c', 'in/'])
    })

    it('restores it with its parent folders', async () => {
      await remove(space, 'dir', '/p')
      assertReply(await revert(space, 'dir', generation, '/p/v1.2', first), 200, DONE)
      assert.deepEqual(await namesIn(space.client, space.id, '/p'), ['v1.2/'])
      assert.equal(await read(space, '/p/v1.2/in/b'), 'three')
      const { body } = await space.client.get(space.v21('dir/detail/'), { path: '/p' })
      assert.deepEqual([body.size, body.file_count], [8, 2])
    })

    it('adds it under another name if a file has its name now', async () => {
      await remove(space, 'dir', '/p/v1.2')
      await put(space, '/p/v1.2', 'a file')
      assertReply(await revert(space, 'dir', generation, '/p/v1.2', first), 200, DONE)
      assert.deepEqual(await namesIn(space.client, space.id, '/p'), ['v1.2', 'v1.2 (1)/'])
    })

    it('is rejected beyond the quota', async () => {
      const other = await Workspace.make(server)
      await put(other, '/f/big', 'x'.repeat(1000))
      const commit = await other.head()
      await remove(other, 'dir', '/f')
      await setQuota(other.client, 900)
      const head = await other.head()
      assertError(await revert(other, 'dir', generation, '/f', commit), 443, 'Out of quota.')
      assert.equal(await other.head(), head)
    })
  })
}

describe('a revert of a file or folder', () => {
  let space: Workspace
  let commit: string
  before(async () => {
    clock = NOON
    space = await Workspace.make(server)
    await put(space, '/d/a', 'x')
    commit = await space.head()
  })

  const hostile = [
    '/none',
    '..',
    '/d/../d',
    'a\u0000b',
    '\ud800',
    'x'.repeat(300),
    'a/'.repeat(10_000),
    '__proto__',
  ]
  for (const p of hostile) {
    it(`returns 404 for ${JSON.stringify(p).slice(0, 30)}`, async () => {
      for (const kind of ['file', 'dir']) {
        const reply = await space.client.put(space.v2(`${kind}/revert/`), { json: { p, commit_id: commit } })
        assert.equal(reply.status, 404)
        assert.match(reply.body.error_msg, kind === 'file' ? /^file [\s\S]* not found\.$/ : /^folder /)
      }
      assert.equal(await space.head(), commit)
    })
  }

  const rows: [kind: string, sent: Record<string, unknown>, status: number, older: string, newer?: string][] =
    [
      ['file', { commit_id: NO_COMMIT }, 400, 'path invalid.', 'p invalid.'],
      ['file', { p: '', commit_id: NO_COMMIT }, 400, 'path invalid.', 'p invalid.'],
      ['file', { p: '/d/a' }, 400, 'commit_id invalid.'],
      ['file', { p: '/d/a', commit_id: '' }, 400, 'commit_id invalid.'],
      ['file', { p: '/d/a', commit_id: 'C'.repeat(40) }, 400, 'commit_id invalid.'],
      [
        'file',
        { p: '/d/a', commit_id: NO_COMMIT },
        404,
        'file /d/a not found.',
        `Commit ${NO_COMMIT} not found.`,
      ],
      ['dir', { p: '/' }, 400, 'path invalid.', 'Can not operate root dir.'],
      ['dir', { p: '/d' }, 400, 'commit_id invalid.'],
      [
        'dir',
        { p: '/d', commit_id: NO_COMMIT },
        404,
        'folder /d not found.',
        `Commit ${NO_COMMIT} not found.`,
      ],
    ]
  for (const [kind, sent, status, older, newer] of rows) {
    it(`is rejected for a ${kind} with ${JSON.stringify(sent).slice(0, 60)}`, async () => {
      const { p, commit_id } = sent as Record<string, string>
      for (const options of bodies({ p, commit_id })) {
        assertError(await space.client.put(space.v2(`${kind}/revert/`), options), status, older)
        assertError(await space.client.put(space.v2(`${kind}/revert`), options), status, older)
      }
      for (const options of bodies({ operation: 'revert', commit_id })) {
        const reply = await space.client.post(space.v21(`${kind}/`), { query: { p }, ...options })
        assertError(reply, status, newer ?? older)
      }
      assert.equal(await space.head(), commit)
    })
  }

  it('does not accept a file as a folder or a folder as a file', async () => {
    assertError(await revert(space, 'file', 'PUT', '/d', commit), 404, 'file /d not found.')
    assertError(await revert(space, 'file', 'POST', '/d', commit), 404, 'File /d not found.')
    assertError(await revert(space, 'dir', 'PUT', '/d/a', commit), 404, 'folder /d/a not found.')
    assertError(await revert(space, 'dir', 'POST', '/d/a', commit), 404, 'Folder /d/a not found.')
  })

  it('rejects a commit of another library, and one that the history no longer shows', async () => {
    const other = await Workspace.make(server, space.client)
    await put(other, '/d/a', 'y')
    assertError(await revert(space, 'file', 'PUT', '/d/a', await other.head()), 404, 'file /d/a not found.')
    const old = await other.head()
    await put(other, '/d/b', '1')
    await put(other, '/d/b', '2')
    await remove(other, 'file', '/d/a')
    await other.client.put(other.v2('history-limit/'), { form: { keep_days: 0 } })
    assertError(await revert(other, 'file', 'POST', '/d/a', old), 404, `Commit ${old} not found.`)
    assertError(await revert(other, 'dir', 'POST', '/d', old), 404, `Commit ${old} not found.`)
  })

  it('requires a token, access, write permission and an existing library', async () => {
    for (const [kind, p] of [
      ['file', '/d/a'],
      ['dir', '/d'],
    ] as const) {
      for (const generation of generations) {
        const call = (client: Client, of = space) => revert(of, kind, generation, p, commit, client)
        assert.equal((await call(server.anonymous)).status, 403)
        assert.equal((await call(new Client(server.url, 'x'))).status, 401)
        assertError(await call(stranger), 403, 'Permission denied.')
        const gone = new Workspace(server, space.client, UNKNOWN)
        const word = generation === 'PUT' ? 'library' : 'Library'
        assertError(await call(space.client, gone), 404, `${word} ${UNKNOWN} not found.`)
      }
    }
    const frozen = await Workspace.make(server)
    await put(frozen, '/d/a', 'x')
    const head = await frozen.head()
    await put(frozen, '/d/a', 'y')
    await frozen.makeReadOnly()
    for (const generation of generations) {
      assertError(await revert(frozen, 'file', generation, '/d/a', head), 403, 'Permission denied.')
      assertError(await revert(frozen, 'dir', generation, '/d', head), 403, 'Permission denied.')
    }
    assertError(await revertLibrary(frozen, head), 403, 'Permission denied.')
  })
})

describe('reverting a library', () => {
  let space: Workspace
  let first: string
  before(async () => {
    clock = NOON
    space = await Workspace.make(server)
    await put(space, '/d/a', 'one')
    await put(space, '/b', 'four')
    first = await space.head()
    clock += 60
    await put(space, '/d/a', 'changed')
    await remove(space, 'file', '/b')
    await put(space, '/c', 'new')
  })

  it('restores the whole earlier content as a new commit', async () => {
    const size = (await space.client.get(space.v2(''))).body.size
    assert.equal(size, 10)
    assertReply(await revertLibrary(space, first), 200, DONE)
    assert.deepEqual(await namesIn(space.client, space.id), ['b', 'd/'])
    assert.equal(await read(space, '/d/a'), 'one')
    const info = await space.client.get(space.v2(''))
    assert.deepEqual([info.body.size, info.body.file_count], [7, 2])
    assert.equal(await space.lastCommit(), 'Reverted library to status at 2025-07-31 22:13:20.')
    const older = await space.client.get(space.v2('history/'), { per_page: 1 })
    assert.equal(older.body.commits[0].desc, 'Reverted library to status at 2025-07-31 22:13:20.')
    const trash = await space.client.get(space.v21('trash2/'))
    assert.deepEqual(
      trash.body.items.map((item: { obj_name: string }) => item.obj_name),
      ['c'],
    )
  })

  it('creates no commit if the content is unchanged', async () => {
    const head = await space.head()
    assertReply(await revertLibrary(space, first), 200, DONE)
    assertReply(await revertLibrary(space, head), 200, DONE)
    assert.equal(await space.head(), head)
  })

  it('describes the changes', async () => {
    const reply = await space.client.get(space.v21(`commits/${await space.head()}/`))
    assert.deepEqual(reply.body.commit_diffs, [
      { op_type: 'new', path: '/b', new_path: '' },
      { op_type: 'removed', path: '/c', new_path: '' },
      { op_type: 'modified', path: '/d/a', new_path: '' },
    ])
  })

  it('can restore the empty state, and the full one again', async () => {
    const full = await space.head()
    const history = await space.client.get(space.v21('history/'))
    const created = history.body.data.at(-1).commit_id
    assertReply(await revertLibrary(space, created), 200, DONE)
    assert.deepEqual(await namesIn(space.client, space.id), [])
    assert.equal((await space.client.get(space.v2(''))).body.size, 0)
    assertReply(await revertLibrary(space, full), 200, DONE)
    assert.equal(await read(space, '/d/a'), 'one')
  })

  it('is rejected only if it would change a file that another account has locked', async () => {
    const other = await Workspace.make(server)
    await put(other, '/same', '1')
    await put(other, '/a', '1')
    const commit = await other.head()
    await put(other, '/a', '2')
    await other.lockFor('/same', stranger)
    await other.lockFor('/a', stranger)
    const head = await other.head()
    assertError(await revertLibrary(other, commit), 403, 'File is locked')
    assert.equal(await other.head(), head)
    const free = await Workspace.make(server)
    await put(free, '/same', '1')
    const before = await free.head()
    await put(free, '/mine', '2')
    await free.lockFor('/same', stranger)
    await free.lockFor('/mine', free.client)
    assertReply(await revertLibrary(free, before), 200, DONE)
    await put(free, '/mine', '3')
    const info = await free.client.get(free.v21('file/'), { p: '/mine' })
    assert.equal(info.body.is_locked, false, 'a lock is deleted with its file')
  })

  it('is rejected beyond the quota, unless it frees space', async () => {
    const other = await Workspace.make(server)
    await put(other, '/small', '1')
    const small = await other.head()
    await put(other, '/big', 'x'.repeat(1000))
    const big = await other.head()
    await setQuota(other.client, 500)
    assertReply(await revertLibrary(other, small), 200, DONE)
    assertError(await revertLibrary(other, big), 443, 'Out of quota.')
    assert.equal((await other.client.get(other.v2(''))).body.size, 1)
  })

  it('is rejected for a locked encrypted library', async () => {
    const other = await Workspace.make(server)
    const head = await other.head()
    const { core } = server.running.services
    await dbOf(core).write((tx) => tx.run('update library set enc_version = 2 where id = ?', other.id))
    assertError(await revertLibrary(other, head), 403, 'This library has not been decrypted.')
  })

  it('is rejected without access and for unknown commits', async () => {
    const head = await space.head()
    assertError(await revertLibrary(space, first, stranger), 403, 'Permission denied.')
    assert.equal((await revertLibrary(space, first, server.anonymous)).status, 403)
    assertError(await revertLibrary(space, NO_COMMIT), 404, `Commit ${NO_COMMIT} not found.`)
    assertError(await revertLibrary(space, 'x'), 404, 'Not found.')
    const gone = new Workspace(server, space.client, UNKNOWN)
    assertError(await revertLibrary(gone, first), 404, `Library ${UNKNOWN} not found.`)
    const other = await Workspace.make(server, space.client)
    const foreign = await other.head()
    assertError(await revertLibrary(space, foreign), 404, `Commit ${foreign} not found.`)
    await put(other, '/x', '1')
    await other.client.delete(other.v21('trash/'))
    assertError(await revertLibrary(other, foreign), 404, `Commit ${foreign} not found.`)
    assert.equal(await headOf(space.client, space.id), head)
  })
})

function revertLibrary(space: Workspace, commit: string, client = space.client): Promise<Reply> {
  return client.post(space.v21(`commits/${commit}/revert/`))
}

async function setQuota(client: Client, quota: number): Promise<void> {
  await server.running.services.accounts.update(client.email, { quota }, undefined)
}

function bodies(sent: Record<string, string | undefined>): CallOptions[] {
  return [{ form: sent }, { multipart: sent }, { json: sent }]
}
