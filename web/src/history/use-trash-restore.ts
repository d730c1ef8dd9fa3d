import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { deleteEntries, fetchFolder, restoreFromTrash, type TrashItem } from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { rememberUndo } from '../tasks/index.ts'
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
        const ids = new Set(items.map(({ obj_id }) => obj_id))
        const paths = outcome.success.map(({ path }) => path)
        toast({
          text: texts.restoredItems(outcome.success.length),
          action: { label: texts.showThem, run },
          undo: rememberUndo(() => deleteAgain(libraryId, paths, ids)),
        })
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

  /** Moves restored entries back to the trash, unless one of them has changed since. */
  async function deleteAgain(
    libraryId: string,
    paths: readonly string[],
    ids: ReadonlySet<string>,
  ): Promise<void> {
    try {
      const byFolder = Map.groupBy(paths, parentOf)
      for (const [folder, inFolder] of byFolder) {
        const { dirent_list: now } = await fetchFolder(libraryId, folder)
        const same = new Set(now.filter(({ id }) => ids.has(id)).map(({ name }) => name))
        if (!inFolder.every((path) => same.has(nameOf(path)))) {
          return toast({ text: texts.restoreNotUndone, bad: true })
        }
      }
      for (const [folder, inFolder] of byFolder) {
        await deleteEntries({ libraryId, folder, names: inFolder.map(nameOf) })
      }
      toast({ text: texts.restoreUndone(paths.length) })
    } catch (error) {
      failed(error)
    } finally {
      for (const key of ['trash', 'dir', 'history']) {
        void queries.invalidateQueries({ queryKey: [key, libraryId] })
      }
      void queries.invalidateQueries({ queryKey: ['trash', 'all'] })
    }
  }
  return { busy, restore }
}
