import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { Dir } from '../../src/base/objects/dir.ts'
import { type Dirent, dirDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import { EMPTY_ID, type FileId } from '../../src/base/objects/ids.ts'
import { joinPath, type LibraryPath, parentOf, ROOT } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { EditableLibrary } from '../../src/libraries/library/library.ts'
import { diffTrees } from '../../src/libraries/tree/diff.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'

/** A tree as plain values: the model that the library's tree is compared with. */
type Model = Map<string, { id: string; size: number } | 'dir'>

type Step = { op: 'file' | 'dir' | 'remove'; folder: number; name: string; size: number }

const steps = fc.array(
  fc.record({
    op: fc.constantFrom<Step['op']>('file', 'file', 'dir', 'remove'),
    folder: fc.nat(50),
    name: fc.constantFrom('a', 'b.txt', 'ü', '😀', '\uff01', 'Z', '10', '9'),
    size: fc.integer({ min: 1, max: 10 ** 12 }),
  }),
  { minLength: 1, maxLength: 60 },
)

it('a randomly edited library equals a plain model, including its totals and dir ids', async () => {
  // A cache of one dir, so that reads come from the database.
  await using stage = await openTestCore({ dirCacheBytes: 1 })
  const actor = await stage.actor()
  const property = fc.asyncProperty(steps, fc.integer({ min: 1, max: 8 }), async (all, perCommit) => {
    const library = await stage.newLibrary(actor)
    const model: Model = new Map([['/', 'dir']])
    for (let i = 0; i < all.length; i += perCommit) {
      const before = new Map(model)
      const old = await stage.reopen(library)
      await commit(library, model, all.slice(i, i + perCommit))
      await assertSame(stage, library, model)
      await assertDiff(stage, old, await stage.reopen(library), before, model)
    }
  })
  await fc.assert(property, { numRuns: 150, verbose: fc.VerbosityLevel.Verbose })
})

it('every version of a large folder can be read, however long its chain of deltas', async () => {
  await using stage = await openTestCore({ dirCacheBytes: 1 })
  const library = await stage.newLibrary(await stage.actor())
  const names = Array.from({ length: 300 }, (_, i) => `file ${i}`)
  await library.commit(async (tree) => {
    for (const name of names) await tree.put(ROOT, file(name, 1, 'first'))
    return { description: 'many', result: 0 }
  })
  const roots: { root: string; name: string; id: string }[] = []
  for (let i = 0; i < 600; i++) {
    const name = `file ${(i * 7) % 300}`
    const entry = file(name, i + 2, `version ${i}`)
    const { library: after } = await library.commit(async (tree) => {
      await tree.put(ROOT, entry)
      return { description: 'one', result: 0 }
    })
    roots.push({ root: after.root, name, id: entry.id })
  }
  const stored = await stage.db.all<{ encoding: number; n: number; depth: number }>(
    'select encoding, count(*) as n, max(depth) as depth from fs_object group by encoding order by encoding',
  )
  // Three full copies: at the start, and where a chain had reached its maximum length.
  assert.deepEqual(
    stored.map(({ encoding, n, depth }) => ({ encoding, n, depth })),
    [
      { encoding: 1, n: 3, depth: 0 },
      { encoding: 2, n: 598, depth: 256 },
    ],
  )
  for (const { root, name, id } of roots.toReversed()) {
    const { dir } = await storesOf(stage.core).objects.getDir(library.info.key, root as never)
    assert.equal(dir.size, 300)
    assert.equal(dir.find(name)?.id, id)
    assert.equal(Dir.of(dir.entries).id, root)
  }
})

async function commit(library: EditableLibrary, model: Model, some: readonly Step[]): Promise<void> {
  await library.commit(async (tree) => {
    for (const step of some) {
      const folders = [...model].filter(([, value]) => value === 'dir').map(([path]) => path)
      const folder = at(folders[step.folder % folders.length] ?? '/')
      const path = joinPath(folder, step.name)
      if (step.op === 'remove') {
        if (!model.has(path)) continue
        await tree.take(path)
        for (const known of Array.from(model.keys())) {
          if (known === path || known.startsWith(`${path}/`)) model.delete(known)
        }
      } else if (!model.has(path)) {
        const entry =
          step.op === 'dir'
            ? dirDirent({ id: EMPTY_ID, name: step.name, mtime: tree.now })
            : file(step.name, step.size, `${step.size}`)
        await tree.put(folder, entry)
        model.set(path, entry.kind === 'dir' ? 'dir' : { id: entry.id, size: entry.size })
      }
    }
    return { description: 'random', result: 0 }
  })
}

async function assertSame(stage: TestCore, library: EditableLibrary, model: Model): Promise<void> {
  const now = await stage.reopen(library)
  const seen: Model = new Map([['/', 'dir']])
  const walk = async (folder: LibraryPath): Promise<{ size: number; files: number }> => {
    const stored = await now.tree.getDir(folder)
    assert.equal(Dir.of(stored.dir.entries).id, stored.dir.id)
    let size = 0
    let files = 0
    for (const entry of stored.dir.entries) {
      const path = joinPath(folder, entry.name)
      seen.set(path, entry.kind === 'dir' ? 'dir' : { id: entry.id, size: entry.size })
      const below = entry.kind === 'dir' ? await walk(path) : { size: entry.size, files: 1 }
      size += below.size
      files += below.files
    }
    assert.deepEqual([stored.size, stored.fileCount], [size, files])
    return { size, files }
  }
  const { size, files } = await walk(ROOT)
  assert.deepEqual([now.info.size, now.info.fileCount], [size, files])
  assert.deepEqual(seen, model)
}

/** Applying the diff to the old paths yields the new ones. */
async function assertDiff(
  stage: TestCore,
  old: EditableLibrary,
  now: EditableLibrary,
  before: Model,
  after: Model,
): Promise<void> {
  const changes = await diffTrees(storesOf(stage.core).objects, old.info.key, old.info.root, now.info.root)
  for (const change of changes) {
    if (change.op === 'renamed') {
      assert.ok(before.has(change.path))
      assert.ok(after.has(change.newPath))
    } else {
      // A file that became a folder is one deletion and one addition.
      assert.equal(hasKind(before, change.path, change.entry), change.op !== 'added')
      assert.equal(hasKind(after, change.path, change.entry), change.op !== 'deleted')
    }
  }
  const touched = new Set(
    changes.flatMap((change) => (change.op === 'renamed' ? [change.path, change.newPath] : [change.path])),
  )
  const covered = (path: string): boolean => {
    for (let up = at(path); up !== ROOT; up = parentOf(up)) if (touched.has(up)) return true
    return false
  }
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(path)
    const is = after.get(path)
    if (JSON.stringify(was) !== JSON.stringify(is)) assert.ok(covered(path), `${path} changed unseen`)
  }
}

function hasKind(model: Model, path: string, entry: Dirent): boolean {
  return model.has(path) && (model.get(path) === 'dir') === (entry.kind === 'dir')
}

function file(name: string, size: number, content: string): Dirent {
  const id = Buffer.from(content.padEnd(20)).subarray(0, 20).toString('hex') as FileId
  return fileDirent({ id, name, mtime: 1_700_000_000, size, modifier: 'a@example.org' })
}
