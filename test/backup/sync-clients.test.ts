import assert from 'node:assert/strict'
import path from 'node:path'
import { it } from 'node:test'
import { carrel } from '../support/command.ts'
import { startServer } from '../support/server.ts'
import { makeTree, SyncClient } from '../support/sync-client.ts'
import { temporaryFolder } from './support.ts'

it('clients that pushed after the backup push again after a restore, and nothing they have is lost', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  const data = path.join(folder.path, 'restored')
  const first = await (async () => {
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org' })
    const library = await ann.createLibrary('Papers')
    const desktop = await SyncClient.link(ann, library)
    const laptop = await SyncClient.link(ann, library)
    await desktop.push({ 'a.txt': 'one', 'gone.txt': 'to be deleted' })
    assert.equal((await carrel(['backup', target, '--data', server.data])).code, 0)
    // Both continue, and the server is lost with what they pushed.
    await desktop.push({ 'a.txt': 'two', 'new.txt': 'pushed after the backup' })
    const lost = await laptop.push({
      'a.txt': 'two',
      'new.txt': 'pushed after the backup',
      'b.txt': 'laptop',
    })
    return { library, lost, tokens: [desktop.token, laptop.token] as const }
  })()
  const restored = await carrel(['restore', target, '--data', data])
  assert.equal(restored.code, 0, restored.stderr)
  await using server = await startServer({ data })
  const [desktop, laptop] = first.tokens.map(
    (token) => new SyncClient(server.url, first.library, token, 'ann@example.org'),
  ) as [SyncClient, SyncClient]
  // The head that both know does not exist any more.
  assert.equal((await laptop.call('GET', `commit/${first.lost}`)).status, 404)
  // A download would make them delete what the server lost.
  const listing = `fs-id-list/?server-head=${await laptop.head()}&client-head=${first.lost}`
  assert.equal((await laptop.call('GET', listing)).status, 445)
  // Real clients send only what differs from their last push. Without the rest nothing can be merged.
  const whole = makeTree({ 'new.txt': 'pushed after the backup' }, 'ann@example.org')
  const rootOnly = new Map([...whole.objects].filter(([id]) => id === whole.root))
  const before = await laptop.head()
  const partial = await laptop.send({ ...whole, objects: rootOnly }, first.lost)
  assert.equal((await laptop.putHead(partial)).status, 445)
  assert.equal(await laptop.head(), before)
  const tree = { 'a.txt': 'two', 'new.txt': 'pushed after the backup', 'b.txt': 'laptop', 'c.txt': 'since' }
  await laptop.push(tree, first.lost)
  // A repeated push changes nothing.
  const head = await laptop.head()
  await desktop.push(
    { 'a.txt': 'three', 'new.txt': 'pushed after the backup', 'd.txt': 'desktop' },
    first.lost,
  )
  assert.notEqual(await desktop.head(), head)
  const files = await desktop.clone()
  const texts = Object.fromEntries([...files].map(([name, bytes]) => [name, String(bytes)]))
  assert.equal(texts['/b.txt'], 'laptop')
  assert.equal(texts['/c.txt'], 'since')
  assert.equal(texts['/d.txt'], 'desktop')
  assert.equal(texts['/new.txt'], 'pushed after the backup')
  assert.equal(texts['/gone.txt'], undefined, 'a deletion that both clients know of is repeated')
  const versions = Object.entries(texts).filter(([name]) => name.startsWith('/a'))
  assert.deepEqual(versions.map(([, text]) => text).sort(), ['three', 'two'], 'both versions are kept')
  // From now on everything is as usual.
  await desktop.push({ 'e.txt': 'later' })
  assert.deepEqual([...(await laptop.clone()).keys()], ['/e.txt'])
})

it('a push whose parent is unknown is still refused where nothing was restored', async () => {
  await using server = await startServer()
  const ann = await server.signUp()
  const desktop = await SyncClient.link(ann, await ann.createLibrary('Papers'))
  const id = await desktop.send({ 'a.txt': 'one' }, 'ab'.repeat(20))
  assert.equal((await desktop.putHead(id)).status, 400)
  const listing = `fs-id-list/?server-head=${await desktop.head()}&client-head=${'ab'.repeat(20)}`
  assert.equal((await desktop.call('GET', listing)).status, 200)
})
