import type { PickedFile } from './uploads.ts'

/** Dropped files, and empty folders, which no file path would mention. */
interface DroppedFiles {
  readonly files: readonly PickedFile[]
  readonly emptyFolders: readonly string[]
}

interface HandleItem {
  /** Only in secure contexts. */
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/** Files of one scan step are passed on together, so that the upload starts while the scan goes on. */
const BATCH_FILES = 100
/** After this time a smaller batch is passed on, too. */
const BATCH_MS = 300

/** Files that are being found, in batches. */
export interface UploadScan {
  /** Names of the files and folders at the top. */
  readonly tops: readonly string[]
  /** Can be read once. */
  readonly batches: AsyncIterable<DroppedFiles>
}

interface DroppedItem {
  readonly file: File | null
  readonly entry: FileSystemEntry | null
  readonly handle: Promise<FileSystemHandle | null> | undefined
}

/** Scans all dropped entries. Must be called in the event handler, because the browser clears the data afterwards. */
export function scanDroppedFiles(transfer: DataTransfer): UploadScan {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item: DataTransferItem & HandleItem) => {
      const [file, entry] = [item.getAsFile(), item.webkitGetAsEntry()]
      return { file, entry, handle: item.getAsFileSystemHandle?.().catch(() => null) }
    })
  const tops = dropped.flatMap(({ file, entry }) => entry?.name ?? file?.name ?? [])
  return { tops, batches: scan(dropped) }
}

/** A scan of files that are known already. */
export function scanOf(files: readonly PickedFile[], emptyFolders: readonly string[]): UploadScan {
  const paths = [...files.map(({ relativePath }) => relativePath), ...emptyFolders]
  const tops = new Set(paths.map((path) => path.split('/')[0] ?? ''))
  async function* one() {
    yield { files, emptyFolders }
  }
  return { tops: [...tops], batches: one() }
}

async function* scan(dropped: readonly DroppedItem[]): AsyncGenerator<DroppedFiles> {
  let batch = { files: [] as PickedFile[], emptyFolders: [] as string[] }
  let since = performance.now()
  for (const { file, entry, handle } of dropped) {
    const root = (await handle) ?? undefined
    if (entry === null) {
      if (file !== null)
        batch.files.push({ file, relativePath: file.name, ...(await handleOf(file.name, root)) })
      continue
    }
    for await (const some of below(entry, file)) {
      for (const found of some) {
        if (typeof found === 'string') batch.emptyFolders.push(found)
        else batch.files.push({ ...found, ...(await handleOf(found.relativePath, root)) })
      }
      if (batch.files.length < BATCH_FILES && performance.now() - since < BATCH_MS) continue
      yield batch
      batch = { files: [], emptyFolders: [] }
      since = performance.now()
    }
  }
  yield batch
}

type Found = PickedFile | string

/** All files below an entry, and the paths of empty folders. `file` is the entry itself, if that is a file. */
async function* below(entry: FileSystemEntry, file: File | null = null): AsyncGenerator<readonly Found[]> {
  if (isFile(entry)) {
    yield [file === null ? await pickedFile(entry) : { file, relativePath: pathOf(entry) }]
    return
  }
  let isEmpty = true
  try {
    for await (const some of childrenOf(entry as FileSystemDirectoryEntry)) {
      isEmpty = false
      // Opened together: one after the other, thousands of files take many seconds.
      const files = await Promise.all(some.filter(isFile).map(pickedFile))
      if (files.length > 0) yield files
      for (const child of some) if (!isFile(child)) yield* below(child)
    }
  } catch {
    // The folder as a whole, as something that could not be read.
    yield [{ relativePath: pathOf(entry) }]
    return
  }
  if (isEmpty) yield [pathOf(entry)]
}

async function pickedFile(entry: FileSystemFileEntry): Promise<Found> {
  const file = await fileOf(entry).catch(() => undefined)
  return { ...(file && { file }), relativePath: pathOf(entry) }
}

const pathOf = (entry: FileSystemEntry) => entry.fullPath.replace(/^\/+/, '')

async function* childrenOf(folder: FileSystemDirectoryEntry): AsyncGenerator<readonly FileSystemEntry[]> {
  const reader = folder.createReader()
  for (;;) {
    // The browser returns at most 100 entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    yield some
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** Handle to reopen a file after a reload. */
async function handleOf(
  relativePath: string,
  root: FileSystemHandle | undefined,
): Promise<{ handle?: FileSystemFileHandle }> {
  if (root === undefined) return {}
  try {
    let handle = root
    const below = relativePath.split('/').slice(1)
    for (const [index, name] of below.entries()) {
      const folder = handle as FileSystemDirectoryHandle
      handle = await (index === below.length - 1
        ? folder.getFileHandle(name)
        : folder.getDirectoryHandle(name))
    }
    return handle.kind === 'file' ? { handle: handle as FileSystemFileHandle } : {}
  } catch {
    // The user will have to select it again.
    return {}
  }
}
