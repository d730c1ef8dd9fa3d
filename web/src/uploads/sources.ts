import { type Failure } from './failures.ts'
import { isNumbered, toNfc } from './names.ts'
import type { Upload } from './queue.ts'

/** Source of the bytes of an upload. */
export interface Source {
  readonly file?: File
  readonly handle?: FileSystemFileHandle
}

interface Permitted {
  queryPermission?(options: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(options: { mode: 'read' }): Promise<PermissionState>
}

/** Opens the file of a handle, if it is unchanged. With `ask` the browser may prompt for permission. */
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

/** Whether a selected file is the one of an upload, which may have got a number. Files of an archive often share their size and time. */
export function isSame(file: File, { name, size, modified }: Upload): boolean {
  const own = toNfc(file.name)
  return file.size === size && file.lastModified === modified && (own === name || isNumbered(name, own))
}

/** Why a file cannot be read: it may have been changed, moved or deleted since it was selected. */
export async function readingFailure(file: File): Promise<Failure | undefined> {
  try {
    await file.slice(0, 1).arrayBuffer()
    return undefined
  } catch (error) {
    return { kind: 'unreadable', message: error instanceof Error ? error.message : '' }
  }
}
