import { LARGEST_COPIED } from './upload-persistence.ts'
import type { PickedFile } from './uploads.ts'

/** What was dropped: files, and folders that hold nothing and would be forgotten otherwise. */
export interface DroppedFiles {
  readonly files: readonly PickedFile[]
  readonly emptyFolders: readonly string[]
  /** How many could not be read. */
  readonly unreadable: number
}

/** What the browser may not read, or no longer finds. */
const UNREADABLE = Symbol('unreadable')

interface HandleItem {
  /** Only where the page came over a safe connection. */
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

/** Reads all that was dropped. To be called while the event is handled: the browser forgets it right after. */
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

/** All files below an entry, and the paths of the folders with nothing in them. */
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
    // The browser gives a hundred at a time.
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

/** What opens a file again after a reload, of those too large to be copied. */
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
    // It will have to be chosen again.
    return {}
  }
}
