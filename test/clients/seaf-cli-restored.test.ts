import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import { type ChildServer, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { SeafClient, treeOf, until } from '../support/seaf-client.ts'
import { ADMIN } from '../support/server.ts'
import { SyncClient } from '../support/sync-client.ts'

const program = findProgram('seaf-cli')

it('a client that pushed after the backup loses nothing, and pushes again once it is synced again', async (t) => {
  if (program === undefined) return t.skip('seaf-cli is not installed')
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-seaf-'))
  const [data, target, restored] = ['data', 'backup', 'restored'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  let server: ChildServer = await spawnServer(data)
  const { url } = server
  await using opened = new AsyncDisposableStack()
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  opened.defer(() => server[Symbol.asyncDispose]())
  const signIn = () => Client.signIn(url, ADMIN.email, ADMIN.password)
  const client = opened.use(await SeafClient.start(program, path.join(folder, 'client'), { url, ...ADMIN }))
  const library = await (await signIn()).createLibrary('Notes')
  const here = path.join(folder, 'Notes')
  await mkdir(here)
  const write = (name: string, text: string) => writeFile(path.join(here, name), text)
  await write('a.txt', 'one')
  await write('gone.txt', 'deleted after the backup')
  await client.join(library, here)
  /** The server and the local folder have the same files; gives their texts by name. */
  const same = async (what: string, check: (texts: Record<string, string>) => void) => {
    const sync = await SyncClient.link(await signIn(), library)
    await until(what, [client], async () => {
      const texts = await textsOf(here)
      check(texts)
      const remote = [...(await sync.clone())].flatMap(([name, bytes]) =>
        bytes === null ? [] : [[name.slice(1), String(bytes)]],
      )
      assert.deepEqual(Object.fromEntries(remote), texts)
    })
  }
  await same('the first push', (texts) => assert.deepEqual(Object.keys(texts), ['a.txt', 'gone.txt']))
  const backup = await carrel(['backup', target, '--data', data])
  assert.equal(backup.code, 0, backup.stderr)

  await mkdir(path.join(here, 'folder'))
  await write('folder/new.txt', 'pushed after the backup')
  await write('a.txt', 'two')
  await rm(path.join(here, 'gone.txt'))
  const ahead = { 'a.txt': 'two', 'folder/new.txt': 'pushed after the backup' }
  await same('a push after the backup', (texts) => assert.deepEqual(texts, ahead))

  await server.kill()
  const run = await carrel(['restore', target, '--data', restored])
  assert.equal(run.code, 0, run.stderr)
  server = await spawnServer(restored, { CARREL_PORT: new URL(url).port })

  await t.test('it shows an error, and does not touch its files', async () => {
    await until('an error', [client], async () => {
      assert.deepEqual(await textsOf(here), ahead)
      assert.match(await client.run('status'), /Notes\s.*damaged/i)
    })
    assert.deepEqual(await textsOf(here), ahead)
  })

  await t.test('what is changed meanwhile waits, too', async () => {
    const before = await (await SyncClient.link(await signIn(), library)).head()
    await write('since.txt', 'written since')
    const refusals = async () => (await client.log()).split(/PUT .*commit\/HEAD.*: 445/).length
    await until('a refused push', [client], async () => assert.ok((await refusals()) > 1))
    assert.deepEqual(await textsOf(here), { ...ahead, 'since.txt': 'written since' })
    assert.equal(await (await SyncClient.link(await signIn(), library)).head(), before)
  })

  await t.test('synced again into the same folder, everything is kept on both sides', async () => {
    await client.run('desync', '-d', here)
    await client.join(library, here)
    await same('the merged state', (texts) => {
      assert.equal(texts['folder/new.txt'], 'pushed after the backup')
      assert.equal(texts['since.txt'], 'written since')
      assert.equal(texts['gone.txt'], 'deleted after the backup')
      const versions = Object.entries(texts).filter(([name]) => /^a( \(SFConflict .*\))?\.txt$/.test(name))
      assert.deepEqual(versions.map(([, text]) => text).sort(), ['one', 'two'])
    })
  })

  await t.test('and it pushes again', async () => {
    await write('later.txt', 'later')
    await same('a push', (texts) => assert.equal(texts['later.txt'], 'later'))
  })
})

/** The texts of the files below a folder, by name. */
async function textsOf(root: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [name, kind] of Object.entries(await treeOf(root))) {
    if (kind !== 'folder') texts[name] = await readFile(path.join(root, name), 'utf8')
  }
  return texts
}
