import { DomainError, type Fault, fail } from '../../base/errors.ts'
import { joinPath, type LibraryPath, parentOf } from '../../base/paths/index.ts'
import { editableOrigin } from '../library/for-operations.ts'
import type { EditableLibrary, Library, LibraryCore } from '../library/index.ts'
import { asSeen, inOrigin } from '../registry/index.ts'
import type { Placed } from './entries.ts'
import type { Selection } from './selection.ts'

/** A move or copy between two views of one library, with paths of the origin. */
interface OriginOperation {
  readonly library: EditableLibrary
  readonly selection: Selection
  readonly folder: LibraryPath
}

/**
 * Runs an operation between views of one origin: a library and its sub-library, or two sub-libraries. They
 * share one tree, so entries move as within one library. The permission was checked on both sides, and
 * nothing else is touched. Results and faults have paths as the holder's libraries show them.
 */
export async function inCommonOrigin<T extends Placed>(
  core: LibraryCore,
  from: { source: Library; selection: Selection },
  to: { target: EditableLibrary; folder: LibraryPath },
  work: (operation: OriginOperation) => Promise<readonly T[]>,
): Promise<T[]> {
  const { source, selection } = from
  const { target, folder } = to
  const operation = {
    library: editableOrigin(core, target),
    selection: { ...selection, parent: await parentInOrigin(source, selection) },
    folder: inOrigin(target.info, folder),
  }
  try {
    const placed = await work(operation)
    return placed.map((one) => ({ ...one, path: asSeen(target.info, one.path) ?? one.path }))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return fail(seenFault(error.fault, source, target))
  }
}

/** The folder of the origin that has the selected entries. Throws path-not-found. */
async function parentInOrigin({ info, tree }: Library, { parent, names }: Selection): Promise<LibraryPath> {
  if (!info.sub?.isFile) return inOrigin(info, parent)
  // A view of one file has no other entry, although the folder of the file does.
  for (const name of names) await tree.getFile(joinPath(parent, name))
  return parentOf(info.sub.path)
}

/** Converts the paths of a fault to those the holder sees. */
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
