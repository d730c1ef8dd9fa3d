import { useState } from 'react'
import { useLocation } from 'wouter'
import { defaultLibrary, fetchLibrary } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useFailureToast } from '../ui/index.ts'
import { addScan, type UploadScan } from '../uploads/index.ts'

/** Uploads files for a user without a library: creates the default library first. */
export function useFirstUpload() {
  const failed = useFailureToast()
  const [, go] = useLocation()
  const [busy, setBusy] = useState(false)
  async function start(scan: UploadScan): Promise<void> {
    if (scan.tops.length === 0) return
    setBusy(true)
    try {
      const { repo_id: libraryId } = await defaultLibrary()
      const { repo_name: libraryName } = await fetchLibrary(libraryId)
      void addScan({ libraryId, libraryName, path: '/' }, scan)
      go(folderUrl(libraryId))
    } catch (error) {
      failed(error)
      setBusy(false)
    }
  }
  return { busy, start }
}
