import {
  type Answer,
  folderPlaces,
  type GivenNames,
  type Known,
  type Place,
  placesOf,
  type ResolvedPlace,
  resolveConflicts,
} from './conflicts.ts'
import { type Failure, reactionTo } from './failures.ts'
import { knownFolders } from './known-folders.ts'
import { isValidName, toNfc } from './names.ts'
import type { Network } from './network.ts'
import type { Upload } from './queue.ts'
import { folderOf } from './transfer.ts'
import type { PickedFile, UploadTarget } from './uploads.ts'

/** Question about files that already exist. */
export interface Question {
  readonly target: UploadTarget
  readonly taken: readonly Place[]
  /** Undefined cancels the upload. */
  readonly answer: (answer: Answer | undefined) => void
}

export interface PlanOptions {
  readonly network: Network
  readonly queued: Iterable<Upload>
  readonly ask: (question: Omit<Question, 'answer'>) => Promise<Answer | undefined>
  readonly whenConnected: () => Promise<void>
  /** For a batch of an upload: what was there before it, and the names of earlier batches. */
  readonly before?: { readonly known: Known; readonly given: GivenNames }
}

/** Where an upload goes, why it cannot, or undefined if it was skipped or cancelled. */
type Decision = ResolvedPlace | Failure | undefined

/** Plans the location of each upload, asking once if some files already exist. */
export async function planUploads(
  target: UploadTarget,
  uploads: readonly Upload[],
  options: PlanOptions,
): Promise<readonly (readonly [Upload, Decision])[]> {
  const files = uploads.filter(({ isFolder }) => !isFolder)
  const folders = uploads.filter(({ isFolder }) => isFolder)
  const paths = files.map(pathOf)
  const { before } = options
  const known =
    before?.known ??
    (await existingEntries(target, [...paths, ...folders.map((one) => `${pathOf(one)}/`)], options))
  if ('kind' in known) return uploads.map((upload) => [upload, known])
  const places = placesOf(paths, known, before?.given)
  const taken = places.filter(({ isTaken }) => isTaken)
  const answer = taken.length === 0 ? 'keep-both' : await options.ask({ target, taken })
  if (answer === undefined) return uploads.map((upload) => [upload, undefined])
  const resolved = resolveConflicts(places, known, answer)
  const made = folderPlaces(folders.map(pathOf), known).map(splitPath)
  return [
    ...folders.map((upload, index) => [upload, { ...made[index]!, replace: false }] as const),
    ...files.map((upload, index) => [upload, resolved[index]] as const),
  ]
}

const pathOf = ({ folder, name }: Upload) => toNfc(folder === '' ? name : `${folder}/${name}`)

function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const cut = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(0, cut)), name: path.slice(cut + 1) }
}

/** Existing and queued entries, or the reason why the target cannot be used. */
export async function existingEntries(
  target: UploadTarget,
  paths: readonly string[],
  { network, whenConnected, queued }: PlanOptions,
): Promise<Known | Failure> {
  for (;;) {
    try {
      const known = await knownFolders(network, target, paths)
      addQueued(known, target, queued)
      return known
    } catch (error) {
      const reaction = reactionTo(error)
      if (reaction === 'cut' || reaction === 'later') await whenConnected()
      else if (typeof reaction !== 'string') return reaction
      else return { kind: 'refused', message: error instanceof Error ? error.message : '' }
    }
  }
}

/** Uploads in the queue count as existing files. */
function addQueued(known: Known, target: UploadTarget, queued: Iterable<Upload>): void {
  const start = target.path === '/' ? '/' : `${target.path}/`
  for (const upload of queued) {
    if (upload.libraryId !== target.libraryId || upload.isFolder || !upload.isPlanned) continue
    if (upload.state === 'failed' || upload.state === 'done') continue
    const folder = folderOf(upload)
    if (folder !== target.path && !folder.startsWith(start)) continue
    const below = folder === target.path ? '' : folder.slice(start.length)
    const content = known.get(below) ?? new Map<string, 'file' | 'dir'>()
    known.set(below, content.set(upload.name, 'file'))
  }
}

let count = 0

/** A found file, or an empty folder, whose place is not decided. */
export function newUpload(
  { libraryId, libraryName, path }: UploadTarget,
  found: PickedFile | string,
  drop: string,
  addedAt: number,
): Upload {
  const isFolder = typeof found === 'string'
  const relative = isFolder ? found : found.relativePath
  const isGood = relative.split('/').every(isValidName)
  const isRead = isFolder || found.file !== undefined
  const failure: Failure | undefined = isGood
    ? isRead
      ? undefined
      : { kind: 'unreadable', message: '' }
    : { kind: 'name', message: '' }
  count += 1
  return {
    key: `${addedAt.toString(36)}-${count.toString(36).padStart(6, '0')}-${Math.random().toString(36).slice(2, 10)}`,
    drop,
    isFolder,
    libraryId,
    libraryName,
    target: path,
    ...splitPath(relative),
    size: isFolder ? 0 : (found.file?.size ?? 0),
    modified: isFolder ? 0 : (found.file?.lastModified ?? 0),
    replace: false,
    isPlanned: false,
    addedAt,
    state: failure === undefined ? 'waiting' : 'failed',
    sent: 0,
    failure,
    tries: 0,
    isUnsure: false,
    isBegun: false,
    isAlone: false,
  }
}
