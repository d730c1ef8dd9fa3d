import { fail } from '../../base/errors.ts'
import type { FileDirent } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import { PendingBlocks } from '../../libraries/content/index.ts'
import { addTree, type RoomLeft } from '../../libraries/edits/index.ts'
import type { EditableLibrary, Library, LibraryCore } from '../../libraries/library/index.ts'
import { ZipArchive, type ZipEntry } from '../../libraries/unzip/index.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Extraction } from './copy-move-task.ts'

/** Maximum number of entries of one extraction. They are held in memory. */
const MAX_ENTRIES = 50_000
/**
 * Archives that claim to unpack to more than this, and to more than MAX_RATIO times their size, are refused: they are made to exhaust a
 * disk. Deflate reaches a thousandfold, what people pack rarely a hundredfold.
 */
const HARMLESS_BYTES = 2 ** 30
const MAX_RATIO = 200
/** Bytes of one file between checks for cancellation. */
const BYTES_BETWEEN_STEPS = 32 * 2 ** 20
const FILES_BETWEEN_STEPS = 20

/** Observes an extraction. If a method throws, it is aborted and nothing of it is visible. */
interface ExtractionObserver {
  /** The totals to extract. */
  counted(totals: { readonly files: number; readonly bytes: number }): Promise<void>
  /** Number of files unpacked so far. */
  unpacked(files: number): Promise<void>
  /** Bytes that stay stored if the extraction fails. */
  stored(bytes: number): void
  placing(): Promise<void>
  placed(tx: Transaction): Promise<void>
}

/** The chosen entries by their paths below the base. */
interface Plan {
  readonly files: ReadonlyMap<LibraryPath, ZipEntry>
  readonly folders: ReadonlySet<LibraryPath>
}

/**
 * Extracts entries of a zip archive into a folder, with one commit. Symbolic links and entries with unsafe names are left out. Throws
 * archive-unreadable, also for entries with a password, path-not-found, quota-exceeded, too-many-entries, password-needed.
 */
export async function extractArchive(
  core: LibraryCore,
  job: {
    readonly source: Library
    readonly archive: FileDirent
    readonly extraction: Extraction
    readonly target: EditableLibrary
    readonly folder: LibraryPath
    readonly roomLeft: RoomLeft
  },
  observer: ExtractionObserver,
): Promise<void> {
  const { source, archive, extraction, target, folder, roomLeft } = job
  const readingKey = await core.keys.keyFor(source)
  const key = await core.keys.keyFor(target)
  // Leased for the whole extraction, which may outlast the lifetime of the keys.
  using _reading = readingKey?.lease()
  using _writing = key?.lease()
  using zip = await ZipArchive.open(await source.content.open(archive.id, readingKey))
  const plan = await planExtraction(zip, extraction)
  const bytes = [...plan.files.values()].reduce((sum, { size }) => sum + size, 0)
  if (bytes > Math.max(HARMLESS_BYTES, MAX_RATIO * archive.size)) {
    fail({ code: 'archive-unreadable', reason: 'would unpack to far more than its size' })
  }
  await observer.counted({ files: plan.files.size, bytes })
  const fault = core.growth.refusalOf({ entriesBefore: 0, entries: plan.files.size + plan.folders.size })
  if (fault !== undefined) fail(fault)
  const room = await roomLeft(target.info)
  if (room !== undefined && bytes >= room.left) fail({ code: 'quota-exceeded', limit: room.limit })

  const files = []
  // An archive that turns out to be damaged, or is canceled, leaves no large blocks behind.
  await using pending = new PendingBlocks()
  for (const [path, entry] of plan.files) {
    const unpacked = withSteps(zip.read(entry), () => observer.unpacked(files.length))
    const received = await core.incoming.receive(unpacked, { key, pending })
    for (const { length } of received.small.values()) observer.stored(length)
    const content = received.small.size === 0 ? received : await core.incoming.putSmall(received)
    files.push({ path, content, mtime: entry.mtime })
    if (files.length % FILES_BETWEEN_STEPS === 0) await observer.unpacked(files.length)
  }
  await pending.keep()
  await addTree(
    target,
    folder,
    { files, folders: [...plan.folders] },
    {
      container: extraction.container,
      roomLeft,
      placing: () => observer.placing(),
      placed: (tx) => observer.placed(tx),
    },
  )
}

/** Of several entries with one path the last counts, as when a program unpacks them in order. A folder wins over a file. */
async function planExtraction(zip: ZipArchive, { base, names }: Extraction): Promise<Plan> {
  const files = new Map<LibraryPath, ZipEntry>()
  const folders = new Set<LibraryPath>()
  const chosen = names.length === 0 ? undefined : new Set(names)
  for await (const entry of zip.entries()) {
    const { segments, refusal } = entry
    if (segments === undefined || !startsWith(segments, base)) continue
    const [top, ...rest] = segments.slice(base.length)
    if (top === undefined || !(chosen?.has(top) ?? true) || refusal === 'link') continue
    if (refusal === 'password') fail({ code: 'archive-unreadable', reason: 'is protected by a password' })
    if (refusal === 'method') fail({ code: 'archive-unreadable', reason: 'is packed in an unknown way' })
    const path = `/${[top, ...rest].join('/')}` as LibraryPath
    if (entry.isDir) folders.add(path)
    else files.set(path, entry)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      folders.add(path.slice(0, end) as LibraryPath)
    }
    if (files.size + folders.size > MAX_ENTRIES) {
      fail({ code: 'archive-unreadable', reason: `has more than ${MAX_ENTRIES} entries` })
    }
  }
  for (const folder of folders) files.delete(folder)
  if (files.size + folders.size === 0) fail({ code: 'archive-unreadable', reason: 'has no such entries' })
  return { files, folders }
}

function startsWith(segments: readonly string[], base: readonly string[]): boolean {
  return base.every((name, index) => segments[index] === name)
}

async function* withSteps(
  source: AsyncGenerator<Buffer, void>,
  step: () => Promise<void>,
): AsyncGenerator<Buffer, void> {
  let bytes = 0
  for await (const chunk of source) {
    yield chunk
    bytes += chunk.length
    if (bytes < BYTES_BETWEEN_STEPS) continue
    bytes = 0
    await step()
  }
}
