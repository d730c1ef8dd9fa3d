import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { findProgram } from '../../bin/system-programs.ts'
import { importSeafile } from '../import/support.ts'
import { Client } from '../support/client.ts'
import { randomBytesFrom } from '../support/import-bytes.ts'
import { startProxy } from '../support/round-robin-proxy.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { SeafileServer } from '../support/seafile-layout.ts'
import { startServer } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const program = findProgram('seaf-cli')
const email = 'ann@example.org'
const password = 'a long password'

it('a folder that was synced with the old server keeps syncing, and downloads nothing again', async (t) => {
  if (program === undefined) return t.skip('seaf-cli is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const old = opened.use(await startServer())
  let target = new URL(old.url)
  const requests: string[] = []
  const proxy = opened.use(
    await startProxy(({ method, url }) => {
      requests.push(`${method} ${url}`)
      return target
    }),
  )
  const ann = await old.signUp({ email, password })
  const at = { url: proxy.url, email, password }
  const client = opened.use(await SeafClient.start(program, path.join(folder, 'client'), at))
  const library = await ann.createLibrary('Papers')
  const large = randomBytesFrom('imported', 3_000_000)
  await uploadFile(ann, library, '/sub/large.bin', large)
  await uploadFile(ann, library, '/a.txt', 'by the web')
  await client.clone(library, client.folder)
  const here = path.join(client.folder, 'Papers')
  const write = (name: string, text: string) => writeFile(path.join(here, name), text)
  /** The folder and a server have the same files, and these texts. */
  const same = (what: string, server: Client, texts: Record<string, string>) =>
    until(what, [client], async () => {
      const remote = await (await SyncClient.link(server, library)).clone()
      const local = Object.entries(await treeOf(here)).filter(([, kind]) => kind !== 'folder')
      const files = [...remote].flatMap(([name, bytes]) => (bytes === null ? [] : [name.slice(1)]))
      assert.deepEqual(local.map(([name]) => name).sort(), files.sort())
      for (const [name, text] of Object.entries(texts)) {
        assert.equal(await readFile(path.join(here, name), 'utf8'), text)
        assert.equal(String(remote.get(`/${name}`)), text)
      }
    })
  await same('the clone', ann, { 'a.txt': 'by the web' })
  await mkdir(path.join(here, 'by the client'))
  await write('by the client/b.txt', 'one')
  await same('a push', ann, { 'by the client/b.txt': 'one' })

  const source = new SeafileServer(path.join(folder, 'seafile'))
  source.addUser(email, { password })
  await copyLibrary(await SyncClient.link(ann, library), source)
  using properties = new DatabaseSync(path.join(client.folder, 'parent/seafile-data/repo.db'), {
    readOnly: true,
  })
  const token = properties
    .prepare("select value from RepoProperty where repo_id = ? and key = 'token'")
    .get(library)?.['value']
  source.add('RepoUserToken', { id: 1, repo_id: library, email, token: String(token) })
  const dump = await source.writeDump()

  const server = opened.use(await startServer())
  const done = await importSeafile(server, source.folder, '--sql', dump)
  assert.equal(done.code, 0, done.stderr + done.stdout)
  assert.equal(JSON.parse(done.stdout).syncTokens, 1)
  const before = await stat(path.join(here, 'sub/large.bin'))
  requests.length = 0
  target = new URL(server.url)
  const now = await Client.signIn(server.url, email, password)

  await write('by the client/b.txt', 'two')
  await write('c.txt', 'new')
  await same('a push to the new server', now, { 'by the client/b.txt': 'two', 'c.txt': 'new' })
  await uploadFile(now, library, '/d.txt', 'of the new server')
  await same('a change on the new server', now, { 'd.txt': 'of the new server', 'a.txt': 'by the web' })
  assert.match(await client.run('status'), /Papers\s+synchronized/)
  assert.deepEqual(await readFile(path.join(here, 'sub/large.bin')), large)
  const after = await stat(path.join(here, 'sub/large.bin'))
  assert.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs], 'the file was not written again')
  const blocks = [...new Set(requests.filter((one) => /^GET \S*\/block\//.test(one)))]
  assert.equal(blocks.length, 1, `only the new file was downloaded: ${blocks.join(', ')}`)
})

/** Writes a library as the old server has it on disk: all of its commits, objects and blocks as clients get them. */
async function copyLibrary(sync: SyncClient, source: SeafileServer): Promise<void> {
  const { library } = sync
  const head = await sync.head()
  const objects = new Map<string, Buffer>()
  for (let id: string | null = head; id !== null; ) {
    const commit = await sync.commit(id)
    source.put('commits', 1, library, commit.commit_id, () => Buffer.from(JSON.stringify(commit)))
    for (const [object, json] of await sync.fetchObjects(await sync.listIds(commit.commit_id))) {
      objects.set(object, json)
    }
    id = commit.parent_id
  }
  for (const [id, json] of objects) {
    source.put('fs', 1, library, id, () => deflateSync(json))
    for (const block of (JSON.parse(String(json)).block_ids ?? []) as string[]) {
      const bytes = await sync.bytes(`block/${block}`)
      source.put('blocks', 1, library, block, () => bytes)
    }
  }
  source.add('Repo', { id: 1, repo_id: library })
  source.add('RepoOwner', { id: 1, repo_id: library, owner_id: email })
  source.add('Branch', { id: 1, name: 'master', repo_id: library, commit_id: head })
}
