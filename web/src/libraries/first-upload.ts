import { useState } from 'react'
import { useLocation } from 'wouter'
import { folderAddress } from '../addresses.ts'
import { defaultLibrary, fetchLibrary } from '../api/libraries.ts'
import { useFailureToast } from '../ui/toasts.tsx'
import { addUploads, type PickedFile } from '../uploads/uploads.ts'

/** Files first: whoever has no library yet gets one to put them in. */
export function useFirstUpload() {
  const failed = useFailureToast()
  const [, go] = useLocation()
  const [busy, setBusy] = useState(false)
  async function start(files: readonly PickedFile[], emptyFolders: readonly string[] = []): Promise<void> {
    if (files.length === 0 && emptyFolders.length === 0) return
    setBusy(true)
    try {
      const { repo_id: libraryId } = await defaultLibrary()
      const { repo_name: libraryName } = await fetchLibrary(libraryId)
      addUploads({ libraryId, libraryName, path: '/' }, files, emptyFolders)
      go(folderAddress(libraryId))
    } catch (error) {
      failed(error)
      setBusy(false)
    }
  }
  return { busy, start }
}
