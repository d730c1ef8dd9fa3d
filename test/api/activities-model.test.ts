import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type DirId, EMPTY_ID, type FileId, type LibraryId } from '../../src/base/objects/ids.ts'
import { joinPath, type LibraryPath, parentOf, ROOT } from '../../src/base/paths/paths.ts'
import { commitRows } from '../../src/libraries/commits/commit-store.ts'
import { createFile, makeFolder, removeOne, rename } from '../../src/libraries/edits/entries.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { Client } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'

const STEPS = 150
let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** Every path of a tree with its entry. A plain walk that does not use shared subtrees. */
async function walk(libraryKey: number, root: DirId): Promise<Map<string, string>> {
  const { objects } = storesOf(server.running.services.core)
  const paths = new Map<string, string>()
  const visit = async (path: LibraryPath, id: DirId) => {
    for (const entry of (await objects.getDir(libraryKey, id)).dir.entries) {
      const at = joinPath(path, entry.name)
      paths.set(at, `${entry.kind} ${entry.kind === 'file' ? entry.id : ''}`)
      if (entry.kind === 'dir') await visit(at, entry.id)
    }
  }
  if (root !== EMPTY_ID) await visit(ROOT, root)
  return paths
}

interface Item {
  op_type: string
  obj_type: string
  path: string
  old_path?: string
  commit_id: string
}

/** Applies an activity of the feed to a set of paths. */
function apply(paths: ReadonlySet<string>, items: readonly Item[]): Set<string> {
  const isAt = (path: string, top: string) => path === top || path.startsWith(`${top}/`)
  const gone = items.flatMap(({ op_type, path, old_path }) =>
    op_type === 'delete' ? path : (old_path ?? []),
  )
  const next = new Set([...paths].filter((path) => !gone.some((top) => isAt(path, top))))
  for (const { op_type, path, old_path } of items) {
    if (op_type === 'create') next.add(path)
    if (old_path === undefined) continue
    for (const before of paths) if (isAt(before, old_path)) next.add(path + before.slice(old_path.length))
  }
  return next
}

describe('the feed, compared with the trees of the commits', () => {
  for (let round = 0; round < 3; round++) {
    it(`reports every change and nothing else, round ${round + 1}`, async (t) => {
      const seed = testSeed()
      t.diagnostic(`seed ${seed}`)
      const random = seededRandom(seed)
      const ann = await server.signUp()
      const id = (await ann.createLibrary()) as LibraryId
      const library = await changeAtRandom(ann, id, random)
      const { db } = server.running.services
      const commits = (await commitRows.listDown(db, library, library.headSeq, 1)).toReversed()
      const reply = await ann.get('/api/v2.1/activities/', { per_page: 1000 })
      const feed: Item[] = reply.body.events
      assert.deepEqual(
        [...new Set(feed.map((item) => item.commit_id))],
        commits.toReversed().map((commit) => commit.id),
        'every commit is there, newest first',
      )
      let before = new Map<string, string>()
      for (const commit of commits) {
        const now = await walk(library.key, commit.rootId)
        const items = feed.filter((item) => item.commit_id === commit.id)
        const entries = items.filter((item) => item.obj_type !== 'repo')
        const paths = apply(new Set(before.keys()), entries)
        assert.deepEqual([...paths].sort(), [...now.keys()].sort(), commit.description)
        const edited = [...now].filter(([path, what]) => before.has(path) && before.get(path) !== what)
        const told = entries.filter((item) => item.op_type === 'edit').map((item) => item.path)
        assert.deepEqual(told.sort(), edited.map(([path]) => path).sort(), commit.description)
        before = now
      }
    })
  }
})

async function changeAtRandom(client: Client, id: LibraryId, random: () => number) {
  const { access, accounts, core } = server.running.services
  const account = await accounts.get(client.email)
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
  for (let step = 0; step < STEPS; step++) {
    const library = (await access.open(account, id)).editable(ROOT)
    const paths = await walk(library.info.key, library.info.root)
    const folders = [ROOT, ...[...paths].flatMap(([path, what]) => (what.startsWith('dir') ? path : []))]
    const files = [...paths].flatMap(([path, what]) => (what.startsWith('file') ? path : []))
    const folder = (pick(folders) ?? ROOT) as LibraryPath
    const fresh = joinPath(folder, `n${step}`)
    const chosen = pick([...paths.keys()]) as LibraryPath | undefined
    const dice = random()
    if (dice < 0.25 || chosen === undefined) await makeFolder(library, fresh)
    else if (dice < 0.45) await createFile(library, fresh)
    else if (dice < 0.7) {
      // New content, for an existing file or as a new file.
      const target = (random() < 0.5 ? pick(files) : undefined) ?? fresh
      const content = String(step).padStart(40, 'a') as FileId
      const name = target.slice(target.lastIndexOf('/') + 1)
      await library.commit(async (tree) => {
        const entry = fileDirent({
          id: content,
          name,
          mtime: tree.now,
          size: step + 1,
          modifier: client.email,
        })
        await tree.put(parentOf(target as LibraryPath), entry)
        return { description: `Modified "${name}"`, result: undefined }
      })
    } else if (dice < 0.85) await rename(core, library, chosen, `r${step}`)
    else await removeOne(core, library, chosen)
  }
  return (await access.open(account, id)).info
}
