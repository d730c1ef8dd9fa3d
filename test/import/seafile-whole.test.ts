import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import {
  type CommitId,
  type DirId,
  EMPTY_ID,
  type FileId,
  type LibraryId,
} from '../../src/base/objects/ids.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import { readSmallBlocks } from '../../src/libraries/content/block-rows-store.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { libraryRows } from '../../src/libraries/registry/library-store.ts'
import { readWhole } from '../../src/platform/storage/block-store.ts'
import { checkServer, openBlocksOf } from '../support/check.ts'
import { Client } from '../support/client.ts'
import { download } from '../support/encrypted.ts'
import { randomBytesFrom } from '../support/import-bytes.ts'
import { encryptedBlock } from '../support/seafile-encryption.ts'
import { SeafileServer, type SourceLibrary, type SourceTree } from '../support/seafile-layout.ts'
import { startServer } from '../support/server.ts'
import { fingerprint, flat, importSeafile, startImport, temporaryFolder } from './support.ts'

const LIBRARIES = 30
const COMMITS = 3000

it(`takes over an installation with ${LIBRARIES} libraries and ${COMMITS} commits, killed three times, every revision byte by byte`, async () => {
  await using folder = await temporaryFolder()
  const source = new SeafileServer(folder.path)
  source.addUser('ann@example.org', { isStaff: true })
  const libraries: SourceLibrary[] = []
  for (let index = 0; index < LIBRARIES; index++) {
    const encVersion = index < 4 ? ((index + 1) as 1 | 2 | 3 | 4) : undefined
    const version = index === 4 || index === 5 ? 0 : 1
    const library = await source.addLibrary({
      name: `Library ${index}`,
      owner: 'ann@example.org',
      version,
      ...(encVersion !== undefined && { encVersion, password: 'library password' }),
    })
    await grow(library, COMMITS / LIBRARIES - 1, index)
    libraries.push(library)
  }
  for (const origin of libraries.slice(6, 10)) {
    const tree = origin.revisions.at(-1)?.tree['shared'] as SourceTree
    const view = await source.addVirtual(origin, '/shared', await origin.writeTree(tree))
    source.add('InnerPubRepo', { id: 1, repo_id: view.id, permission: 'r' })
  }
  const dump = await source.writeDump()
  const before = await fingerprint(folder.path)
  await using server = await startServer()
  const { db, core } = server.running.services
  const countImported = async () => {
    const row = await db.get<{ count: number }>(
      'select count(*) as count from library where head_seq > 0 and deleted_at is null',
    )
    return Number(row?.count)
  }
  for (const count of [1, 9, 20]) {
    const running = startImport(server, folder.path, '--sql', dump)
    const ended = once(running, 'exit')
    while ((await countImported()) < count && running.exitCode === null) await setTimeout(10)
    running.kill('SIGKILL')
    assert.deepEqual(await ended, [null, 'SIGKILL'], 'it was killed while it ran')
  }
  const present = await countImported()
  const done = await importSeafile(server, folder.path, '--sql', dump)
  assert.equal(done.code, 0, done.stderr + done.stdout)
  const report = JSON.parse(done.stdout)
  assert.deepEqual(Object.keys(report.problemCounts), ['account-kept'])
  assert.deepEqual(
    Map.groupBy(report.libraries as { state: string }[], ({ state }) => state)
      .entries()
      .map(([state, list]) => [state, list.length])
      .toArray(),
    [
      ['present', present],
      ['imported', LIBRARIES - present],
    ],
  )
  assert.equal(await countImported(), LIBRARIES)
  const views = await db.get<{ count: number }>('select count(*) as count from sub_library')
  assert.equal(Number(views?.count), 4)
  assert.deepEqual(await fingerprint(folder.path), before, 'the source is as it was')

  await using blocks = await openBlocksOf(server)
  let compared = 0
  for (const library of libraries) {
    const info = await libraryRows.find(db, library.id as LibraryId)
    assert.ok(info)
    /** The hash of the stored bytes of each file object, once. */
    const known = new Map<string, string>()
    const hashes = new Map<Buffer, string>()
    const hashOf = async (id: string): Promise<string> => {
      const read = known.get(id)
      if (read !== undefined) return read
      const { blockIds } = await storesOf(core).objects.getFile(info.key, id as FileId)
      const small = await readSmallBlocks(db, blockIds)
      const parts: Uint8Array[] = []
      for (const block of blockIds) parts.push(small.get(block) ?? (await readWhole(blocks, block)))
      const digest = hash('sha1', Buffer.concat(parts))
      known.set(id, digest)
      return digest
    }
    const walk = async (id: DirId, at: string, found: Map<string, string>): Promise<void> => {
      const { dir } = await storesOf(core).objects.getDir(info.key, id)
      for (const entry of dir.entries) {
        const name = `${at}/${entry.name}`
        if (entry.kind === 'file')
          found.set(name, entry.id === EMPTY_ID ? hash('sha1', '') : await hashOf(entry.id))
        else {
          found.set(name, 'folder')
          await walk(entry.id, name, found)
        }
      }
    }
    for (const { id, tree } of library.revisions) {
      const commit = await commitRows.find(db, info, id as CommitId)
      assert.ok(commit, `${library.name} has its commit ${id}`)
      const found = new Map<string, string>()
      await walk(commit.rootId, '', found)
      const wanted = [...flat(tree)].map(
        ([name, bytes]) => [name, bytes === null ? 'folder' : storedHash(library, bytes, hashes)] as const,
      )
      assert.deepEqual(Object.fromEntries(found), Object.fromEntries(wanted))
      compared += 1
    }
  }
  assert.equal(compared, COMMITS)
  const ann = await Client.signIn(server.url, 'ann@example.org', 'secret')
  for (const library of libraries.filter(({ encrypted }) => encrypted !== undefined)) {
    const form = { password: 'library password' }
    const unlocked = await ann.post(`/api/v2.1/repos/${library.id}/set-password/`, { form })
    assert.equal(unlocked.status, 200, unlocked.text)
    for (const [name, bytes] of flat(library.revisions.at(-1)?.tree ?? {})) {
      if (bytes !== null) assert.deepEqual(await download(ann, library.id, name), bytes, name)
    }
  }
  const checked = await checkServer(server)
  assert.deepEqual(checked.findings, [])
})

