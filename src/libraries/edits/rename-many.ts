import { fail } from '../../base/errors.ts'
import type { Dirent } from '../../base/objects/index.ts'
import { joinPath, type LibraryPath } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { type Committed, commitMessages } from '../commits/index.ts'
import { type EditableLibrary, fileLocks, type LibraryCore } from '../library/index.ts'
import type { WorkingTree } from '../tree/index.ts'
import { followMoves, type Moved } from './bound-paths-store.ts'

/**
 * Renames several entries of a folder in one commit: new names by present names, also if they exchange their names. Resolves to the new names that are taken by others, or wanted
 * twice; then nothing is renamed. Times and modifiers stay, and locks, stars and links follow. Throws path-not-found, locked.
 */
export function renameMany(
  core: LibraryCore,
  library: EditableLibrary,
  parent: LibraryPath,
  newNames: ReadonlyMap<string, string>,
): Promise<Committed<string[]>> {
  return library.commit(async (tree) => {
    const changed = [...newNames].filter(([name, newName]) => name !== newName)
    const moves = changed.map(([name, newName]) => {
      return { from: joinPath(parent, name), path: joinPath(parent, newName) }
    })
    await fileLocks.refuse(
      core,
      library,
      moves.map(({ from }) => from),
    )
    const slicer = new TimeSlicer()
    const before: Dirent[] = []
    for (const { from } of moves) {
      before.push((await tree.find(from)) ?? fail({ code: 'path-not-found', path: from, wanted: 'Item' }))
      if (slicer.isDue) await slicer.rest()
    }
    const taken = await takenNames(tree, parent, newNames, slicer)
    if (taken.length > 0 || changed.length === 0) return { description: '', result: taken }
    const entries: Dirent[] = []
    for (const { from } of moves) {
      entries.push(await tree.take(from, { touch: false }))
      if (slicer.isDue) await slicer.rest()
    }
    for (const [index, [, newName]] of changed.entries()) {
      const entry = entries[index]
      if (entry !== undefined) await tree.put(parent, { ...entry, name: newName }, { touch: false })
      if (slicer.isDue) await slicer.rest()
    }
    return {
      description: commitMessages.renamed(...before),
      result: [],
      also: async (tx) => {
        for (const step of inSteps(parent, moves))
          await followMoves(core.pathBindings, tx, library.info, step)
      },
    }
  })
}

async function takenNames(
  tree: WorkingTree,
  parent: LibraryPath,
  newNames: ReadonlyMap<string, string>,
  slicer: TimeSlicer,
): Promise<string[]> {
  const wanted = new Set<string>()
  const taken = new Set<string>()
  for (const newName of newNames.values()) {
    if (wanted.has(newName)) taken.add(newName)
    wanted.add(newName)
    if (!newNames.has(newName) && (await tree.find(joinPath(parent, newName))) !== undefined)
      taken.add(newName)
    if (slicer.isDue) await slicer.rest()
  }
  return [...taken]
}

/** Rows are bound to one path each. Those that go to the path of another one wait at a path that nothing has, until all have left. */
function inSteps(parent: LibraryPath, moves: readonly Moved[]): (readonly Moved[])[] {
  const sources = new Set(moves.map(({ from }) => from))
  const waiting = moves.filter(({ path }) => sources.has(path))
  const waitingAt = (index: number) => joinPath(joinPath(parent, '..'), String(index))
  return [
    waiting.map(({ from }, index) => ({ from, path: waitingAt(index) })),
    moves.filter(({ path }) => !sources.has(path)),
    waiting.map(({ path }, index) => ({ from: waitingAt(index), path })),
  ].filter((step) => step.length > 0)
}
