import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { type DirId, EMPTY_ID, type FileId } from '../../src/base/objects/ids.ts'
import { isWithin, joinPath, type LibraryPath, ROOT } from '../../src/base/paths/paths.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { type Change, diffTrees, TooManyChanges } from '../../src/libraries/tree/diff.ts'
import { Tree } from '../../src/libraries/tree/tree.ts'
import type { WorkingTree } from '../../src/libraries/tree/working-tree.ts'
import { at, openTestCore, type TestCore } from '../support/core.ts'

const FOLDERS = ['/', '/a', '/a/b', '/c'].map(at)
const NAMES = ['a', 'b', 'c', 'ü.txt', '1']

const edit = fc.record({
  op: fc.constantFrom('put', 'put', 'put', 'dirs', 'take', 'move', 'touch'),
  folder: fc.constantFrom(...FOLDERS),
  to: fc.constantFrom(...FOLDERS),
  name: fc.constantFrom(...NAMES),
  // Few, so that files have equal content and are restored to earlier states.
  content: fc.integer({ min: 0, max: 3 }),
  // Not a change of a file, but of the dir it is in.
  modifier: fc.constantFrom('a@example.org', 'a@example.org', 'b@example.org'),
})
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

const commits = fc.array(
  fc.record({ edits: fc.array(edit, { minLength: 1, maxLength: 5 }), seconds: fc.nat(1) }),
  { minLength: 1, maxLength: 12 },
)

it('the cached changes of an edit equal the diff of its trees', async () => {
  let now = 1_700_000_000
  await using stage = await openTestCore({ now: () => now })
  const actor = await stage.actor()
  const property = fc.asyncProperty(commits, async (all) => {
    const library = await stage.newLibrary(actor)
    const { key } = library.info
    const roots: DirId[] = [library.info.root]
    for (const { edits, seconds } of all) {
      now += seconds
      const { library: after } = await library.commit(async (tree) => {
        for (const one of edits) await apply(tree, one)
        return { description: 'random', result: 0 }
      })
      if (after.root === roots.at(-1)) continue
      await assertSame(stage, key, roots.at(-1) ?? EMPTY_ID, after.root)
      roots.push(after.root)
      const [first = EMPTY_ID] = roots
      const compared = await diffTrees(storesOf(stage.core).objects, key, first, after.root, {
        withFolders: true,
      })
      assert.deepEqual((await storesOf(stage.core).changes.along(key, roots)).map(plain), compared.map(plain))
      await assertFoldersCovered(stage, key, [first, after.root], compared)
    }
  })
  await fc.assert(property, { numRuns: 200, verbose: fc.VerbosityLevel.Verbose })
})

it('evicted changes are computed by comparing the trees', async () => {
  await using stage = await openTestCore()
  const library = await stage.newLibrary(await stage.actor())
  const { key } = library.info
  const roots: DirId[] = [library.info.root]
  for (let round = 0; round < 25; round++) {
    const { library: after } = await library.commit(async (tree) => {
      for (let n = 0; n < 1000; n++) await tree.put(ROOT, file(`${n}`, round % 2))
      return { description: 'many', result: 0 }
    })
    roots.push(after.root)
  }
  for (const [index, root] of roots.entries()) {
    if (index > 0) await assertSame(stage, key, roots[index - 1] ?? EMPTY_ID, root)
  }
  const [first = EMPTY_ID] = roots
  const compared = await diffTrees(storesOf(stage.core).objects, key, first, roots.at(-1) ?? EMPTY_ID)
  assert.equal(compared.length, 1000)
  assert.deepEqual(await storesOf(stage.core).changes.along(key, roots), compared)
})

it('the limit of differences also holds within one folder', async () => {
  await using stage = await openTestCore()
  const library = await stage.newLibrary(await stage.actor())
  const { key, root } = library.info
  const { library: after } = await library.commit(async (tree) => {
    for (let n = 0; n < 2000; n++) await tree.put(ROOT, file(`${n}`, 1))
    return { description: 'many', result: 0 }
  })
  const { objects } = storesOf(stage.core)
  assert.equal((await diffTrees(objects, key, root, after.root, { most: 2000 })).length, 2000)
  await assert.rejects(diffTrees(objects, key, root, after.root, { most: 1999 }), TooManyChanges)
})

it('a change in a deep folder is one change, without the folders above it', async () => {
  let now = 1_700_000_000
  await using stage = await openTestCore({ now: () => now })
  const library = await stage.newLibrary(await stage.actor())
  const deep = at('/d'.repeat(1500))
  const { library: before } = await library.commit(async (tree) => {
    await tree.makeDirs(deep)
    return { description: 'deep', result: 0 }
  })
  now += 10
  const { library: after } = await library.commit(async (tree) => {
    await tree.put(deep, file('new', 0))
    return { description: 'new', result: 0 }
  })
  const { key } = library.info
  const paths = [joinPath(deep, 'new')]
  const compared = await diffTrees(storesOf(stage.core).objects, key, before.root, after.root, {
    withFolders: true,
  })
  assert.deepEqual(
    compared.map(({ path }) => path),
    paths,
  )
  // Cached, so that consumers need not compare 1,500 dirs.
  const cached = await storesOf(stage.core).changes.knownAlong(key, [before.root, after.root])
  assert.deepEqual(
    cached?.map(({ path }) => path),
    paths,
  )
})

