import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onBothDatabases } from '../../../test/support/databases.ts'
import { seededRandom, testSeed } from '../../../test/support/random.ts'
import { openSearch, readable, type SearchStage } from '../../../test/support/search.ts'
import type { FileId } from '../../base/objects/ids.ts'
import { baseName, joinPath, type LibraryPath, parentOf, ROOT } from '../../base/paths/paths.ts'
import { commitRows } from '../../libraries/commits/commit-store.ts'
import { makeFolder, removeOne, rename } from '../../libraries/edits/entries.ts'
import { copy, move } from '../../libraries/edits/move-copy.ts'
import { revertLibrary } from '../../libraries/edits/revert.ts'
import { storesOf } from '../../libraries/library/for-server.ts'
import type { EditableLibrary } from '../../libraries/library/library.ts'
import type { Tree } from '../../libraries/tree/tree.ts'
import { listEntriesIn } from './entry-store.ts'
import { rootKeyOf } from './keys.ts'

const CLIENTS = 3
const STEPS = 40
const NAMES = ['plan.txt', 'plan b.txt', 'Notes', 'notes.md', 'draft', 'Übersicht.txt', '报告.txt', 'old.bin']
const WORDS = ['plan', 'lake', 'budget', 'zürich', 'notes', '报告书']
const QUESTIONS = [
  'plan',
  'n',
  'no',
  'notes',
  'ubersicht',
  'lake',
  'lake budget',
  'plan lake',
  'bud',
  '报',
  '报告',
  '告书',
  '.txt',
  'plan -lake',
  'b.t',
]
const noLimit = async () => undefined

onBothDatabases('search results', (fresh) => {
  it('equal a scan of all files after concurrent random changes', async (t) => {
    const seed = testSeed()
    t.diagnostic(`seed ${seed}`)
    let now = 1_700_000_000
    // Every few reads in another second, so that the times of entries differ.
    await using opened = await openSearch(t, fresh, { now: () => Math.floor((now += 0.1)) })
    if (opened === undefined) return
    const { stage, search, settle, errors } = opened
    const actor = await stage.actor()
    const libraries = [await stage.newLibrary(actor), await stage.newLibrary(actor)]
    search.start()
    const random = seededRandom(seed)
    for (let round = 0; round < 2; round++) {
      await Promise.all(Array.from({ length: CLIENTS }, () => play(opened, libraries, random)))
      await settle(...libraries)
      for (const text of QUESTIONS) await compare(opened, libraries, text, `${text}, seed ${seed}`)
      for (const library of libraries) {
        const { tree, info } = await stage.reopen(library)
        const times = new Map((await entriesBelow(tree)).map(({ path, mtime }) => [path, mtime]))
        assert.deepEqual(await indexedTimes(opened, info.key), times, `seed ${seed}`)
      }
    }
    assert.deepEqual(errors, [], `seed ${seed}`)
  })
})

/** The mtime of each indexed entry by its path. */
async function indexedTimes({ db }: SearchStage, libraryKey: number): Promise<Map<LibraryPath, number>> {
  const times = new Map<LibraryPath, number>()
  const open: [path: LibraryPath, key: number][] = [[ROOT, rootKeyOf(libraryKey)]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [folder, folderKey] = next
    for (const { key, name, isDir, mtime } of await listEntriesIn(db, folderKey)) {
      const path = joinPath(folder, name)
      times.set(path, mtime)
      if (isDir) open.push([path, key])
    }
  }
  return times
}

/** Random changes, most of them to few paths, so that they collide. Lost races are ignored. */
async function play(
  opened: SearchStage,
  libraries: readonly EditableLibrary[],
  random: () => number,
): Promise<void> {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  for (let step = 0; step < STEPS; step++) {
    try {
      await change(opened, pick(libraries), libraries, pick, random())
    } catch (error) {
      if (!(error instanceof Error && error.name === 'DomainError')) throw error
    }
  }
}

