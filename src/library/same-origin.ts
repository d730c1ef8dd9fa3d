import { asSeen, inOrigin, originOf } from '../commits/index.ts'
import { DomainError, type Fault, fail } from '../errors.ts'
import type { LibraryPath } from '../objects/index.ts'
import type { LibraryCore } from './core.ts'
import type { Placed } from './entries.ts'
import { EditableLibrary, type Library } from './library.ts'
import type { Selection } from './selection.ts'

/** Something on its way between two views of one library, in the terms of the whole. */
export interface Joint {
  readonly library: EditableLibrary
  readonly selection: Selection
  readonly folder: LibraryPath
}

/**
 * A library and a sub-library of it, or two sub-libraries of one, have one tree: between them things move as they do
 * within one. What the holder may do was checked on either side; nothing else is touched. What was placed, and what
 * went wrong, is told as the holder's own libraries show it.
 */
export async function inCommonOrigin<T extends Placed>(
  core: LibraryCore,
  from: { source: Library; selection: Selection },
  to: { target: EditableLibrary; folder: LibraryPath },
  work: (joint: Joint) => Promise<readonly T[]>,
): Promise<T[]> {
  const { source, selection } = from
  const { target, folder } = to
  const joint = {
    library: new EditableLibrary(core, originOf(target.info), target.actor, target.right),
    selection: { ...selection, parent: inOrigin(source.info, selection.parent) },
    folder: inOrigin(target.info, folder),
  }
  try {
    const placed = await work(joint)
    return placed.map((one) => ({ ...one, path: asSeen(target.info, one.path) ?? one.path }))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return fail(seenFault(error.fault, source, target))
  }
}

/** The fault with paths the holder knows. */
function seenFault(fault: Fault, source: Library, target: Library): Fault {
  const seen = (path: string) =>
    asSeen(source.info, path as LibraryPath) ?? asSeen(target.info, path as LibraryPath) ?? ''
  if (fault.code === 'into-itself') {
    return { ...fault, source: seen(fault.source), destination: seen(fault.destination) }
  }
  if (fault.code === 'path-not-found') return { ...fault, path: seen(fault.path) }
  if (fault.code === 'source-changed' || fault.code === 'locked') return { ...fault, path: seen(fault.path) }
  return fault
}
