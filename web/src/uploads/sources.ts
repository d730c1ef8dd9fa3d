import { type Failure } from './failures.ts'
import type { Upload } from './queue.ts'

/** Where the bytes of an upload come from. */
export interface Source {
  readonly file?: File
  readonly handle?: FileSystemFileHandle
}

interface Permitted {
  queryPermission?(options: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(options: { mode: 'read' }): Promise<PermissionState>
}

/** The file behind a handle, if it is the one it was; with `ask` the browser may ask for leave to read it. */
export async function reopened(
  handle: FileSystemFileHandle & Permitted,
  upload: Upload,
  { ask }: { ask: boolean },
): Promise<File | undefined> {
  try {
    const state = ask
      ? await handle.requestPermission?.({ mode: 'read' })
      : await handle.queryPermission?.({ mode: 'read' })
    if (state !== 'granted') return undefined
    const file = await handle.getFile()
    return isSame(file, upload) ? file : undefined
  } catch {
    return undefined
  }
}

/** Whether a file chosen again is the one that was begun; its name may differ from the one it is stored under. */
export function isSame(file: File, upload: Pick<Upload, 'size' | 'modified'>): boolean {
  return file.size === upload.size && file.lastModified === upload.modified
}

/** What keeps a file from being read: it may have been changed, moved or deleted since it was chosen. */
export async function readingFailure(file: File): Promise<Failure | undefined> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return undefined
  } catch (error) {
    return { kind: 'unreadable', message: error instanceof Error ? error.message : '' }
  }
}
