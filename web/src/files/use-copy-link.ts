import { useCallback } from 'react'
import { lastingLink } from '../api/entry-details.ts'
import { useTexts } from '../texts/texts.tsx'
import { useFailureToast, useToast } from '../ui/toasts.tsx'
import type { OpenDialog } from './dialogs.tsx'

/** Copies the lasting link of something; shows it where the browser does not let us copy. */
export function useCopyLink(libraryId: string, setDialog: (dialog: OpenDialog) => void) {
  const texts = useTexts('files')
  const toast = useToast()
  const failed = useFailureToast()
  return useCallback(
    async (path: string, isDir: boolean) => {
      let link: string
      try {
        link = await lastingLink(libraryId, path, isDir)
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