it('a folder with another mtime is listed if nothing in it is', async () => {
  let now = 1_700_000_000
  await using stage = await openTestCore({ now: () => now })
  const library = await stage.newLibrary(await stage.actor())
  const { key } = library.info
  const folder = at('/a/b')
  const put = async (content: number, modifier: string) => {
    now += 10
    const { library: after } = await library.commit(async (tree) => {
      await tree.makeDirs(folder)
      await tree.put(folder, file('x', content, modifier))
      return { description: 'put', result: 0 }
    })
    return after.root
  }
  const listed = async (...roots: DirId[]) => {
    const changes = await storesOf(stage.core).changes.along(key, roots)
    const last = roots.at(-1) ?? EMPTY_ID
    const options = { withFolders: true }
    assert.deepEqual(
      changes,
      await diffTrees(storesOf(stage.core).objects, key, roots[0] ?? EMPTY_ID, last, options),
    )
    return changes.map(({ op, path }) => [op, path])
  }
  const first = await put(0, 'a@example.org')
  const other = await put(0, 'b@example.org')
  assert.deepEqual(await listed(first, other), [['modified', '/a/b']])
  const edited = await put(1, 'b@example.org')
  assert.deepEqual(await listed(other, edited), [['modified', '/a/b/x']])
  const restored = await put(0, 'b@example.org')
  assert.deepEqual(await listed(other, edited, restored), [['modified', '/a/b']])
})

/** The change without modifiers, which combined changes may have from an earlier step: another modifier is not a change. */
function plain(change: Change): unknown {
  const { entry, ...rest } = change
  const before = 'before' in rest ? { before: { ...rest.before, modifier: undefined } } : {}
  return { ...rest, ...before, entry: { ...entry, modifier: undefined } }
}

/** Each folder of both trees whose mtime differs is listed or contains a change that is listed. */
async function assertFoldersCovered(
  stage: TestCore,
  key: number,
  [first, last]: readonly [DirId, DirId],
  changes: readonly Change[],
): Promise<void> {
  const listed = changes.flatMap((one) => (one.op === 'renamed' ? [one.path, one.newPath] : [one.path]))
  const [before, after] = [first, last].map((root) => new Tree(storesOf(stage.core).objects, key, root))
  const open = [ROOT]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of (await after?.findDir(folder))?.dir.entries ?? []) {
      const path = joinPath(folder, entry.name)
      const old = await before?.find(path)
      if (entry.kind !== 'dir' || old?.kind !== 'dir') continue
      open.push(path)
      if (old.mtime !== entry.mtime)
        assert.ok(
          listed.some((one) => isWithin(one, path)),
          path,
        )
    }
  }
}

async function assertSame(stage: TestCore, key: number, before: DirId, after: DirId): Promise<void> {
  for (const withFolders of [false, true]) {
    const compared = await diffTrees(storesOf(stage.core).objects, key, before, after, { withFolders })
    assert.deepEqual(
      await storesOf(stage.core).changes.between(key, before, after, { withFolders }),
      compared,
    )
  }
}

async function apply(tree: WorkingTree, one: Edit): Promise<void> {
  const { op, folder, to, name, content, modifier } = one
  if (op === 'dirs') {
    if (!(await hasFileOnTheWay(tree, folder))) await tree.makeDirs(folder)
    return
  }
  if (!(await tree.hasDir(folder))) return
  const path = joinPath(folder, name)
  if (op === 'put') return tree.put(folder, file(name, content, modifier))
  const found = await tree.find(path)
  if (found === undefined) return
  if (op === 'touch') {
    const mtime = 1_600_000_000 + content
    return found.kind === 'dir' ? tree.put(folder, { ...found, mtime }, { touch: false }) : undefined
  }
  const intoItself = to === path || to.startsWith(`${path}/`)
  if (op === 'take' || intoItself || !(await tree.hasDir(to))) return void (await tree.take(path))
  const entry = await tree.take(path)
  await tree.put(to, entry)
}

async function hasFileOnTheWay(tree: WorkingTree, folder: LibraryPath): Promise<boolean> {
  let here = ROOT
  for (const name of folder.split('/').filter(Boolean)) {
    here = joinPath(here, name)
    if ((await tree.find(here))?.kind === 'file') return true
  }
  return false
}

function file(name: string, content: number, modifier = 'a@example.org') {
  const id = Buffer.from(`content ${content}`.padEnd(20)).toString('hex') as FileId
  return fileDirent({ id, name, mtime: 1_700_000_000 + content, size: 1, modifier })
}