async function change(
  { stage, put, search }: SearchStage,
  library: EditableLibrary,
  libraries: readonly EditableLibrary[],
  pick: <T>(list: readonly T[]) => T,
  roll: number,
): Promise<void> {
  const { core } = stage
  const now = await stage.reopen(library)
  const found = await entriesBelow(now.tree)
  const folders = [ROOT, ...found.filter((one) => one.isDir).map((one) => one.path)]
  const folder = pick(folders)
  const { path } = found.length === 0 ? { path: undefined } : pick(found)
  if (roll < 0.3) await put(now, joinPath(folder, pick(NAMES)), `${pick(WORDS)} ${pick(WORDS)} ${roll}`)
  else if (roll < 0.4) await makeFolder(now, joinPath(folder, pick(NAMES)))
  else if (path === undefined) return
  else if (roll < 0.55) await rename(core, now, path, pick(NAMES))
  else if (roll < 0.75) {
    const selection = { parent: parentOf(path), names: [baseName(path)] }
    const target = roll < 0.7 ? now : await stage.reopen(pick(libraries))
    const into = target.info.key === now.info.key ? folder : ROOT
    if (found.length < 200) await (roll < 0.66 ? move : copy)(core, now, selection, target, into, noLimit)
  } else if (roll < 0.92) await removeOne(core, now, path)
  else if (roll < 0.95) await search.index.catchUp(now.info)
  else {
    const seq = 1 + Math.floor((roll - 0.95) * 20 * now.info.headSeq)
    const [commit] = await commitRows.listDown(stage.db, now.info, seq, seq)
    if (commit !== undefined) {
      await revertLibrary(core, Object.assign(now, { owner: true as const }), commit.id, noLimit)
    }
  }
}

async function compare(
  opened: SearchStage,
  libraries: readonly EditableLibrary[],
  text: string,
  message: string,
): Promise<void> {
  const { stage, search } = opened
  const expected: string[] = []
  for (const library of libraries) {
    const { tree, info } = await stage.reopen(library)
    for (const { path, isDir, id } of await entriesBelow(tree)) {
      const content =
        isDir || !/\.(txt|md)$/.test(path) ? '' : await contentOf(opened, info.key, id as FileId)
      if (matches(text, baseName(path), content)) expected.push(`${info.id}:${path}`)
    }
  }
  const { total, found } = await search.find({
    text,
    within: libraries.map((library) => readable(library)),
    filters: {},
    where: 'everywhere',
    order: 'rank',
    offset: 0,
    limit: 1000,
  })
  assert.deepEqual(found.map((one) => `${one.in.id}:${one.path}`).toSorted(), expected.toSorted(), message)
  assert.equal(total, expected.length, message)
}

/** The expected result by the rules, computed naively. */
function matches(text: string, name: string, content: string): boolean {
  const plain = (one: string) => one.toLowerCase().replaceAll('ü', 'u')
  const [heading, body] = [plain(name), plain(content)]
  const parts = text.split(' ')
  const has = (word: string, isLast: boolean) =>
    heading.includes(word) || words(body).some((one) => holds(one, word, isLast)) || phrase(body, word)
  if (heading.includes(text)) return true
  return parts.every((part, index) =>
    part.startsWith('-') ? !has(part.slice(1), false) : has(part, index === parts.length - 1),
  )
}

const words = (text: string) => text.split(/[^\p{L}\p{N}]+/u)

function holds(one: string, word: string, isLast: boolean): boolean {
  if (/\p{Script=Han}/u.test(word)) return one.includes(word)
  return one === word || (isLast && word.length >= 3 && one.startsWith(word))
}

/** `b.t` is two adjacent words. */
function phrase(text: string, word: string): boolean {
  const wanted = words(word)
  if (wanted.length < 2 || wanted.includes('')) return false
  return ` ${words(text).join(' ')} `.includes(` ${wanted.join(' ')} `)
}

interface FoundEntry {
  readonly path: LibraryPath
  readonly isDir: boolean
  readonly id: string
  readonly mtime: number
}

async function entriesBelow(tree: Tree): Promise<FoundEntry[]> {
  const found: FoundEntry[] = []
  const open: LibraryPath[] = [ROOT]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const { dir } = await tree.getDir(folder)
    for (const entry of dir.entries) {
      const path = joinPath(folder, entry.name)
      found.push({ path, isDir: entry.kind === 'dir', id: entry.id, mtime: entry.mtime })
      if (entry.kind === 'dir') open.push(path)
    }
  }
  return found
}

async function contentOf({ stage }: SearchStage, libraryKey: number, id: FileId): Promise<string> {
  const file = await storesOf(stage.core).objects.getFile(libraryKey, id)
  const pieces: Buffer[] = []
  for await (const piece of storesOf(stage.core).content.read(libraryKey, file)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
