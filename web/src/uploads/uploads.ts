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
  /** Missing if it could not be read. */
  readonly file?: File
  readonly relativePath: string
  /** Handle to open the file again after a reload, if the browser supports it. */
  readonly handle?: FileSystemFileHandle
}

let loading: Promise<Engine> | undefined
let isWanted = false
let hasFailed = false
const listeners = new Set<() => void>()

/** Loads the upload engine on first use. */
export function loadEngine(): Promise<Engine> {
  loading ??= import('./browser-engine.ts').then(({ engine }) => engine)
  // The next caller tries again.
  loading.catch(() => {
    loading = undefined
  })
  return loading
}

/** Queues files and empty folders, as `addScan`. The tray shows the progress. */
export function addUploads(
  target: UploadTarget,
  files: readonly PickedFile[],
  emptyFolders: readonly string[] = [],
): Promise<boolean> {
  return addScan(target, scanOf(files, emptyFolders))
}

/** Queues files while they are being found. Resolves once all are recorded; false if they are not, which the page then says. */
export async function addScan(target: UploadTarget, scan: UploadScan): Promise<boolean> {
  if (scan.tops.length === 0) return true
  starting += 1
  addEventListener('beforeunload', askToStay)
  try {
    const engine = await loadEngine()
    showTray()
    return await engine.add(target, scan)
  } catch {
    hasFailed = true
    tell()
    return false
  } finally {
    starting -= 1
  }
}

/** Drops for which the engine is being loaded. */
let starting = 0

function askToStay(event: BeforeUnloadEvent): void {
  if (starting > 0) event.preventDefault()
}

/** Shows the tray. */
export function showTray(): void {
  isWanted = true
  tell()
}

function tell(): void {
  for (const listener of listeners) listener()
}

/** Whether files were not queued since this was asked for the last time. */
export function takeFailure(): boolean {
  const failed = hasFailed
  hasFailed = false
  return failed
}

export const isTrayShown = () => isWanted

export function onTrayShown(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
