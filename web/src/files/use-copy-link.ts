import { useCallback } from 'react'
import { createSmartLink } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import type { OpenDialog } from './dialogs.tsx'

/** Copies the smart link of an entry. Shows the link if the browser denies access to the clipboard. */
export function useCopyLink(libraryId: string, setDialog: (dialog: OpenDialog) => void) {
  const texts = useTexts('files')
  const toast = useToast()
  const failed = useFailureToast()
  return useCallback(
    async (path: string, isDir: boolean) => {
      let link: string
      try {
        link = await createSmartLink(libraryId, path, isDir)
      } catch (error) {
        failed(error)
        return
      }
      try {
        await navigator.clipboard.writeText(link)
        toast({ text: texts.linkCopied })
      } catch {
        // No clipboard without HTTPS, and none without permission.
        setDialog({ kind: 'link', link })
      }
    },
    [libraryId, setDialog, texts, toast, failed],
  )
}
