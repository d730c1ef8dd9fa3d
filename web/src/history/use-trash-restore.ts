import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { restoreFromTrash, type TrashItem } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'

/** Restores entries from the trash and reports the result. */
export function useTrashRestore(onDone: () => void) {
  const texts = useTexts('history')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const [, go] = useLocation()
  const [busy, setBusy] = useState(false)
  async function restore(libraryId: string, items: readonly TrashItem[]): Promise<void> {
    setBusy(true)
    try {
      const outcome = await restoreFromTrash(libraryId, items)
      const [first] = outcome.success
      if (first !== undefined) {
        const run = () => go(folderUrl(libraryId, parentOf(first.path)))
        toast({ text: texts.restoredItems(outcome.success.length), action: { label: texts.showThem, run } })
      }
      for (const { path, error_msg } of outcome.failed) {
        toast({ text: texts.notRestored(path, error_msg), bad: true })
      }
      onDone()
      for (const key of ['trash', 'dir', 'history']) {
        void queries.invalidateQueries({ queryKey: [key, libraryId] })
      }
      void queries.invalidateQueries({ queryKey: ['trash', 'all'] })
    } catch (error) {
      failed(error)
    } finally {
      setBusy(false)
    }
  }
  return { busy, restore }
}
