import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import type { Client } from '../support/client.ts'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const program = findProgram('seaf-cli')
const ANN = { email: 'ann@example.org', password: 'a long password' }

let server: TestServer
let ann: Client
let folder: string
const clients: SeafClient[] = []
before(async () => {
  server = await startServer()
  ann = await server.signUp(ANN)
  folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  if (program === undefined) return
  for (const name of ['a', 'b']) {
    clients.push(await SeafClient.start(program, path.join(folder, name), { url: server.url, ...ANN }))
  }
})
after(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const files = {
  'empty.txt': Buffer.alloc(0),
  'sixteen bytes.bin': randomBytes(16),
  'small.txt': Buffer.from('kept from whoever runs the server\n'),
  'many blocks.bin': randomBytes(21_000_000),
}

/** The tree of a client's folder, once the web API gives the very bytes the client has. */
async function whatTheWebGives(library: string, root: string): Promise<void> {
  for (const [name, is] of Object.entries(await treeOf(root))) {
    if (is === 'folder') continue
    const given = await download(ann, library, `/${name}`)
    assert.ok(given.equals(await readFile(path.join(root, name))), `${name} differs`)
  }
}

it('syncs a folder of an encrypted library by itself, with the password of the library', async (t) => {
  const [a] = clients
  if (a === undefined) return t.skip('seaf-cli is not installed')
  const password = 'an old pässword'
  const { id } = await createEncrypted(ann, 2, password)
  await openEncrypted(ann, id, password)
  await uploadFile(ann, id, '/docs/by the web.txt', 'kept from whoever runs the server')
  const made = await ann.get(`/api2/repos/${id}/dir/sub_repo/`, { p: '/docs', name: 'docs', password })
  assert.equal(made.status, 200, made.text)
  const view = made.body.sub_repo_id
  const into = path.join(folder, 'a', 'views')
  await mkdir(into)
  await assert.rejects(a.clone(view, into, 'not the password'))
  await a.clone(view, into, password)
  const left = path.join(into, 'docs')
  await until('the file of the library', [a], async () => {
    assert.equal(
      await readFile(path.join(left, 'by the web.txt'), 'utf8'),
      'kept from whoever runs the server',
    )
  })
  await writeFile(path.join(left, 'by the client.bin'), files['many blocks.bin'])
  await until('the file of the client', [a], async () => {
    const { body } = await ann.get(`/api2/repos/${id}/dir/`, { p: '/docs' })
    assert.ok(body.some(({ name }: { name: string }) => name === 'by the client.bin'))
  })
  assert.ok((await download(ann, id, '/docs/by the client.bin')).equals(files['many blocks.bin']))
})

const makers = {
  'by the server, from a password': (name: string, password: string) =>
    (clients[0] as SeafClient).create(name, password),
  'by a client that chose the keys': async (name: string, password: string) => {
    const { id } = await createEncrypted(ann, 2, password)
    const reply = await ann.post(`/api2/repos/${id}/`, { query: { op: 'rename' }, form: { repo_name: name } })
    assert.equal(reply.status, 200, reply.text)
    return id
  },
}

for (const [how, make] of Object.entries(makers)) {
  it(`syncs an encrypted library made ${how}, through a change of its password`, async (t) => {
    const [a, b] = clients
    if (a === undefined || b === undefined) return t.skip('seaf-cli is not installed')
    const name = how.startsWith('by the server') ? 'Theirs' : 'Ours'
    const [older, newer] = ['an old pässword', 'a newer pässword']
    const library = await make(name, older)
    const [left, right] = [path.join(folder, 'a', name), path.join(folder, 'b', name)]
    await mkdir(left)
    for (const [file, bytes] of Object.entries(files)) await writeFile(path.join(left, file), bytes)
    await a.join(library, left, older)
    await assert.rejects(b.clone(library, path.dirname(right), 'not the password'))
    await b.clone(library, path.dirname(right), older)
    const same = (what: string, names: readonly string[]) =>
      until(what, [a, b], async () => {
        const tree = await treeOf(left)
        for (const one of names) assert.ok(one in tree, one)
        assert.deepEqual(await treeOf(right), tree)
      })
    await same('the files of the first', Object.keys(files))
    await openEncrypted(ann, library, older)
    await whatTheWebGives(library, left)

    await uploadFile(ann, library, '/by the web.bin', randomBytes(3_000_000))
    await writeFile(path.join(right, 'by the second.txt'), 'from the other side')
    await same('files of the web and of the second', ['by the web.bin', 'by the second.txt'])
    await whatTheWebGives(library, right)

    const url = `/api/v2.1/repos/${library}/set-password/`
    const change = await ann.put(url, { form: { old_password: older, new_password: newer } })
    assert.equal(change.status, 200, change.text)
    const sync = await SyncClient.link(ann, library)
    const keys = async () => {
      const { magic, key } = await sync.commit(await sync.head())
      return { magic, key }
    }
    const changed = await keys()
    // Both clients still know the old check value and write it into the commits they push.
    await writeFile(path.join(left, 'after.txt'), 'by the first, who knows the old password')
    await writeFile(path.join(right, 'after too.txt'), 'by the second')
    await same('files written after the change', ['after.txt', 'after too.txt'])
    assert.deepEqual(await keys(), changed)
    const old = await ann.post(url, { form: { password: older } })
    assert.equal(old.status, 400, old.text)
    await openEncrypted(ann, library, newer)
    await whatTheWebGives(library, left)

    // Who comes later opens it with the new password alone.
    const again = path.join(folder, 'again', name)
    await mkdir(again, { recursive: true })
    await b.run('desync', '-d', right)
    await assert.rejects(b.clone(library, again, older))
    await b.clone(library, again, newer)
    await until('a clone with the new password', [b], async () => {
      assert.deepEqual(await treeOf(path.join(again, name)), await treeOf(left))
    })
  })
}
