import { CarrelError } from '../api/index.ts'
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
import { classifyResponse, type Failure } from './failures.ts'
import { knownFolders } from './known-folders.ts'
import { isValidName, toNfc } from './names.ts'
import type { Upload } from './queue.ts'
import type { Source } from './sources.ts'
import { folderOf } from './transfer.ts'
import type { PickedFile, UploadTarget } from './uploads.ts'

/** Question about files that already exist. */
export interface Question {
  readonly target: UploadTarget
  readonly taken: readonly Place[]
  /** Undefined cancels the upload. */
  readonly answer: (answer: Answer | undefined) => void
}

interface Prepared {
  readonly upload: Upload
  readonly source: Source
}

export interface PlanOptions {
  readonly queued: Iterable<Upload>
  readonly ask: (question: Omit<Question, 'answer'>) => Promise<Answer | undefined>
  readonly whenConnected: () => Promise<void>
  /** For a batch of an upload: what was there before it, and the names of earlier batches. */
  readonly before?: { readonly known: Known; readonly given: GivenNames }
}

/** Plans the location of each file, asking once if some already exist. Empty if that cancelled the upload. */
export async function planUploads(
  target: UploadTarget,
  files: readonly PickedFile[],
  emptyFolders: readonly string[],
  options: PlanOptions,
): Promise<Prepared[]> {
  const isGood = (path: string) => path.split('/').every(isValidName)
  const good = files.filter(({ relativePath }) => isGood(relativePath))
  const bad = files.filter(({ relativePath }) => !isGood(relativePath))
  const refused = failedUploads(target, bad, { kind: 'name', message: '' })
  const folders = emptyFolders.filter(isGood)
  const paths = good.map(({ relativePath }) => toNfc(relativePath))
  const { before } = options
  const known =
    before?.known ?? (await existingEntries(target, [...paths, ...folders.map((one) => `${one}/`)], options))
  if ('kind' in known) return [...refused, ...failedUploads(target, good, known)]
  const places = placesOf(paths, known, before?.given)
  const taken = places.filter(({ isTaken }) => isTaken)
  const answer = taken.length === 0 ? 'keep-both' : await options.ask({ target, taken })
  if (answer === undefined) return []
  const settled = resolveConflicts(places, known, answer)
  const ready = good.flatMap((picked, index) => {
    const place = settled[index]
    return place === undefined ? [] : [fileUpload(target, picked, place)]
  })
  return [...refused, ...folderPlaces(folders, known).map((path) => folderUpload(target, path)), ...ready]
}

/** Existing and queued entries, or the reason why the target cannot be used. */
export async function existingEntries(
  target: UploadTarget,
  paths: readonly string[],
  { whenConnected, queued }: PlanOptions,
): Promise<Known | Failure> {
  for (;;) {
    try {
      const known = await knownFolders(target, paths)
      addQueued(known, target, queued)
      return known
    } catch (error) {
      if (!(error instanceof CarrelError)) throw error
      const verdict = classifyResponse(error.status, error.message)
      if (verdict === 'cut') await whenConnected()
      else if (typeof verdict !== 'string') return verdict
      else return { kind: 'refused', message: error.message }
    }
  }
}

/** Uploads in the queue count as existing files. */
function addQueued(known: Known, target: UploadTarget, queued: Iterable<Upload>): void {
  const start = target.path === '/' ? '/' : `${target.path}/`
  for (const upload of queued) {
    if (upload.libraryId !== target.libraryId || upload.isFolder) continue
    if (upload.state === 'failed' || upload.state === 'done') continue
    const folder = folderOf(upload)
    if (folder !== target.path && !folder.startsWith(start)) continue
    const below = folder === target.path ? '' : folder.slice(start.length)
    const content = known.get(below) ?? new Map<string, 'file' | 'dir'>()
    known.set(below, content.set(upload.name, 'file'))
  }
}

let count = 0

function fileUpload(target: UploadTarget, picked: PickedFile, place: ResolvedPlace): Prepared {
  const { file, handle } = picked
  return {
    upload: { ...uploadOf(target), ...place, size: file.size, modified: file.lastModified },
    source: { file, ...(handle && { handle }) },
  }
}

function folderUpload(target: UploadTarget, path: string): Prepared {
  const cut = path.lastIndexOf('/')
  const place = { folder: path.slice(0, Math.max(0, cut)), name: path.slice(cut + 1) }
  return { upload: { ...uploadOf(target), ...place, isFolder: true }, source: {} }
}

/** Files that cannot be sent, as failed uploads. */
export function failedUploads(
  target: UploadTarget,
  files: readonly PickedFile[],
  failure: Failure,
): Prepared[] {
  return files.map((picked) => failed(target, picked, failure))
}

function failed(target: UploadTarget, picked: PickedFile, failure: Failure): Prepared {
  const cut = picked.relativePath.lastIndexOf('/')
  const folder = picked.relativePath.slice(0, Math.max(0, cut))
  const name = picked.relativePath.slice(cut + 1)
  const { upload, source } = fileUpload(target, picked, { folder, name, replace: false })
  return { upload: { ...upload, state: 'failed', failure }, source }
}

function uploadOf({ libraryId, libraryName, path }: UploadTarget): Upload {
  const addedAt = Date.now()
  count += 1
  return {
    key: `${addedAt.toString(36)}-${count}-${Math.random().toString(36).slice(2, 8)}`,
    isFolder: false,
    libraryId,
    libraryName,
    target: path,
    folder: '',
    name: '',
    size: 0,
    modified: 0,
    replace: false,
    addedAt,
    state: 'waiting',
    sent: 0,
    failure: undefined,
    tries: 0,
    isUnsure: false,
    isBegun: false,
    isAlone: false,
  }
}
