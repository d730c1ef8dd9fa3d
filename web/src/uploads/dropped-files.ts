import { LARGEST_COPIED } from './upload-persistence.ts'
import type { PickedFile } from './uploads.ts'

/** Dropped files, and empty folders, which no file path would mention. */
export interface DroppedFiles {
  readonly files: readonly PickedFile[]
  readonly emptyFolders: readonly string[]
  /** Number of entries that could not be read. */
  readonly unreadable: number
}

/** Stands for an entry that could not be read. */
const UNREADABLE = Symbol('unreadable')

interface HandleItem {
  /** Only in secure contexts. */
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/** Reads all dropped entries. Must be called in the event handler, because the browser clears the data afterwards. */
export function readDroppedFiles(transfer: DataTransfer): Promise<DroppedFiles> {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item: DataTransferItem & HandleItem) => ({
      file: item.getAsFile(),
      entry: item.webkitGetAsEntry(),
      handle: item.getAsFileSystemHandle?.().catch(() => null),
    }))
  return read(dropped)
}

async function read(
  dropped: readonly {
    file: File | null
    entry: FileSystemEntry | null
    handle: Promise<FileSystemHandle | null> | undefined
  }[],
): Promise<DroppedFiles> {
  const files: PickedFile[] = []
  const emptyFolders: string[] = []
  let unreadable = 0
  for (const { file, entry, handle } of dropped) {
    const root = (await handle) ?? undefined
    if (entry === null) {
      if (file !== null) files.push({ file, relativePath: file.name })
      continue
    }
    for await (const found of below(entry)) {
      if (found === UNREADABLE) unreadable += 1
      else if (typeof found === 'string') emptyFolders.push(found)
      else files.push({ ...found, ...(await handleOf(found, root)) })
    }
  }
  return { files, emptyFolders, unreadable }
}

/** All files below an entry, and the paths of empty folders. */
async function* below(entry: FileSystemEntry): AsyncGenerator<PickedFile | string | typeof UNREADABLE> {
  const relativePath = entry.fullPath.replace(/^\/+/, '')
  if (isFile(entry)) {
    const file = await fileOf(entry).catch(() => undefined)
    yield file === undefined ? UNREADABLE : { file, relativePath }
    return
  }
  let isEmpty = true
  try {
    for await (const child of childrenOf(entry as FileSystemDirectoryEntry)) {
      isEmpty = false
      yield* below(child)
    }
  } catch {
    yield UNREADABLE
    return
  }
  if (isEmpty) yield relativePath
}

async function* childrenOf(folder: FileSystemDirectoryEntry): AsyncGenerator<FileSystemEntry> {
  const reader = folder.createReader()
  for (;;) {
    // The browser returns at most 100 entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    yield* some
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** Handle to reopen a file after a reload, for files too large to be copied. */
async function handleOf(
  { file, relativePath }: PickedFile,
  root: FileSystemHandle | undefined,
): Promise<{ handle?: FileSystemFileHandle }> {
  if (root === undefined || file.size <= LARGEST_COPIED) return {}
  try {
    let handle = root
    for (const [index, name] of relativePath.split('/').slice(1).entries()) {
      const isLast = index === relativePath.split('/').length - 2
      const folder = handle as FileSystemDirectoryHandle
      handle = isLast ? await folder.getFileHandle(name) : await folder.getDirectoryHandle(name)
    }
    return handle.kind === 'file' ? { handle: handle as FileSystemFileHandle } : {}
  } catch {
    // The user will have to select it again.
    return {}
  }
}
