import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import {
  deleteEntries,
  fetchFolder,
  type Restored,
  type RestoredPart,
  restoreAction,
  type TrashPart,
} from '../api/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { rememberUndo } from '../tasks/index.ts'
import { useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'

/** Restores actions from the trash, or parts of them, and reports the result. */
export function useTrashRestore(onDone: () => void) {
  const texts = useTexts('history')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const [, go] = useLocation()
  const [busy, setBusy] = useState(false)

  function refresh(libraryId: string): void {
    for (const key of ['trash', 'dir', 'history']) {
      void queries.invalidateQueries({ queryKey: [key, libraryId] })
    }
    void queries.invalidateQueries({ queryKey: ['trash', 'all'] })
  }

  function report(libraryId: string, { success, failed }: Restored): void {
    const [first] = success
    if (first !== undefined) {
      const run = () => go(folderUrl(libraryId, parentOf(first.restored_path)))
      const renamed = success.find((one) => one.restored_path !== one.path)
      const count = success.length
      toast({
        text: renamed
          ? texts.restoredAs(count, nameOf(renamed.path), nameOf(renamed.restored_path))
          : texts.restoredItems(count),
        action: { label: texts.showThem, run },
        undo: rememberUndo(() => deleteAgain(libraryId, success)),
      })
    }
    const [fault] = failed
    if (fault === undefined) return
    const { path, error_msg: reason } = fault
    const text =
      failed.length === 1
        ? texts.notRestored(path, reason)
        : texts.notRestoredMany(failed.length, path, reason)
    toast({ text, bad: true })
  }

  async function restore(
    part: TrashPart,
    actions: readonly { readonly action: string; readonly part: RestoredPart }[],
  ): Promise<void> {
    setBusy(true)
    const outcomes: Restored[] = []
    try {
      for (const one of actions) outcomes.push(await restoreAction(part, one.action, one.part))
      onDone()
    } catch (error) {
      failed(error)
    } finally {
      report(part.libraryId, {
        success: outcomes.flatMap(({ success }) => success),
        failed: outcomes.flatMap((one) => one.failed),
      })
      refresh(part.libraryId)
      setBusy(false)
    }
  }

  /** Moves restored entries back to the trash, unless one of them has changed since. */
  async function deleteAgain(libraryId: string, restored: Restored['success']): Promise<void> {
    try {
      const byFolder = Map.groupBy(restored, ({ restored_path: path }) => parentOf(path))
      for (const [folder, inFolder] of byFolder) {
        const { dirent_list: now } = await fetchFolder(libraryId, folder)
        const ids = new Map(now.map(({ name, id }) => [name, id]))
        if (inFolder.some((one) => ids.get(nameOf(one.restored_path)) !== one.obj_id)) {
          return toast({ text: texts.restoreNotUndone, bad: true })
        }
      }
      for (const [folder, inFolder] of byFolder) {
        const names = inFolder.map((one) => nameOf(one.restored_path))
        await deleteEntries({ libraryId, folder, names })
      }
      toast({ text: texts.restoreUndone(restored.length) })
    } catch (error) {
      failed(error)
    } finally {
      refresh(libraryId)
    }
  }
  return { busy, restore }
}
