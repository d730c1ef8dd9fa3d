import type { Engine } from './engine.ts'

/** Where files go. */
export interface UploadTarget {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** A file, and where below the target it belongs: `holiday/beach.jpg`, or just its name. */
export interface PickedFile {
  readonly file: File
  readonly relativePath: string
  /** What the file can be opened by again after a reload, where the browser gives one. */
  readonly handle?: FileSystemFileHandle
}

let loading: Promise<Engine> | undefined
let isWanted = false
const listeners = new Set<() => void>()

/** What does the work; it is fetched when there is some. */
export function loadEngine(): Promise<Engine> {
  loading ??= import('./engine.ts').then(({ engine }) => engine)
  // Whoever comes next tries again.
  loading.catch(() => {
    loading = undefined
  })
  return loading
}

/** Queues files, and folders with nothing in them; the tray shows how they fare. */
export function addUploads(
  target: UploadTarget,
  files: readonly PickedFile[],
  emptyFolders: readonly string[] = [],
): void {
  if (files.length === 0 && emptyFolders.length === 0) return
  showTray()
  void loadEngine().then((engine) => engine.add(target, files, emptyFolders))
}

/** Has the tray on the page from now on. */
export function showTray(): void {
  isWanted = true
  for (const listener of listeners) listener()
}

export const isTrayShown = () => isWanted

export function onTrayShown(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
