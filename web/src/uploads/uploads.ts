import { scanOf, type UploadScan } from './dropped-files.ts'
import type { Engine } from './engine.ts'

/** Target folder of an upload. */
export interface UploadTarget {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** A file and its path below the target: `holiday/beach.jpg`, or just its name. */
export interface PickedFile {
  readonly file: File
  readonly relativePath: string
  /** Handle to open the file again after a reload, if the browser supports it. */
  readonly handle?: FileSystemFileHandle
}

let loading: Promise<Engine> | undefined
let isWanted = false
const listeners = new Set<() => void>()

/** Loads the upload engine on first use. */
export function loadEngine(): Promise<Engine> {
  loading ??= import('./engine.ts').then(({ engine }) => engine)
  // The next caller tries again.
  loading.catch(() => {
    loading = undefined
  })
  return loading
}

/** Queues files and empty folders. The tray shows the progress. */
export function addUploads(
  target: UploadTarget,
  files: readonly PickedFile[],
  emptyFolders: readonly string[] = [],
): void {
  if (files.length > 0 || emptyFolders.length > 0) addScan(target, scanOf(files, emptyFolders))
}

/** Queues files while they are being found. */
export function addScan(target: UploadTarget, scan: UploadScan): void {
  showTray()
  void loadEngine().then((engine) => engine.add(target, scan))
}

/** Shows the tray. */
export function showTray(): void {
  isWanted = true
  for (const listener of listeners) listener()
}

export const isTrayShown = () => isWanted

export function onTrayShown(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