/** The hash of the bytes that a file has in blocks. Large files are the same object in all revisions. */
function storedHash(library: SourceLibrary, plain: Buffer, known: Map<Buffer, string>): string {
  const { encrypted } = library
  const before = known.get(plain)
  if (before !== undefined) return before
  const parts: Buffer[] = []
  for (let start = 0; start < plain.length; start += library.blockBytes) {
    const part = plain.subarray(start, start + library.blockBytes)
    parts.push(encrypted === undefined ? part : encryptedBlock(encrypted, part))
  }
  const digest = hash('sha1', Buffer.concat(parts))
  if (plain.length > 50_000) known.set(plain, digest)
  return digest
}

/** Adds, changes, moves and deletes files, one commit each. */
async function grow(library: SourceLibrary, commits: number, seed: number): Promise<void> {
  let tree: SourceTree = { shared: { 'first.txt': `first of ${seed}` }, folder: {} }
  for (let step = 0; step < commits; step++) {
    const next: SourceTree = structuredCloneOf(tree)
    const folder = (step % 3 === 0 ? next['folder'] : step % 3 === 1 ? next['shared'] : next) as SourceTree
    const name = `file-${step % 17}.txt`
    if (step % 7 === 6) delete folder[name]
    else if (step % 11 === 10)
      folder[`large-${step}.bin`] = randomBytesFrom(`${seed} ${step}`, 70_000 + step * 997)
    else folder[name] = `${seed} ${step} `.repeat(1 + (step % 50))
    if (step % 13 === 12) folder[`empty-${step}`] = step % 2 === 0 ? '' : {}
    tree = next
    await library.commit(tree, `Step ${step}`)
  }
}

function structuredCloneOf(tree: SourceTree): SourceTree {
  const copy: SourceTree = {}
  for (const [name, value] of Object.entries(tree)) {
    copy[name] = typeof value === 'string' || Buffer.isBuffer(value) ? value : structuredCloneOf(value)
  }
  return copy
}
