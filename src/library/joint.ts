import type { LibraryPath } from '../objects/paths.ts'
import type { LibraryCore } from './core.ts'
import type { Placed } from './entries.ts'
import { EditableLibrary, type Library } from './library.ts'
import { asSeen, inOrigin, originOf } from './scope.ts'
import type { Selection } from './selection.ts'

/** Something on its way between two views of one library, in the terms of the whole. */
export interface Joint {
  readonly library: EditableLibrary
  readonly selection: Selection
  readonly folder: LibraryPath
  /** What was placed, as the target shows it. */
  seen<T extends Placed>(placed: readonly T[]): T[]
}

/**
 * A library and a sub-library of it, or two sub-libraries of one, have one tree: between them things move as they do
 * within one. What the holder may do was checked on either side; nothing else is touched.
 */
export function jointly(
  core: LibraryCore,
  source: Library,
  selection: Selection,
  target: EditableLibrary,
  folder: LibraryPath,
): Joint {
  return {
    library: new EditableLibrary(core, originOf(target.info), target.actor, target.right),
    selection: { ...selection, parent: inOrigin(source.info, selection.parent) },
    folder: inOrigin(target.info, folder),
    seen: (placed) => placed.map((one) => ({ ...one, path: asSeen(target.info, one.path) ?? one.path })),
  }
}
